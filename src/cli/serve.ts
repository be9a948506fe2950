import { type FirstLoad, loadFirst } from "../gateway/configuration.ts";
import { urlOf } from "../gateway/listeners.ts";
import { handleSignals } from "../gateway/shutdown.ts";
import { type Gateway, startGateway } from "../gateway/start.ts";
import { inBackground } from "../kit/index.ts";
import { createLog, type GatewayLog, type LogLevel, prettyLines } from "../telemetry/log.ts";
import { WorkerFailed } from "../workers/pool.ts";
import { startSupervisor } from "../workers/supervisor.ts";
import { isWorker, serveAsWorker } from "../workers/worker.ts";
import { configFile, EXIT } from "./options.ts";

export interface ServeOptions {
  readonly config?: string;
  readonly strict?: boolean;
  readonly logLevel?: LogLevel;
  /** In place of this process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Serves until a signal. @returns the gateway where this process serves alone, else null. */
export async function serve(mode: "dev" | "serve", options: ServeOptions): Promise<Gateway | null> {
  const { config, strict = false, logLevel = "info", env = process.env } = options;
  const log = createLog({ level: logLevel, pretty: mode === "dev" && (await prettyLines()) });
  const settings = { mode, file: configFile(config), strict, env, log };
  if (isWorker()) {
    await serveAsWorker(settings);
    return null;
  }
  const start = await loadFirst(settings);
  if (mode === "serve" && start.loaded.snapshot.server.workers > 1) {
    await serveWithWorkers(start, log);
    return null;
  }
  const gateway = await startGateway({ ...settings, start });
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
