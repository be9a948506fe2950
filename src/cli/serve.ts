import { type Command, Option } from "commander";
import { type Gateway, startGateway } from "../app.ts";
import type { LogLevel } from "../telemetry/log.ts";
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
      await offerDemo(gateway);
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

async function start(mode: "dev" | "serve", flags: ServeFlags): Promise<Gateway> {
  const gateway = await startGateway({
    mode,
    file: configFile(flags.config, process.env),
    strict: flags.strict ?? false,
    env: process.env,
    logLevel: flags.logLevel ?? "info",
    logPretty: mode === "dev",
  });
  process.on("SIGHUP", () => void gateway.reload());
  let stopping = false;
  const stop = (): void => {
    // The second signal does not wait for anything.
    if (stopping) process.exit(EXIT.failed);
    stopping = true;
    void gateway.drain().then(
      () => process.exit(EXIT.fine),
      () => process.exit(EXIT.failed),
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  return gateway;
}
