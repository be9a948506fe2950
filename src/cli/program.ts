import { Command, CommanderError } from "commander";
import { ConfigurationError } from "../gateway/loading.ts";
import { addAccountCommands } from "./accounts.ts";
import { addCheckCommand } from "./check.ts";
import { EXIT, ExitError } from "./options.ts";
import { addServeCommands } from "./serve.ts";
import { addSimCommand } from "./sim.ts";
import { accountContext } from "./context.ts";

const program = new Command("gateway")
  .description("A configuration-driven gateway in front of many AI providers.")
  .option("-c, --config <file>", "the configuration file (default: $GATEWAY_CONFIG, else ./gateway.yaml)")
  .showHelpAfterError("(see gateway --help)")
  .exitOverride();

addServeCommands(program);
addCheckCommand(program);
addAccountCommands(program, accountContext(program));
addSimCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

/** Says on stderr what went wrong, once, and which exit code that is. */
function exitCodeOf(error: unknown): number {
  // commander has printed its own message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
  process.stderr.write(`gateway: ${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof ExitError) return error.exitCode;
  return error instanceof ConfigurationError ? EXIT.findings : EXIT.failed;
}
