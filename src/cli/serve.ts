import { type Command, Option } from "commander";
import { type Gateway, originOf, startGateway } from "../gateway/start.ts";
import { watchLifetime } from "../gateway/signals.ts";
import { WorkerFailed } from "../workers/pool.ts";
import { supervise } from "../workers/supervisor.ts";
import { isWorker, serveAsWorker } from "../workers/worker.ts";
import { inBackground } from "../kit/index.ts";
import { type FirstLoad, loadFirst } from "../gateway/loading.ts";
import { createLog, type GatewayLog, type LogLevel } from "../telemetry/log.ts";
import { offerDemo } from "./demo.ts";
import { configFile, EXIT } from "./options.ts";

interface ServeFlags {
  readonly config?: string;
  readonly strict?: boolean;
  readonly logLevel?: LogLevel;
}

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];

/** `gateway dev` and `gateway serve`. */
export function addServeCommands(program: Command): void {
  program
    .command("dev")
    .description("serve with readable logs; on an empty store make a demo user and print its key once")
    .action(async (_flags: object, command: Command) => {
      const gateway = await start("dev", command.optsWithGlobals<ServeFlags>());
      if (gateway !== null) await offerDemo(gateway);
    });
  program
    .command("serve")
    .description("serve for production; nothing is made up")
    .option("--strict", "refuse to start on warnings or a bad file, also when a last good configuration is kept")
    .addOption(new Option("--log-level <level>", "what to log").choices(LEVELS).default("info"))
    .action(async (_flags: object, command: Command) => {
      await start("serve", command.optsWithGlobals<ServeFlags>());
    });
}

async function start(mode: "dev" | "serve", flags: ServeFlags): Promise<Gateway | null> {
  const logLevel = flags.logLevel ?? "info";
  const logPretty = mode === "dev";
  const log = createLog({ level: logLevel, pretty: logPretty });
  const file = configFile(flags.config, process.env);
  const settings = { mode, file, strict: flags.strict ?? false, env: process.env, log };
  if (isWorker()) {
    await serveAsWorker({ ...settings, logLevel, logPretty });
    return null;
  }
  const start = await loadFirst(settings);
  if (mode === "serve" && start.loaded.snapshot.server.workers > 1) {
    await startWorkers(start, log);
    return null;
  }
  const gateway = await startGateway({ ...settings, logLevel, logPretty, start });
  watchLifetime({
    drain: (most) => gateway.drain(most),
    reload: () => inBackground(log, "a reload", gateway.reload()),
    force: () => process.exit(EXIT.failed),
    exit: (code) => process.exit(code),
    log,
  });
  return gateway;
}

async function startWorkers(start: FirstLoad, log: GatewayLog): Promise<void> {
  const supervisor = await supervise({ start, log }).catch((error: unknown) => {
    if (!(error instanceof WorkerFailed) || error.exit.code === null) throw error;
    // The worker has said on stderr why.
    process.exitCode = error.exit.code;
    return null;
  });
  if (supervisor === null) return;
  watchLifetime({
    drain: (most) => supervisor.drain(most),
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
  const listen = supervisor.addresses.map(originOf);
  const admin = supervisor.admin && originOf(supervisor.admin);
  const { hash, server } = start.loaded.snapshot;
  log.info({ listen, admin, hash, workers: server.workers }, "listening");
}
