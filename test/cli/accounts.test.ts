import { join } from "node:path";
import { CommanderError } from "commander";
import { describe, expect, test, vi } from "vitest";
import { digest } from "../../src/accounts/api-keys.ts";
import { createTokens } from "../../src/accounts/tokens.ts";
import { ExitError } from "../../src/cli/options.ts";
import { createProgram } from "../../src/cli/program.ts";
import { decimal, type Snapshot, type Store, type Tier } from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";
import { START, tokenSettings } from "../accounts/support.ts";
import { temporaryFolder } from "../store/support.ts";

const LIMITS = { day: null, hour: null, minute: null, streams: null };
const tier = (name: string): Tier => ({ name, access: "all", limits: LIMITS });

/** What of a configuration the commands read. */
const SNAPSHOT = {
  tiers: Object.assign(Object.create(null), { Free: tier("Free"), Lite: tier("Lite"), Ultra: tier("Ultra") }),
  auth: { tokens: tokenSettings({ a: "" }), signup: { tier: "Free", credits: decimal("1.25") } },
} as Pick<Snapshot, "tiers"> & { auth: Pick<Snapshot["auth"], "tokens" | "signup"> } as Snapshot;

interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `gateway <arguments>` on one file; exit codes and messages as `runProgram` makes them. */
function gateway() {
  const file = join(temporaryFolder(), "gateway.db");
  const openFile = () => openStore(`sqlite:${file}`, { serving: false, now: () => START });
  let opened = 0;
  let closed = 0;

  async function run(...args: string[]): Promise<Outcome> {
    const written = { stdout: "", stderr: "" };
    const spies = (["stdout", "stderr"] as const).map((name) =>
      vi.spyOn(process[name], "write").mockImplementation((text) => {
        written[name] += String(text);
        return true;
      }),
    );
    const program = createProgram(async () => {
      const store = await openFile();
      opened++;
      const close = store.close.bind(store);
      store.close = () => {
        closed++;
        return close();
      };
      return { store, snapshot: SNAPSHOT, now: () => START };
    });
    let exitCode = 0;
    try {
      await program.parseAsync(args, { from: "user" });
    } catch (error) {
      if (error instanceof CommanderError) exitCode = error.exitCode === 0 ? 0 : 2;
      else if (error instanceof ExitError) [exitCode, written.stderr] = [error.exitCode, error.message];
      else throw error;
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    expect(closed, "every store that was opened is closed").toBe(opened);
    return { exitCode, ...written };
  }

  return {
    run,
    /** The result of a command that must succeed, from `--json`. */
    json: async <Result>(...args: string[]): Promise<Result> => {
      const outcome = await run(...args, "--json");
      expect(outcome, `gateway ${args.join(" ")}`).toMatchObject({ exitCode: 0, stderr: "" });
      expect(outcome.stdout.endsWith("\n") && outcome.stdout.trim().split("\n").length === 1).toBe(true);
      return JSON.parse(outcome.stdout) as Result;
    },
    onStore: async <Result>(work: (store: Store) => Promise<Result>): Promise<Result> => {
      const store = await openFile();
      return work(store).finally(() => store.close());
    },
  };
}

interface UserBody {
  readonly id: string;
  readonly email: string;
  readonly plan_tier: string;
  readonly credits: number;
}

interface KeyBody {
  readonly key: string;
  readonly id: string;
}

describe("users", () => {
  test("add takes tier and credits from auth.signup", async () => {
    const { json } = gateway();
    const body = await json<UserBody>("users", "add", "--email", "Ada@Example.com");
    const id = expect.stringMatching(/^user_[\w-]{24}$/);
    expect(body).toEqual({ id, email: "ada@example.com", plan_tier: "Free", credits: 1.25 });
  });

  test("add with everything given, to the last nano-unit", async () => {
    const { json, onStore } = gateway();
    const args = ["--email", "ada@example.com", "--tier", "Ultra", "--credits", "12.000000001"];
    const body = await json<UserBody>("users", "add", ...args);
    expect(body).toMatchObject({ plan_tier: "Ultra", credits: 12.000000001 });
    const user = await onStore(async (store) => store.findUser(body.id));
    expect(user).toMatchObject({ balance: 12_000_000_001n, granted: 12_000_000_001n });
  });

  test("add of an address that is taken ends with 1", async () => {
    const { json, run } = gateway();
    await json("users", "add", "--email", "ada@example.com");
    const again = await run("users", "add", "--email", "ADA@example.com");
    expect(again).toEqual({ exitCode: 1, stdout: "", stderr: "email ada@example.com belongs to a user already" });
    expect(await json("users", "list")).toHaveLength(1);
  });

  test("list is an array, empty at first, the oldest first", async () => {
    const { json, run } = gateway();
    expect(await json("users", "list")).toEqual([]);
    expect((await run("users", "list")).stdout).toBe("ID  EMAIL  TIER  CREDITS\n");
    const all = [
      await json<UserBody>("users", "add", "--email", "ada@example.com"),
      await json<UserBody>("users", "add", "--email", "bo@example.com", "--credits", "0"),
    ].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(await json("users", "list")).toEqual(all);
    const lines = (await run("users", "list")).stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    for (const [index, { id, email, credits }] of all.entries()) {
      expect(lines[index + 1]!.split(/ +/)).toEqual([id, email, "Free", String(credits)]);
    }
    expect(new Set(lines.map((line) => line.search(/EMAIL|\S+@/))).size, "columns are aligned").toBe(1);
  });

  test("set changes the tier, by id or address", async () => {
    const { json } = gateway();
    const user = await json<UserBody>("users", "add", "--email", "ada@example.com");
    expect(await json("users", "set", user.id, "--tier", "Lite")).toEqual({ ...user, plan_tier: "Lite" });
    expect(await json("users", "set", "ADA@example.com", "--tier", "Ultra")).toEqual({ ...user, plan_tier: "Ultra" });
  });

  test("a tier must be one of the configuration's", async () => {
    const { json, run } = gateway();
    await json("users", "add", "--email", "ada@example.com");
    for (const args of [
      ["users", "set", "ada@example.com"],
      ["users", "add", "--email", "bo@example.com"],
    ]) {
      const near = await run(...args, "--tier", "lite");
      expect(near).toEqual({ exitCode: 2, stdout: "", stderr: "there is no tier lite: did you mean 'Lite'?" });
      const far = await run(...args, "--tier", "constructor");
      expect(far.exitCode).toBe(2);
      expect(far.stderr).toBe("there is no tier constructor: the configuration has Free, Lite, Ultra");
    }
    expect(await json("users", "list")).toMatchObject([{ plan_tier: "Free" }]);
  });

  test("readable answers say who, which tier and how much", async () => {
    const { run } = gateway();
    const added = await run("users", "add", "--email", "ada@example.com");
    expect(added.stdout).toMatch(/^Added ada@example\.com \(user_[\w-]{24}\): tier Free, credits 1\.25\n$/);
    expect((await run("users", "set", "ada@example.com", "--tier", "Lite")).stdout).toMatch(/^Changed .* tier Lite,/);
    expect((await run("credits", "add", "ada@example.com", "2")).stdout).toMatch(/^Changed .* credits 3\.25\n$/);
  });
});

describe("credits", () => {
  test.each([
    ["5", 6.25],
    ["0.000000001", 1.250000001],
    ["-3", -1.75],
    ["0", 1.25],
    ["999999999.999999999", 1_000_000_001.25],
  ])("add %s", async (amount, credits) => {
    const { json } = gateway();
    const user = await json<UserBody>("users", "add", "--email", "ada@example.com");
    expect(await json("credits", "add", user.id, amount)).toEqual({ ...user, credits });
  });

  test("add is exact", async () => {
    const { json, onStore } = gateway();
    await json("users", "add", "--email", "ada@example.com", "--credits", "0.1");
    for (let turn = 0; turn < 3; turn++) await json("credits", "add", "ada@example.com", "0.1");
    const user = await onStore(async (store) => store.findUser("ada@example.com"));
    expect(user).toMatchObject({ balance: 400_000_000n, granted: 400_000_000n });
  });

  const amounts = ["", "x", "1e3", "1e99999999", "0x10", "1,5", "1_000", "Infinity", "NaN", "--1", "1.", ".5", " 1"];
  test.each([...amounts, "0.0000000001", "1000000000"])("refuse the amount %j with 2", async (amount) => {
    const { json, run } = gateway();
    const user = await json<UserBody>("users", "add", "--email", "ada@example.com");
    expect(await run("credits", "add", user.id, amount)).toMatchObject({ exitCode: 2, stdout: "" });
    const added = await run("users", "add", "--email", "bo@example.com", "--credits", amount);
    expect(added).toMatchObject({ exitCode: 2, stdout: "" });
    expect(await json("users", "list")).toEqual([user]);
  });

  test("a user does not begin with debts", async () => {
    const { run } = gateway();
    const outcome = await run("users", "add", "--email", "ada@example.com", "--credits", "-1");
    expect(outcome).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("does not begin with debts") });
  });

  test("more than an account can hold ends with 1 and changes nothing", async () => {
    const { json, run } = gateway();
    await json("users", "add", "--email", "ada@example.com", "--credits", "999999999");
    await json("credits", "add", "ada@example.com", "999999999");
    const outcome = await run("credits", "add", "ada@example.com", "999999999");
    expect(outcome).toEqual({ exitCode: 1, stdout: "", stderr: "credits are more than an account can hold" });
    expect(await json("users", "list")).toMatchObject([{ credits: 1_999_999_998 }]);
  });
});

