import type { Command } from "commander";
import { createKey, keyBody } from "../accounts/api-keys.ts";
import { createTokens } from "../accounts/tokens.ts";
import { createUser } from "../accounts/users.ts";
import {
  GatewayError,
  nanoToNumber,
  nanoToString,
  type Snapshot,
  type Store,
  toNano,
  type User,
} from "../kit/index.ts";
import { parseAddress, parseAmount, parseCredits, parseKeyName, tierOf } from "./accounts-input.ts";
import { printable, table } from "./accounts-text.ts";
import { EXIT, ExitError } from "./options.ts";

interface Accounts {
  readonly store: Store;
  readonly snapshot: Snapshot;
}

type OpenAccounts = () => Promise<Accounts>;

/** What a command has to say: `json` with `--json`, else `text`. */
interface Result {
  readonly json: unknown;
  readonly text: string;
}

const USER = "id or address of the user";

/**
 * `users`, `credits`, `keys` and `token`, straight on the store, also while it is served. `open` is called once per
 * command; the command closes the store. Results go to stdout; @throws ExitError
 */
export function addAccountCommands(program: Command, open: OpenAccounts): void {
  addUserCommands(program.command("users").description("who may call, and on which plan"), open);
  addKeyCommands(program.command("keys").description("API keys"), open);

  withJson(program.command("credits").description("what users may spend").command("add"))
    .description("add credits; a negative amount takes them")
    .argument("<user>", USER)
    .argument("<amount>", "up to 9 decimal places", parseAmount)
    .action((name: string, amount: bigint, options: Output) =>
      run(open, options, async ({ store }) => {
        const user = await userOf(store, name);
        return describeUser("Changed", found(await store.grant(user.id, amount), name));
      }),
    );

  withJson(program.command("token"))
    .description("issue an access token, as signing in does")
    .argument("<user>", USER)
    .action((name: string, options: Output) =>
      run(open, options, async ({ store, snapshot }) => {
        const user = await userOf(store, name);
        const remember = (key: string, value: string) => store.remember(key, value);
        const tokens = await createTokens({ settings: () => snapshot.auth.tokens, now: Date.now, remember });
        const json = await tokens.issue(user);
        return { json, text: json.access_token };
      }),
    );
}

function addUserCommands(users: Command, open: OpenAccounts): void {
  withJson(users.command("add"))
    .description("make a user; tier and credits are those of auth.signup unless given")
    .requiredOption("--email <address>", "address of the user", parseAddress)
    .option("--tier <tier>", "plan")
    .option("--credits <amount>", "credits to begin with", parseCredits)
    .action((options: Output & { email: string; tier?: string; credits?: bigint }) =>
      run(open, options, async ({ store, snapshot }) => {
        const { signup } = snapshot.auth;
        const tier = tierOf(snapshot, options.tier ?? signup.tier);
        const credits = options.credits ?? toNano(signup.credits);
        return describeUser("Added", await createUser(store, { email: options.email, tier, credits }));
      }),
    );

  withJson(users.command("list"))
    .description("all users")
    .action((options: Output) =>
      run(open, options, async ({ store }) => {
        const all = await store.listUsers();
        const rows = all.map(({ id, email, tier, balance }) => [id, email, tier, nanoToString(balance)]);
        return { json: all.map(userBody), text: table(["ID", "EMAIL", "TIER", "CREDITS"], rows) };
      }),
    );

  withJson(users.command("set"))
    .description("change a user's plan")
    .argument("<user>", USER)
    .requiredOption("--tier <tier>", "plan")
    .action((name: string, options: Output & { tier: string }) =>
      run(open, options, async ({ store, snapshot }) => {
        const tier = tierOf(snapshot, options.tier);
        const user = await userOf(store, name);
        return describeUser("Changed", found(await store.setTier(user.id, tier), name));
      }),
    );
}

function addKeyCommands(keys: Command, open: OpenAccounts): void {
  withJson(keys.command("add"))
    .description("make a key; its secret is shown this once")
    .requiredOption("--user <user>", USER)
    .requiredOption("--name <name>", "label", parseKeyName)
    .action((options: Output & { user: string; name: string }) =>
      run(open, options, async ({ store }) => {
        const user = await userOf(store, options.user);
        const { body } = await createKey(store, { userId: user.id, name: options.name });
        return { json: body, text: `${body.key}\nMade ${body.id} for ${user.email}. The secret is not shown again.` };
      }),
    );

  withJson(keys.command("list"))
    .description("live keys of a user")
    .requiredOption("--user <user>", USER)
    .action((options: Output & { user: string }) =>
      run(open, options, async ({ store }) => {
        const user = await userOf(store, options.user);
        const json = (await store.listKeys(user.id)).map((key) => keyBody(key, user.tier));
        const rows = json.map((key) => [
          key.id,
          key.key_prefix,
          printable(key.name),
          key.created_at,
          key.last_used_at ?? "never",
        ]);
        return { json, text: table(["ID", "PREFIX", "NAME", "CREATED", "LAST USED"], rows) };
      }),
    );

  withJson(keys.command("revoke"))
    .description("revoke a key; it stops working within a second")
    .argument("<key-id>", "as `keys list` shows it")
    .action((id: string, options: Output) =>
      run(open, options, async ({ store }) => {
        if (!(await store.revokeKey(id))) throw new ExitError(EXIT.findings, `there is no live key ${id}`);
        return { json: { message: "API key revoked" }, text: `Revoked ${id}.` };
      }),
    );
}

interface Output {
  readonly json?: boolean;
}

function withJson(command: Command): Command {
  return command.option("--json", "print the result as JSON");
}

/** Prints what `work` says, once the store is closed and the result is safe. */
async function run(open: OpenAccounts, { json }: Output, work: (accounts: Accounts) => Promise<Result>): Promise<void> {
  const accounts = await open();
  let result: Result;
  try {
    result = await work(accounts);
  } catch (error) {
    throw error instanceof GatewayError ? exitOf(error) : error;
  } finally {
    await accounts.store.close();
  }
  process.stdout.write(`${json ? JSON.stringify(result.json) : result.text}\n`);
}

function exitOf(error: GatewayError): ExitError {
  if (error.code !== "STORE_UNAVAILABLE") {
    return new ExitError(EXIT.findings, error.message.replace(/^Invalid request: \/ ?/, ""));
  }
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return new ExitError(EXIT.failed, `the store does not answer${cause}`);
}

async function userOf(store: Store, name: string): Promise<User> {
  return found(await store.findUser(name), name);
}

function found(user: User | null, name: string): User {
  if (!user) throw new ExitError(EXIT.findings, `there is no user ${name}`);
  return user;
}

function userBody({ id, email, tier, balance }: User) {
  return { id, email, plan_tier: tier, credits: nanoToNumber(balance) };
}

function describeUser(done: string, user: User): Result {
  const text = `${done} ${user.email} (${user.id}): tier ${user.tier}, credits ${nanoToString(user.balance)}`;
  return { json: userBody(user), text };
}
