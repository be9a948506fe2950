import type { SignInLinks } from "../accounts/sign-in/links.ts";
import { type FirstLoad, loadFirst } from "../gateway/configuration.ts";
import { urlOf } from "../gateway/listeners.ts";
import { handleSignals } from "../gateway/shutdown.ts";
import { type Gateway, startGateway } from "../gateway/start.ts";
import { deepFreeze, inBackground, type Snapshot } from "../kit/index.ts";
import { createLog, type GatewayLog, type LogLevel, prettyLines } from "../telemetry/log.ts";
import { WorkerFailed } from "../workers/pool.ts";
import { startSupervisor } from "../workers/supervisor.ts";
import { isWorker, serveAsWorker } from "../workers/worker.ts";
import { configFile, EXIT } from "./options.ts";
import { movePorts, refuseClashes, wantedPort } from "./ports.ts";

export interface ServeOptions {
  readonly config?: string;
  readonly strict?: boolean;
  readonly logLevel?: LogLevel;
  /** The first public port, in place of the configured one. */
  readonly port?: string;
}

/** What `dev` adds to a start. */
interface DevParts {
  readonly adjust?: (snapshot: Snapshot) => Snapshot;
  readonly links?: SignInLinks;
}

/** Serves until a signal. @returns the gateway where this process serves alone, else null. */
export async function serve(
  mode: "dev" | "serve",
  { config, strict = false, logLevel = "info", port }: ServeOptions,
  { adjust: more, links }: DevParts = {},
): Promise<Gateway | null> {
  const { env } = process;
  const wanted = wantedPort(port, env);
  const moved = (snapshot: Snapshot): Snapshot =>
    wanted === null ? snapshot : deepFreeze({ ...snapshot, server: movePorts(snapshot.server, wanted, mode) });
  const adjust = (snapshot: Snapshot): Snapshot => moved(more?.(snapshot) ?? snapshot);
  const log = createLog({ level: logLevel, pretty: mode === "dev" && (await prettyLines()) });
  const settings = { mode, file: configFile(config), strict, env, adjust, log };
  if (isWorker()) {
    await serveAsWorker(settings);
    return null;
  }
  const start = await loadFirst(settings);
  if (wanted !== null) refuseClashes(start.loaded.snapshot.server, wanted);
  if (mode === "serve" && start.loaded.snapshot.server.workers > 1) {
    await serveWithWorkers(start, log);
    return null;
  }
  const gateway = await startGateway({ ...settings, start, ...(links && { links }) });
  handleSignals({
    drain: (maxMs) => gateway.drain(maxMs),
    reload: () => inBackground(log, "a reload", gateway.reload()),
    force: () => process.exit(EXIT.failed),
    exit: (code) => process.exit(code),
    log,
  });
  return gateway;
}

async function serveWithWorkers(start: FirstLoad, log: GatewayLog): Promise<void> {
  const supervisor = await startSupervisor({ start, log }).catch((error: unknown) => {
    if (!(error instanceof WorkerFailed) || error.exit.code === null) throw error;
    // The worker has written the reason to stderr.
    process.exitCode = error.exit.code;
    return null;
  });
  if (supervisor === null) return;
  handleSignals({
    drain: (maxMs) => supervisor.drain(maxMs),
    reload: () => inBackground(log, "a reload", supervisor.reload()),
    force: () => {
      supervisor.end().then(
        () => process.exit(EXIT.failed),
        () => process.exit(EXIT.failed),
      );
    },
    exit: (code) => process.exit(code),
    log,
  });
  const listen = supervisor.addresses.map(urlOf);
  const admin = supervisor.admin && urlOf(supervisor.admin);
  const { hash, server } = start.loaded.snapshot;
  log.info({ listen, admin, hash, workers: server.workers }, "listening");
}