describe("users who are disabled", () => {
  test("are told apart by nothing but what they may do; a search finds them", async () => {
    const { json, run, onStore } = gateway();
    const user = await json<UserBody>("users", "add", "--email", "ada@example.com");
    await json("users", "add", "--email", "bob@example.com");
    const disabled = await run("users", "disable", "ada@example.com");
    expect(disabled.stdout).toMatch(/^Disabled ada@example\.com \(user_.*\): tier Free/);
    expect(await onStore(async (store) => store.principalOf(user.id))).toBeNull();
    expect(await json("users", "list", "--search", "ADA@")).toMatchObject([{ id: user.id }]);
    expect(await json("users", "list", "--search", user.id)).toMatchObject([{ id: user.id }]);
    expect(await json("users", "enable", user.id)).toMatchObject({ id: user.id });
    expect(await onStore(async (store) => store.principalOf(user.id))).toMatchObject({ userId: user.id });
    expect(await run("users", "disable", "nobody")).toMatchObject({ exitCode: 1, stderr: "there is no user nobody" });
  });

  test("grants are kept with their reason", async () => {
    const { json, onStore } = gateway();
    const user = await json<UserBody>("users", "add", "--email", "ada@example.com");
    await json("credits", "add", user.id, "2", "--reason", "goodwill");
    const { grants } = await onStore(async (store) => store.listGrants(user.id, { limit: 5, after: null }));
    expect(grants).toMatchObject([{ amount: 2_000_000_000n, reason: "goodwill", by: "command line" }]);
  });
});

