import { readFileSync } from "node:fs";
import { Command, CommanderError, Option } from "commander";
import { ConfigurationError } from "../config/diagnostics.ts";
import { SCRIPT } from "../simulator/script.ts";
import type { OpenAccounts, OutputOptions } from "./accounts.ts";
import type { VerifyOptions } from "./audit.ts";
import type { CheckOptions } from "./check.ts";
import type { ConnectOptions } from "./connect.ts";
import type { AddKeyOptions, KeysOfUser, RollKeyOptions, SetKeyOptions } from "./keys.ts";
import type { InitOptions } from "./init.ts";
import { addOfflineCommands } from "./offline.ts";
import {
  collect,
  configFile,
  DEFAULT_FORMAT,
  EXIT,
  ExitError,
  parseAddress,
  parseAmount,
  parseConnectKey,
  parseConnectModel,
  parseConnectUrl,
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
  addInitCommand(program);
  addServeCommands(program);
  addCheckCommand(program);
  addRollbackCommand(program);
  addSchemaCommand(program);
  addConnectCommand(program);
  addOfflineCommands(program);
  addUserCommands(program.command("users").description("add, list, change and delete users"), openAccounts);
  addKeyCommands(program.command("keys").description("add, list, change, roll and revoke API keys"), openAccounts);
  addCreditCommands(program.command("credits").description("grant or take credits of a user"), openAccounts);
  addTokenCommand(program, openAccounts);
  addSessionCommands(program.command("sessions").description("sign users out"), openAccounts);
  addAuditCommands(program.command("audit").description("verify the audit log"));
  addPluginCommands(program.command("plugin").description("local plugins"));
  addSimCommand(program);
  return program;
}

/** The version in the package.json of the package or the checkout. */
function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}

function addInitCommand(program: Command): void {
  program
    .command("init")
    .description("write a first configuration for one provider: gateway.yaml, .env and gateway.test.yaml")
    .option("--provider <name>", "openai, anthropic, gemini, ollama … or compatible; a wrong name prints all of them")
    .option("--url <url>", "address of the provider (default: its usual one); required for compatible")
    .option("--key <key>", "API key; saved in .env")
    .option("--key-env <name>", "variable that holds the API key (default: the provider's own); no secret is written")
    .option("--model <id>", "model to publish, by the provider's name; repeatable", collect)
    .option("--yes", "ask nothing")
    .addHelpText(
      "after",
      "\nOn a terminal it asks for what is not given. Otherwise, without --model, it takes the newest chat model that the\nprovider lists, or all models of a local server. Existing files are kept. If the provider cannot be reached, the files\nare written and a warning is printed.",
    )
    .action(async (_options: object, command: Command) => {
      const { init } = await import("./init.ts");
      await init(command.optsWithGlobals<InitOptions>());
    });
}

function addServeCommands(program: Command): void {
  program
    .command("dev")
    .description("serve for development: readable logs, and a demo user and key on an empty store")
    .option("--port <number>", "port of the first listener; the others move along (default: $PORT, else as configured)")
    .action(async (_options: object, command: Command) => {
      const { dev } = await import("./dev.ts");
      await dev(command.optsWithGlobals<ServeOptions>());
    });
  program
    .command("serve")
    .description("serve for production; no demo data")
    .option("--port <number>", "port of the first listener (default: $PORT, else as configured)")
    .option("--strict", "do not start on warnings or an invalid file, even if a last good configuration is saved")
    .addOption(
      new Option("--log-level <level>", "lowest level to log")
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
      new Option("--format <format>", `output format ${DEFAULT_FORMAT}`).choices(["text", "json", "github", "sarif"]),
    )
    .option("--strict", "fail on warnings, unset references and empty keys, like a strict start")
    .option("--store", "also count users in the store whose plan the file does not define")
    .action(async (files: readonly string[], _options: object, command: Command) => {
      const { check } = await import("./check.ts");
      await check(files, command.optsWithGlobals<CheckOptions>());
    });
}

