import { readFileSync } from "node:fs";
import { Command, CommanderError, Option } from "commander";
import { ConfigurationError } from "../config/diagnostics.ts";
import { SCRIPT } from "../simulator/script.ts";
import type { OpenAccounts, OutputOptions } from "./accounts.ts";
import type { VerifyOptions } from "./audit.ts";
import type { CheckOptions } from "./check.ts";
import type { AddKeyOptions, KeysOfUser, RollKeyOptions, SetKeyOptions } from "./keys.ts";
import { addOfflineCommands } from "./offline.ts";
import {
  configFile,
  DEFAULT_FORMAT,
  EXIT,
  ExitError,
  parseAddress,
  parseAmount,
  parseCredits,
  parseKeyBudget,
  parseKeyName,
  parseTag,
  unlessNone,
  parsePluginName,
  parsePort,
  parseRollbackTarget,
  isUnread,
} from "./options.ts";
import type { PluginOptions } from "./plugin.ts";
import type { RollbackOptions } from "./rollback.ts";
import type { SchemaOptions } from "./schema.ts";
import type { ServeOptions } from "./serve.ts";
import type { SimOptions } from "./sim.ts";
import type { AddUserOptions, CreditOptions, DeleteUserOptions, ListUsersOptions, SetUserOptions } from "./users.ts";

const USER = "id or address of the user";

/** Runs what the command line says and sets the exit code. */
export async function runProgram(): Promise<void> {
  // A reader that has seen enough, such as `head`, is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  await runCommand(process.argv.slice(2));
}