describe("users delete", () => {
  test("deletes nothing without --yes, and for good with it", async () => {
    const { json, run, onStore } = gateway();
    const user = await json<UserBody>("users", "add", "--email", "ada@example.com");
    const key = await json<KeyBody>("keys", "add", "--user", user.id, "--name", "Ada's laptop");
    const asked = await run("users", "delete", "ada@example.com");
    expect(asked).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringMatching(/^nothing was deleted: .*--yes/),
    });
    expect(await json("users", "list")).toHaveLength(1);
    const deleted = await run("users", "delete", "ada@example.com", "--yes");
    expect(deleted).toEqual({
      exitCode: 0,
      stdout: `Deleted ${user.id}. Its ledger stays under the id.\n`,
      stderr: "",
    });
    expect(await json("users", "list")).toEqual([]);
    expect(await onStore(async (store) => store.principalByDigest(digest(key.key)))).toBeNull();
    expect(await run("users", "delete", user.id, "--yes")).toMatchObject({
      exitCode: 1,
      stderr: `there is no user ${user.id}`,
    });
    expect((await json<UserBody>("users", "add", "--email", "ada@example.com")).id).not.toBe(user.id);
  });
});

describe("keys", () => {
  test("add prints the body of POST /v1/user/key, and the key works", async () => {
    const { json, onStore } = gateway();
    const user = await json<UserBody>("users", "add", "--email", "ada@example.com");
    const body = await json<KeyBody>("keys", "add", "--user", user.id, "--name", "laptop");
    expect(body).toEqual({
      key: expect.stringMatching(/^rk_[0-9a-f]{64}$/),
      id: expect.stringMatching(/^key_[\w-]{24}$/),
      key_prefix: body.key.slice(0, 11),
      name: "laptop",
      plan_tier: "Free",
      created_at: "2027-01-15T08:00:00.000Z",
      last_used_at: null,
      expires_at: null,
      models: null,
      budget: null,
      tags: {},
      scopes: null,
      addresses: null,
      replaced_by: null,
    });
    const principal = await onStore(async (store) => store.principalByDigest(digest(body.key)));
    expect(principal).toEqual({ userId: user.id, tier: "Free", keyId: body.id });
  });

  test("add takes limits, and list shows them", async () => {
    const { json, run } = gateway();
    await json("users", "add", "--email", "ada@example.com");
    const limits = [
      "--expires-in",
      "30d",
      "--models",
      "route/swift*",
      "route/b",
      "--budget",
      "5/month",
      "--tag",
      "team=a=b",
      "--tag",
      "app=c",
    ];
    const body = await json<KeyBody>("keys", "add", "--user", "ada@example.com", "--name", "n", ...limits);
    const expires_at = "2027-02-14T08:00:00.000Z";
    const budget = { amount: "5", per: "month", spent: "0", held: "0", resets_at: "2027-02-01T00:00:00.000Z" };
    expect(body).toMatchObject({
      expires_at,
      budget,
      models: ["route/swift*", "route/b"],
      tags: { team: "a=b", app: "c" },
    });
    const { stdout } = await run("keys", "list", "--user", "ada@example.com");
    expect(stdout).toContain(`${expires_at}  route/swift* route/b 0 of 5 (month) team=a=b app=c`);
    const refused = await run("keys", "add", "--user", "ada@example.com", "--name", "n", "--expires-in", "soon");
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("expires_in must be whole seconds") });
  });

  test("set changes what is given and leaves the rest; none takes a limit away", async () => {
    const { json, run } = gateway();
    await json("users", "add", "--email", "ada@example.com");
    const limits = [
      "--models",
      "route/a",
      "--budget",
      "5/month",
      "--tag",
      "team=a",
      "--scope",
      "usage",
      "--address",
      "::1",
    ];
    const { id } = await json<KeyBody>("keys", "add", "--user", "ada@example.com", "--name", "n", ...limits);
    const changes = [
      "--name",
      "new",
      "--expires-in",
      "12h",
      "--scope",
      "usage",
      "inference",
      "--address",
      "10.0.0.0/8",
    ];
    const changed = await json<KeyBody>("keys", "set", id, ...changes);
    expect(changed).toMatchObject({
      id,
      name: "new",
      expires_at: "2027-01-15T20:00:00.000Z",
      models: ["route/a"],
      budget: { amount: "5", per: "month" },
      tags: { team: "a" },
      scopes: ["inference", "usage"],
      addresses: ["10.0.0.0/8"],
    });
    const none = ["--expires-in", "--models", "--budget", "--tag", "--scope", "--address"].flatMap((name) => [
      name,
      "none",
    ]);
    const unlimited = { expires_at: null, models: null, budget: null, tags: {}, scopes: null, addresses: null };
    expect(await json("keys", "set", id, ...none)).toMatchObject({ name: "new", ...unlimited });
    expect((await run("keys", "set", id, "--name", "again")).stdout).toBe(`Changed ${id} (again): never expires\n`);
    const refused = await run("keys", "set", id, "--address", "10.0.0.0/33");
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("addresses/0 is no valid prefix length"),
    });
    expect(await run("keys", "set", id)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("must have one of"),
    });
    expect(await run("keys", "set", "key_none", "--name", "n")).toMatchObject({
      exitCode: 1,
      stderr: "API key not found",
    });
  });

  test("roll makes a key with the same settings, and the old one stays until the grace is over", async () => {
    const { json, run } = gateway();
    await json("users", "add", "--email", "ada@example.com");
    const { id } = await json<KeyBody>(
      "keys",
      "add",
      "--user",
      "ada@example.com",
      "--name",
      "n",
      "--scope",
      "inference",
    );
    const rolled = await json<KeyBody>("keys", "roll", id, "--grace", "2h");
    const expires_at = "2027-01-15T10:00:00.000Z";
    expect(rolled).toMatchObject({ name: "n", scopes: ["inference"], expires_at: null, previous: { id, expires_at } });
    const all = await json<KeyBody[]>("keys", "list", "--user", "ada@example.com");
    expect(all).toEqual(expect.arrayContaining([expect.objectContaining({ id, expires_at, replaced_by: rolled.id })]));
    const again = await run("keys", "roll", id);
    expect(again).toMatchObject({
      exitCode: 1,
      stderr: `the key was rolled before: roll ${rolled.id}, which took its place`,
    });
    const { stdout } = await run("keys", "roll", rolled.id, "--grace", "0");
    expect(stdout).toMatch(
      /^rk_[0-9a-f]{64}\nMade key_\S+ in place of key_\S+\. The secret is not shown again\. key_\S+ is revoked\.\n$/,
    );
    expect((await run("keys", "roll", id, "--grace", "soon")).exitCode).toBe(1);
  });

  test("list shows live keys without their secrets; revoke takes one off", async () => {
    const { json, run, onStore } = gateway();
    await json("users", "add", "--email", "ada@example.com");
    const add = (name: string) => json<KeyBody>("keys", "add", "--user", "ada@example.com", "--name", name);
    const [first, second] = [await add("one"), await add("two")];
    await onStore(async (store) => store.touchKeys(new Map([[first.id, START]])));
    const { key, ...listed } = first;
    const all = await json<KeyBody[]>("keys", "list", "--user", "ada@example.com");
    expect(all).toHaveLength(2);
    expect(all).toContainEqual({ ...listed, last_used_at: "2027-01-15T08:00:00.000Z" });
    const text = await run("keys", "list", "--user", "ada@example.com");
    expect(text.stdout).toMatch(/^ID +PREFIX +NAME +CREATED +LAST USED +EXPIRES +LIMITS\n/);
    expect(text.stdout).toContain("never");
    expect(JSON.stringify(all) + text.stdout).not.toContain(key.slice(0, 16));

    expect(await json("keys", "revoke", first.id)).toEqual({ message: "API key revoked" });
    expect(await run("keys", "revoke", second.id)).toEqual({
      exitCode: 0,
      stdout: `Revoked ${second.id}.\n`,
      stderr: "",
    });
    expect(await json("keys", "list", "--user", "ada@example.com")).toEqual([]);
    expect(await onStore(async (store) => store.principalByDigest(digest(key)))).toBeNull();
    const again = await run("keys", "revoke", first.id);
    expect(again).toEqual({ exitCode: 1, stdout: "", stderr: `there is no live key ${first.id}` });
  });

  test("a readable add shows the secret alone on the first line, for scripts and clipboards", async () => {
    const { json, run } = gateway();
    await json("users", "add", "--email", "ada@example.com");
    const { stdout } = await run("keys", "add", "--user", "ada@example.com", "--name", "n");
    const [secret, note] = stdout.split("\n");
    expect(secret).toMatch(/^rk_[0-9a-f]{64}$/);
    expect(note).toMatch(/^Made key_[\w-]{24} for ada@example\.com\. The secret is not shown again\.$/);
  });

  test.each([[""], ["  "], ["x".repeat(101)]])("refuse the name %j with 2", async (name) => {
    const { json, run } = gateway();
    await json("users", "add", "--email", "ada@example.com");
    const outcome = await run("keys", "add", "--user", "ada@example.com", "--name", name);
    expect(outcome).toMatchObject({ exitCode: 2, stdout: "" });
  });

  test("a hostile name cannot steer the terminal", async () => {
    const { json, run } = gateway();
    await json("users", "add", "--email", "ada@example.com");
    await json("keys", "add", "--user", "ada@example.com", "--name", "a\u001b[2J\nkey_forged\u202e");
    const { stdout } = await run("keys", "list", "--user", "ada@example.com");
    expect(stdout).toContain("a\uFFFD[2J\uFFFDkey_forged\uFFFD");
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
  });

  test("the 51st live key ends with 1", async () => {
    const { json, run, onStore } = gateway();
    const user = await json<UserBody>("users", "add", "--email", "ada@example.com");
    await onStore(async (store) => {
      for (let index = 0; index < 50; index++) {
        const id = `key_${index}`;
        await store.addKey({ id, userId: user.id, name: "n", prefix: "rk_00000000", digest: digest(id) }, 50);
      }
    });
    const outcome = await run("keys", "add", "--user", user.id, "--name", "n");
    expect(outcome).toEqual({ exitCode: 1, stdout: "", stderr: "the user has 50 live keys: revoke one first" });
  });
});