function addRollbackCommand(program: Command): void {
  withJson(program.command("rollback"))
    .description("return a running gateway to one of its last ten configurations, for all users at once")
    .argument("[to]", "how many configurations back, or the beginning of a hash", parseRollbackTarget, 1)
    .option("--admin <url>", "address of its admin listener (default: the configuration's)")
    .option("--admin-token <token>", "its token (default: $GATEWAY_ADMIN_TOKEN, else the configuration's)")
    .addHelpText(
      "after",
      "\nGET /admin/config lists the configurations. The file stays as it is, and is read again when it changes.",
    )
    .action(async (to: string | number, _options: object, command: Command) => {
      const { rollback } = await import("./rollback.ts");
      await rollback(to, command.optsWithGlobals<RollbackOptions>());
    });
}

function addSchemaCommand(program: Command): void {
  program
    .command("schema")
    .description("print the JSON Schema of the configuration, with the options of its plugins, for an editor")
    .argument("[plugin]", "only the options of one plugin, by its name or by the path in the configuration")
    .option("--editor", "also snippets and a text for each word, in keywords that a strict validator may refuse")
    .action(async (plugin: string | undefined, _options: object, command: Command) => {
      const { printSchema } = await import("./schema.ts");
      await printSchema(plugin, command.optsWithGlobals<SchemaOptions>());
    });
}

/** Those of connect/clients.ts, which is loaded when the command is called. */
const CLIENT_NAMES =
  "claude, codex, opencode, cline, continue, zed, goose, aider, open-webui, librechat, langchain, ai-sdk, javascript, python";

function addConnectCommand(program: Command): void {
  program
    .command("connect")
    .description(
      "print the settings with which a client reaches the gateway, or write them where the client reads them",
    )
    .argument("<client>", `one of ${CLIENT_NAMES}`)
    .option("--url <url>", "address of the gateway (default: the configuration's)", parseConnectUrl)
    .option("--key <key>", "API key (default: a variable that holds it, or a placeholder)", parseConnectKey)
    .option("--model <id>", "model (default: the first for chats)", parseConnectModel)
    .option("--write", "add them to the client's file; what is there stays, and is named")
    .addHelpText(
      "after",
      "\nExit codes: 0 printed or written, 1 nothing was written, 2 wrong use, 3 a file cannot be used.",
    )
    .action(async (client: string, _options: object, command: Command) => {
      const { connect } = await import("./connect.ts");
      await connect(client, command.optsWithGlobals<ConnectOptions>());
    });
}

const DISABLING = [
  ["disable", true, "disable a user: keys, tokens and running streams stop within a second"],
  ["enable", false, "re-enable a user"],
] as const;