/** Runs one command and sets the exit code. @param args without the program's name. */
export async function runCommand(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync([...args], { from: "user" });
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

/** Writes to stderr what went wrong, once. */
function exitCodeOf(error: unknown): number {
  // commander has printed its own message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
  process.stderr.write(`gateway: ${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof ExitError) return error.exitCode;
  return error instanceof ConfigurationError && !isUnread(error) ? EXIT.findings : EXIT.failed;
}

/**
 * The command line. A command's own file is imported when it is called: `check` and `--help` need not load a server.
 * @param open opens the configured store for an account command; the configuration's unless given.
 */
export function createProgram(open?: OpenAccounts): Command {
  const program = new Command("gateway")
    .description("A configuration-driven gateway in front of many AI providers.")
    .version(packageVersion(), "--version", "print the version")
    .option("-c, --config <file>", "the configuration file (default: $GATEWAY_CONFIG, else ./gateway.yaml)")
    .showHelpAfterError("(see gateway --help)")
    .exitOverride();
  const openAccounts: OpenAccounts =
    open ??
    (async () => {
      const { openConfiguredAccounts } = await import("./accounts.ts");
      return openConfiguredAccounts(configFile(program.opts<{ readonly config?: string }>().config));
    });
  addServeCommands(program);
  addCheckCommand(program);
  addRollbackCommand(program);
  addSchemaCommand(program);
  addOfflineCommands(program);
  addUserCommands(program.command("users").description("who may call, and on which plan"), openAccounts);
  addKeyCommands(program.command("keys").description("API keys"), openAccounts);
  addCreditCommands(program.command("credits").description("what users may spend"), openAccounts);
  addTokenCommand(program, openAccounts);
  addSessionCommands(program.command("sessions").description("users who are signed in"), openAccounts);
  addAuditCommands(program.command("audit").description("the log of changes, sign-ins and exports"));
  addPluginCommands(program.command("plugin").description("plugins of one's own"));
  addSimCommand(program);
  return program;
}

/** Of the package, or of the checkout: the package.json that is nearest to both. */
function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}

function addServeCommands(program: Command): void {
  program
    .command("dev")
    .description("serve with readable logs; on an empty store make a demo user and print its key once")
    .action(async (_options: object, command: Command) => {
      const { dev } = await import("./dev.ts");
      await dev(command.optsWithGlobals<ServeOptions>());
    });
  program
    .command("serve")
    .description("serve for production; nothing is made up")
    .option("--strict", "refuse to start on warnings or a bad file, also when a last good configuration is kept")
    .addOption(
      new Option("--log-level <level>", "what to log")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("info"),
    )
    .action(async (_options: object, command: Command) => {
      const { serve } = await import("./serve.ts");
      await serve("serve", command.optsWithGlobals<ServeOptions>());
    });
}

function addCheckCommand(program: Command): void {
  program
    .command("check")
    .description("validate configuration files offline")
    .argument("[files...]", "default: the configuration file")
    .addOption(
      new Option("--format <format>", `how to print ${DEFAULT_FORMAT}`).choices(["text", "json", "github", "sarif"]),
    )
    .option("--strict", "fail on warnings, unset references and empty keys, as a production start would")
    .option("--store", "also count the users, in the store that it names, whose plan it does not define")
    .action(async (files: readonly string[], _options: object, command: Command) => {
      const { check } = await import("./check.ts");
      await check(files, command.optsWithGlobals<CheckOptions>());
    });
}

function addRollbackCommand(program: Command): void {
  withJson(program.command("rollback"))
    .description(
      "let a running gateway return to one of the last ten configurations that served, for all users at once",
    )
    .argument("[to]", "how many configurations back, or the beginning of a hash", parseRollbackTarget, 1)
    .option("--admin <url>", "address of its admin listener (default: the configuration's)")
    .option("--admin-token <token>", "its token (default: $GATEWAY_ADMIN_TOKEN, else the configuration's)")
    .addHelpText("after", "\nGET /admin/config lists them. The file is not changed: it is read again when it is.")
    .action(async (to: string | number, _options: object, command: Command) => {
      const { rollback } = await import("./rollback.ts");
      await rollback(to, command.optsWithGlobals<RollbackOptions>());
    });
}

function addSchemaCommand(program: Command): void {
  program
    .command("schema")
    .description("print the JSON Schema of the configuration, with the options of the plugins it uses, for an editor")
    .argument("[plugin]", "only the options of one plugin, by its name or by the path in the configuration")
    .option("--editor", "also snippets and a text for each word, in keywords that a strict validator may refuse")
    .action(async (plugin: string | undefined, _options: object, command: Command) => {
      const { printSchema } = await import("./schema.ts");
      await printSchema(plugin, command.optsWithGlobals<SchemaOptions>());
    });
}

const DISABLING = [
  ["disable", true, "stop a user's keys, tokens and running streams within a second"],
  ["enable", false, "let a disabled user in again"],
] as const;

function addUserCommands(users: Command, open: OpenAccounts): void {
  withJson(users.command("add"))
    .description("make a user; tier and credits are those of auth.signup unless given")
    .requiredOption("--email <address>", "address of the user", parseAddress)
    .option("--tier <tier>", "plan")
    .option("--credits <amount>", "credits to begin with", parseCredits)
    .action(async (options: AddUserOptions) => (await import("./users.ts")).addUser(open, options));
  withJson(users.command("list"))
    .description("all users")
    .option("--search <text>", "only those of this id, or whose address begins like this")
    .action(async (options: ListUsersOptions) => (await import("./users.ts")).listUsers(open, options));
  for (const [name, disabled, description] of DISABLING) {
    withJson(users.command(name))
      .description(description)
      .argument("<user>", USER)
      .action(async (user: string, options: OutputOptions) =>
        (await import("./users.ts")).disableUser(open, user, disabled, options),
      );
  }
  withJson(users.command("delete"))
    .description("delete a user for good: address, sign-in, keys; the ledger stays under the id")
    .argument("<user>", USER)
    .option("--yes", "without it nothing is deleted")
    .action(async (user: string, options: DeleteUserOptions) =>
      (await import("./users.ts")).deleteUser(open, user, options),
    );
  withJson(users.command("set"))
    .description("change a user's plan")
    .argument("<user>", USER)
    .requiredOption("--tier <tier>", "plan")
    .action(async (user: string, options: SetUserOptions) => (await import("./users.ts")).setUser(open, user, options));
}

function addKeyCommands(keys: Command, open: OpenAccounts): void {
  withJson(keys.command("add"))
    .description("make a key; its secret is shown this once")
    .requiredOption("--user <user>", USER)
    .requiredOption("--name <name>", "label", parseKeyName)
    .option("--expires-in <time>", "when it ends, as 12h or 30d")
    .option("--models <glob...>", "only these models; * stands for any text")
    .option("--budget <amount/period>", "what its requests may cost, as 5/month; also day, total", parseKeyBudget)
    .option("--tag <name=value>", "marks its requests in log and ledger; may be repeated", parseTag)
    .option("--scope <scope...>", "only this: inference, usage")
    .option("--address <cidr...>", "only from these addresses or networks")
    .action(async (options: AddKeyOptions) => (await import("./keys.ts")).addKey(open, options));
  withJson(keys.command("set"))
    .description("change a key; what is not given stays, none takes a limit away")
    .argument("<key-id>", "as `keys list` shows it")
    .option("--name <name>", "label", parseKeyName)
    .option("--expires-in <time>", "when it ends, as 12h or 30d, or none")
    .option("--models <glob...>", "only these models; * stands for any text")
    .option(
      "--budget <amount/period>",
      "what its requests may cost, as 5/month; also day, total",
      unlessNone(parseKeyBudget),
    )
    .option("--tag <name=value>", "in place of all its tags; may be repeated", unlessNone(parseTag))
    .option("--scope <scope...>", "only this: inference, usage")
    .option("--address <cidr...>", "only from these addresses or networks")
    .action(async (id: string, options: SetKeyOptions) => (await import("./keys.ts")).setKey(open, id, options));
  withJson(keys.command("roll"))
    .description("make a key that takes the place of another, with its settings; its secret is shown this once")
    .argument("<key-id>", "as `keys list` shows it")
    .option("--grace <time>", "for how long the old key still serves, as 24h; 0 revokes it at once", "24h")
    .action(async (id: string, options: RollKeyOptions) => (await import("./keys.ts")).rollKey(open, id, options));
  withJson(keys.command("list"))
    .description("live keys of a user")
    .requiredOption("--user <user>", USER)
    .action(async (options: KeysOfUser) => (await import("./keys.ts")).listKeys(open, options));
  withJson(keys.command("revoke"))
    .description("revoke a key; it stops working within a second")
    .argument("<key-id>", "as `keys list` shows it")
    .action(async (id: string, options: OutputOptions) => (await import("./keys.ts")).revokeKey(open, id, options));
}

function addCreditCommands(credits: Command, open: OpenAccounts): void {
  withJson(credits.command("add"))
    .description("add credits; a negative amount takes them")
    .argument("<user>", USER)
    .argument("<amount>", "up to 9 decimal places", parseAmount)
    .option("--reason <text>", "kept with the grant")
    .action(async (user: string, amount: bigint, options: CreditOptions) => {
      const { addCredits } = await import("./users.ts");
      await addCredits(open, user, amount, options);
    });
}

function addTokenCommand(program: Command, open: OpenAccounts): void {
  withJson(program.command("token"))
    .description("issue an access token, as signing in does")
    .argument("<user>", USER)
    .action(async (user: string, options: OutputOptions) =>
      (await import("./token.ts")).issueToken(open, user, options),
    );
}

function addSessionCommands(sessions: Command, open: OpenAccounts): void {
  withJson(sessions.command("end"))
    .description("sign a user out everywhere: tokens issued before are void within a second, API keys stay")
    .argument("<user>", USER)
    .action(async (user: string, options: OutputOptions) =>
      (await import("./sessions.ts")).endSessions(open, user, options),
    );
}

function addAuditCommands(audit: Command): void {
  withJson(audit.command("verify"))
    .description("check that no entry of the audit log is missing or was changed; exits with 1 and names the first one")
    .option("--contains <digest>", "also check that this digest, noted before, is in the log")
    .action(async (_options: object, command: Command) => {
      const { verifyAudit } = await import("./audit.ts");
      await verifyAudit(command.optsWithGlobals<VerifyOptions>());
    });
}

function addPluginCommands(plugin: Command): void {
  plugin
    .command("new")
    .description("write a plugin that works, its schema and its test, into plugins/ beside the configuration file")
    .argument("<name>", "such as shout-back", parsePluginName)
    .action(async (name: string, _options: object, command: Command) => {
      const { newPlugin } = await import("./plugin.ts");
      await newPlugin(name, command.optsWithGlobals<PluginOptions>());
    });
}

function addSimCommand(program: Command): void {
  const keys = Object.entries(SCRIPT).map(([key, { does }]) => `  ${key.padEnd(17)} ${does}`);
  program
    .command("sim")
    .description("serve simulated providers, with faults on demand")
    .option("--port <number>", "port to listen on; 0 picks a free one", parsePort, 0)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .addHelpText(
      "after",
      `\nScript keys, as /sim/<query>/v1, header x-sim, or field "sim" of the body or form:\n${keys.join("\n")}`,
    )
    .action(async (options: SimOptions) => (await import("./sim.ts")).runSimulator(options));
}

function withJson(command: Command): Command {
  return command.option("--json", "print the result as JSON");
}