describe("token", () => {
  test("issues what the gateway on the same store verifies", async () => {
    const { json, run, onStore } = gateway();
    const user = await json<UserBody>("users", "add", "--email", "ada@example.com");
    const body = await json<{ access_token: string }>("token", "ada@example.com");
    expect(body).toEqual({ access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/), expires_in: 900 });
    await onStore(async (store) => {
      const remember = (name: string, value: string) => store.remember(name, value);
      const tokens = await createTokens({ settings: () => SNAPSHOT.auth.tokens, now: Date.now, remember });
      expect(await tokens.verify(body.access_token)).toMatchObject({ userId: user.id });
    });
    expect((await run("token", user.id)).stdout, "the token alone").toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  });
});

describe("exit codes", () => {
  test.each([
    [["users", "set", "nobody@example.com", "--tier", "Lite"]],
    [["credits", "add", "user_nobody", "1"]],
    [["keys", "add", "--user", "user_nobody", "--name", "n"]],
    [["keys", "list", "--user", "user_nobody"]],
    [["token", "user_nobody"]],
  ])("an unknown user ends with 1: %j", async (args) => {
    const { exitCode, stdout, stderr } = await gateway().run(...args, "--json");
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^there is no user (user_nobody|nobody@example\.com)$/);
  });

  test.each([
    [["users"]],
    [["users", "add"]],
    [["users", "add", "--email", "nonsense"]],
    [["users", "add", "--email"]],
    [["users", "set", "user_1"]],
    [["users", "remove", "user_1"]],
    [["users", "list", "--jsno"]],
    [["users", "list", "more"]],
    [["credits", "add", "user_1"]],
    [["keys", "add", "--user", "user_1"]],
    [["keys", "revoke"]],
    [["token"]],
  ])("wrong use ends with 2 and leaves stdout alone: %j", async (args) => {
    const { exitCode, stdout, stderr } = await gateway().run(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).not.toBe("");
  });

  test("a store that does not answer ends with 3, and is closed", async () => {
    const { onStore } = gateway();
    const closed = vi.fn<() => void>();
    await onStore(async (store) => {
      await store.close();
      store.close = closed;
      const program = createProgram(async () => ({ store, snapshot: SNAPSHOT, now: () => START }));
      const failed = program.parseAsync(["users", "list"], { from: "user" });
      await expect(failed).rejects.toMatchObject({
        name: "ExitError",
        exitCode: 3,
        message: expect.stringMatching(/^the store does not answer: ./),
      });
    });
    expect(closed).toHaveBeenCalled();
  });

  test("what hinders the opening is passed on as it is", async () => {
    const failure = new Error("cannot open the store");
    const program = createProgram(() => Promise.reject(failure));
    await expect(program.parseAsync(["users", "list"], { from: "user" })).rejects.toBe(failure);
  });
});