function addUserCommands(users: Command, open: OpenAccounts): void {
  withJson(users.command("add"))
    .description("create a user; default plan and credits are those of auth.signup")
    .requiredOption("--email <address>", "address of the user", parseAddress)
    .option("--tier <tier>", "plan")
    .option("--credits <amount>", "initial credits", parseCredits)
    .action(async (options: AddUserOptions) => (await import("./users.ts")).addUser(open, options));
  withJson(users.command("list"))
    .description("list users")
    .option("--search <text>", "only users with this id, or whose address starts with this text")
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
    .description("delete a user permanently: address, sign-in, keys; the ledger stays under the id")
    .argument("<user>", USER)
    .option("--yes", "confirm; nothing is deleted without it")
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
    .description("create an API key, and show its secret once")
    .requiredOption("--user <user>", USER)
    .requiredOption("--name <name>", "label", parseKeyName)
    .option("--expires-in <time>", "time until it expires, such as 12h or 30d")
    .option("--models <glob...>", "allow only these models; * matches any text")
    .option("--budget <amount/period>", "limit of its cost, such as 5/month, 1/day or 20/total", parseKeyBudget)
    .option("--tag <name=value>", "tag its requests in log and ledger; repeatable", parseTag)
    .option("--scope <scope...>", "allow only these: inference, usage")
    .option("--address <cidr...>", "allow only these addresses or networks")
    .action(async (options: AddKeyOptions) => (await import("./keys.ts")).addKey(open, options));
  withJson(keys.command("set"))
    .description("change an API key; options that are absent change nothing, none removes a limit")
    .argument("<key-id>", "id from `keys list`")
    .option("--name <name>", "label", parseKeyName)
    .option("--expires-in <time>", "time until it expires, such as 12h or 30d, or none")
    .option("--models <glob...>", "allow only these models; * matches any text")
    .option(
      "--budget <amount/period>",
      "limit of its cost, such as 5/month, 1/day or 20/total",
      unlessNone(parseKeyBudget),
    )
    .option("--tag <name=value>", "replace all its tags; repeatable", unlessNone(parseTag))
    .option("--scope <scope...>", "allow only these: inference, usage")
    .option("--address <cidr...>", "allow only these addresses or networks")
    .action(async (id: string, options: SetKeyOptions) => (await import("./keys.ts")).setKey(open, id, options));
  withJson(keys.command("roll"))
    .description("replace an API key by a new one with the same settings, and show its secret once")
    .argument("<key-id>", "id from `keys list`")
    .option("--grace <time>", "time for which the old key still works, such as 24h; 0 revokes it at once", "24h")
    .action(async (id: string, options: RollKeyOptions) => (await import("./keys.ts")).rollKey(open, id, options));
  withJson(keys.command("list"))
    .description("list a user's active keys")
    .requiredOption("--user <user>", USER)
    .action(async (options: KeysOfUser) => (await import("./keys.ts")).listKeys(open, options));
  withJson(keys.command("revoke"))
    .description("revoke an API key; it stops working within a second")
    .argument("<key-id>", "id from `keys list`")
    .action(async (id: string, options: OutputOptions) => (await import("./keys.ts")).revokeKey(open, id, options));
}

function addCreditCommands(credits: Command, open: OpenAccounts): void {
  withJson(credits.command("add"))
    .description("grant credits; a negative amount takes them away")
    .argument("<user>", USER)
    .argument("<amount>", "up to 9 decimal places", parseAmount)
    .option("--reason <text>", "reason, recorded with the grant")
    .action(async (user: string, amount: bigint, options: CreditOptions) => {
      const { addCredits } = await import("./users.ts");
      await addCredits(open, user, amount, options);
    });
}

function addTokenCommand(program: Command, open: OpenAccounts): void {
  withJson(program.command("token"))
    .description("issue an access token for a user")
    .argument("<user>", USER)
    .action(async (user: string, options: OutputOptions) =>
      (await import("./token.ts")).issueToken(open, user, options),
    );
}

function addSessionCommands(sessions: Command, open: OpenAccounts): void {
  withJson(sessions.command("end"))
    .description("sign a user out everywhere within a second; API keys continue to work")
    .argument("<user>", USER)
    .action(async (user: string, options: OutputOptions) =>
      (await import("./sessions.ts")).endSessions(open, user, options),
    );
}

function addAuditCommands(audit: Command): void {
  withJson(audit.command("verify"))
    .description("check that no audit entry is missing or changed; exit with 1 and name the first one if so")
    .option("--contains <digest>", "also check that the log contains this digest, noted earlier")
    .action(async (_options: object, command: Command) => {
      const { verifyAudit } = await import("./audit.ts");
      await verifyAudit(command.optsWithGlobals<VerifyOptions>());
    });
}

function addPluginCommands(plugin: Command): void {
  plugin
    .command("new")
    .description("create a working plugin with its schema and test in plugins/ beside the configuration")
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
    .description("run simulated providers, with faults on demand")
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
