import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createKey, digest } from "../../src/accounts/api-keys.ts";
import { type AuthenticationOptions, createAuthentication } from "../../src/accounts/authenticate.ts";
import { createTokens } from "../../src/accounts/tokens.ts";
import { GatewayError, type OnChange, type Principal, type Store, storeUnavailable } from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";
import { temporaryFolder } from "../store/support.ts";
import { START, storeWithUser, tokenSettings } from "./support.ts";

const MINUTE = 60_000;
const NO_TOKENS: AuthenticationOptions["tokens"] = { verify: () => null };

function identitiesOn(store: Store, more: Partial<AuthenticationOptions> = {}) {
  const identities = createAuthentication({ store, tokens: NO_TOKENS, now: () => START, ...more });
  // A test that breaks the store may leave something that cannot be written.
  onTestFinished(async () => identities.close().catch(() => {}));
  return identities;
}

async function withKey(now?: () => number) {
  const { store, user } = await storeWithUser(now);
  const { body } = await createKey(store, { userId: user.id, name: "n" });
  return {
    store,
    user,
    secret: body.key,
    keyId: body.id,
    principal: { userId: user.id, tier: "Free", keyId: body.id },
  };
}

/** What other processes change: a store may not hear of it. */
function unheard(store: Store): void {
  vi.spyOn(store, "onChange").mockReturnValue(() => {});
  delete store.accountsVersion;
}

const lastUse = async (store: Store) => (await store.listKeys("user_1"))[0]!.lastUsedAt;

async function signedIn() {
  const { store, user } = await storeWithUser();
  const secrets = tokenSettings({ a: "0123456789abcdef0123456789abcdef" });
  const tokens = await createTokens({ settings: () => secrets, now: () => START, remember: (_, value) => value });
  return { store, user, tokens, identities: identitiesOn(store, { tokens }) };
}

/** With a key; what is changed is not heard of. */
async function signedInWithKey() {
  const { store, user, tokens } = await signedIn();
  unheard(store);
  const { body } = await createKey(store, { userId: user.id, name: "n" });
  return { store, user, tokens, secret: body.key, identities: identitiesOn(store, { tokens }) };
}

/** The clock by which caches forget, standing still until it is moved. */
function monotonicTime() {
  const time = { now: performance.now() };
  const spy = vi.spyOn(performance, "now").mockImplementation(() => time.now);
  onTestFinished(() => spy.mockRestore());
  return time;
}

const secretOf = (index: number) => `rk_${index.toString(16).padStart(64, "0")}`;

describe("by key", () => {
  test("a live key is its user, every time", async () => {
    const { store, secret, principal } = await withKey();
    const identities = identitiesOn(store);
    expect(await identities.byKey(secret)).toEqual(principal);
    expect(await identities.byKey(secret), "from the cache").toEqual(principal);
    expect(await identities.byKey(secretOf(1))).toBeNull();
    expect(await identities.byKey(secretOf(1)), "from the cache").toBeNull();
  });

  test("only what has the shape of a key reaches the store", async () => {
    const { store, secret } = await withKey();
    const asked = vi.spyOn(store, "principalByDigest");
    const identities = identitiesOn(store);
    const hostile = ["", "rk_", "' OR 1=1 --", "../../etc/passwd", "\0", "{{7*7}}", "rk_*", "%", "x".repeat(100_000)];
    const changed = [
      secret.toUpperCase(),
      `${secret}0`,
      secret.slice(0, -1),
      `${secret}\n`,
      ` ${secret}`,
      `rk_${secret}`,
    ];
    for (const value of [...hostile, ...changed]) expect(await identities.byKey(value)).toBeNull();
    expect(asked).not.toHaveBeenCalled();
  });

  test("keys that are alike in all but their last character are different users", async () => {
    const { store, user } = await storeWithUser();
    const other = (await store.addUser({ id: "user_2", email: "b@example.com", tier: "Max", credits: 0n }))!;
    const secrets = [`rk_${"a".repeat(63)}0`, `rk_${"a".repeat(63)}1`];
    for (const [index, userId] of [user.id, other.id].entries()) {
      const key = { id: `key_${index}`, userId, name: "n", prefix: "rk_aaaaaaaa", digest: digest(secrets[index]!) };
      await store.addKey(key, 50);
    }
    const identities = identitiesOn(store);
    for (const round of [1, 2]) {
      const found = await Promise.all(secrets.map(async (secret) => identities.byKey(secret)));
      expect(
        found.map((principal) => principal?.userId),
        `round ${round}`,
      ).toEqual(["user_1", "user_2"]);
    }
  });

  test("a key that another process revokes stops working within a second, a tier changes within one", async () => {
    const time = monotonicTime();
    const { store, user, secret, keyId } = await withKey();
    unheard(store);
    const identities = identitiesOn(store);
    const { body: kept } = await createKey(store, { userId: user.id, name: "kept" });
    await identities.byKey(secret);
    await identities.byKey(kept.key);
    await store.revokeKey(keyId);
    await store.setTier(user.id, "Max");
    time.now += 999;
    expect(await identities.byKey(secret)).toBeNull();
    expect(await identities.byKey(kept.key)).toMatchObject({ tier: "Max" });
  });

  test("a key of a user whom another process disables stops working within a second", async () => {
    const time = monotonicTime();
    const { store, user, secret, tokens, identities } = await signedInWithKey();
    const { access_token } = await tokens.issue(user);
    expect(await identities.byKey(secret)).not.toBeNull();
    expect(await identities.byToken(access_token)).not.toBeNull();
    await store.setDisabled(user.id, true);
    time.now += 999;
    expect(await identities.byKey(secret)).toBeNull();
    expect(await identities.byToken(access_token)).toBeNull();
  });

  test("a key expires while it is remembered", async () => {
    const { store, user } = await withKey();
    let now = START;
    const identities = identitiesOn(store, { now: () => now });
    const limits = { expiresAt: START + 100 };
    const { body } = await createKey(store, { userId: user.id, name: "short", limits });
    for (const look of ["byKey", "presume"] as const) {
      now = START + 99;
      expect(await identities[look](body.key)).toMatchObject({ keyId: body.id, keyLimits: limits });
      now = START + 100;
      expect(await identities[look](body.key)).toBeNull();
    }
  });

  test("the store is asked once for a key, however many ask, and again only when the answer is old", async () => {
    const { store, secret, principal } = await withKey();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const asked = vi.spyOn(store, "principalByDigest").mockImplementation(async () => {
      await held;
      return principal;
    });
    const identities = identitiesOn(store);
    const all = Array.from({ length: 1_000 }, async () => identities.byKey(secret));
    release();
    for (const found of await Promise.all(all)) expect(found).toEqual(principal);
    await identities.byKey(secret);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  test("unknown keys are remembered too, and a flood of them leaves the good ones in place", async () => {
    monotonicTime();
    const { store, secret, principal } = await withKey();
    const asked = vi.spyOn(store, "principalByDigest");
    const identities = identitiesOn(store);
    await identities.byKey(secretOf(1));
    await identities.byKey(secretOf(1));
    await identities.byKey(secret);
    expect(asked).toHaveBeenCalledTimes(2);
    // From here on the store knows nobody: a good key that is still one was never pushed out.
    asked.mockReturnValue(null);
    for (let index = 2; index < 25_000; index++) await identities.byKey(secretOf(index));
    expect(await identities.byKey(secret)).toEqual(principal);
  });

  test.each([
    [
      "throws",
      () => {
        throw storeUnavailable(new Error("away"));
      },
    ],
    ["rejects", () => Promise.reject(storeUnavailable(new Error("away")))],
  ] as const)("a store that %s is an error, never an unknown key, and is asked again", async (_, fail) => {
    const { store, secret, principal } = await withKey();
    const asked = vi.spyOn(store, "principalByDigest");
    const identities = identitiesOn(store);
    asked.mockImplementationOnce(fail);
    const both = await Promise.allSettled([1, 2].map(async () => identities.byKey(secret)));
    for (const result of both) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "STORE_UNAVAILABLE" } });
      expect((result as PromiseRejectedResult).reason).toBeInstanceOf(GatewayError);
    }
    expect(await identities.byKey(secret)).toEqual(principal);
  });
});

describe("last use", () => {
  test("is written at the close", async () => {
    const clock = { now: START };
    const { store, secret } = await withKey(() => clock.now);
    const identities = identitiesOn(store, { now: () => clock.now });
    await identities.byKey(secret);
    clock.now += 45_000;
    await identities.byKey(secret);
    expect(await lastUse(store), "not on the request's path").toBeNull();
    await identities.close();
    expect(await lastUse(store)).toBe(START + 45_000);
  });

  test("is written every so often, in one step for all keys", async () => {
    const { store, secret } = await withKey();
    const { body: second } = await createKey(store, { userId: "user_1", name: "second" });
    const written = vi.spyOn(store, "touchKeys");
    const identities = identitiesOn(store, { flushEvery: 20 });
    await identities.byKey(secret);
    await identities.byKey(second.key);
    await vi.waitFor(() => expect(written).toHaveBeenCalledTimes(1), { timeout: 10_000 });
    expect([...written.mock.calls[0]![0].values()]).toEqual([START, START]);
    await identities.close();
    expect(written, "nothing new, nothing written").toHaveBeenCalledTimes(1);
  });

  test("survives a store that is away", async () => {
    const clock = { now: START };
    const { store, secret } = await withKey(() => clock.now);
    const written = vi.spyOn(store, "touchKeys");
    written.mockImplementationOnce(() => {
      throw storeUnavailable(new Error("away"));
    });
    const identities = identitiesOn(store, { now: () => clock.now, flushEvery: 20 });
    await identities.byKey(secret);
    await vi.waitFor(async () => expect(await lastUse(store)).toBe(START), { timeout: 10_000 });
    expect(written).toHaveBeenCalledTimes(2);
  });

  test("of unknown keys is not noted", async () => {
    const { store } = await withKey();
    const written = vi.spyOn(store, "touchKeys");
    const identities = identitiesOn(store);
    await identities.byKey(secretOf(1));
    await identities.close();
    expect(written).not.toHaveBeenCalled();
  });
});

async function inFile() {
  const url = `sqlite:${join(temporaryFolder(), "gateway.db")}`;
  const [store, command] = [true, false].map((serving) => openStore(url, { serving, now: () => START }));
  return { store: await store!, command: await command! };
}

describe("in a file, which commands change, too", () => {
  test("a key costs one look-up until a command changes something, and a revoked one is nobody at once", async () => {
    const time = monotonicTime();
    const { store, command } = await inFile();
    onTestFinished(async () => {
      await command.close();
      await store.close();
    });
    const user = (await store.addUser({ id: "user_1", email: "a@example.com", tier: "Free", credits: 0n }))!;
    const [first, second] = [await keyOf(store, user), await keyOf(store, user)];
    const asked = vi.spyOn(store, "principalByDigest");
    const identities = identitiesOn(store);
    for (let count = 0; count < 5; count++) {
      expect(await identities.presume(first.key)).toMatchObject({ keyId: first.id, tier: "Free" });
      expect(await identities.byKey(second.key)).toMatchObject({ keyId: second.id, tier: "Free" });
      time.now += 10_000;
    }
    expect(asked).toHaveBeenCalledTimes(2);
    await command.revokeKey(first.id);
    time.now += 10;
    expect(await identities.presume(first.key)).toBeNull();
    await command.setTier(user.id, "Max");
    time.now += 10;
    expect(await identities.presume(second.key)).toMatchObject({ tier: "Max" });
    await store.setTier(user.id, "Pro");
    expect(await identities.presume(second.key), "changed by the process itself").toMatchObject({ tier: "Pro" });
  });

  test("a file that cannot be asked any more is told of as such", async () => {
    const { store, command } = await inFile();
    await command.close();
    const user = (await store.addUser({ id: "user_1", email: "a@example.com", tier: "Free", credits: 0n }))!;
    const { key } = await keyOf(store, user);
    const time = monotonicTime();
    const identities = identitiesOn(store);
    expect(await identities.byKey(key)).not.toBeNull();
    await store.close();
    time.now += 1_000;
    await expect((async () => identities.byKey(key))()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

const keyOf = async (store: Store, { id }: { readonly id: string }) =>
  (await createKey(store, { userId: id, name: "n" })).body;

/** A store that gives versions, and may be away. */
async function versioned(more: Partial<AuthenticationOptions> = {}) {
  const parts = await withKey();
  const state = { version: 1, away: false, asked: 0 };
  const answer = <T>(value: T): T => {
    state.asked += 1;
    if (state.away) throw storeUnavailable(new Error("away"));
    return value;
  };
  const { store } = parts;
  unheard(store);
  const byDigest = store.principalByDigest.bind(store);
  const byUser = store.principalOf.bind(store);
  vi.spyOn(store, "principalByDigest").mockImplementation(async (hash) => {
    const found = answer(await byDigest(hash));
    return found && { ...found, version: state.version };
  });
  vi.spyOn(store, "principalOf").mockImplementation(async (id) => {
    const found = answer(await byUser(id));
    return found && { ...found, version: state.version };
  });
  return { ...parts, state, identities: identitiesOn(store, more) };
}

describe("presumed, where the store gives versions", () => {
  test("a principal costs one look-up for as long as it is confirmed", async () => {
    const time = monotonicTime();
    const { identities, secret, state, principal } = await versioned();
    for (let count = 0; count < 5; count++) {
      expect(await identities.presume(secret)).toEqual({ ...principal, version: 1 });
      time.now += 10_000;
    }
    expect(state.asked).toBe(1);
    await identities.byKey(secret);
    expect(state.asked, "byKey believes half a second").toBe(2);
  });

  test("confirm tells a changed version; once forgotten, the new one is read", async () => {
    const { identities, store, user, secret, state } = await versioned();
    const before = (await identities.presume(secret))!;
    expect(await identities.confirm(before)).toBe(true);
    await store.setTier(user.id, "Max");
    state.version = 2;
    expect(await identities.presume(secret), "still presumed").toBe(before);
    expect(await identities.confirm(before)).toBe(false);
    identities.forget(before);
    expect(await identities.presume(secret)).toMatchObject({ tier: "Max", version: 2 });
  });

  test("a revoked key is presumed until it is forgotten, then nobody", async () => {
    const { identities, store, keyId, secret } = await versioned();
    const before = (await identities.presume(secret))!;
    await store.revokeKey(keyId);
    expect(await identities.presume(secret)).toBe(before);
    identities.forget(before);
    expect(await identities.presume(secret)).toBeNull();
  });

  test("a known key serves while the store is away, where that is wished; an unknown one never", async () => {
    const time = monotonicTime();
    const { identities, secret, state, principal } = await versioned({ onFailure: () => "open" });
    await identities.byKey(secret);
    state.away = true;
    time.now += 1_000;
    expect(await identities.byKey(secret)).toEqual({ ...principal, version: 1 });
    await expect((async () => identities.byKey(secretOf(7)))()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("otherwise a known key is refused like any other: 503, not 401", async () => {
    const time = monotonicTime();
    const { identities, secret, state } = await versioned();
    await identities.byKey(secret);
    state.away = true;
    time.now += 1_000;
    await expect((async () => identities.byKey(secret))()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("without versions nothing is presumed beyond half a second, and everything is confirmed", async () => {
    const time = monotonicTime();
    const { store, secret, keyId } = await withKey();
    unheard(store);
    const identities = identitiesOn(store);
    const principal = (await identities.presume(secret))!;
    expect(await identities.confirm(principal)).toBe(true);
    await store.revokeKey(keyId);
    time.now += 501;
    expect(await identities.presume(secret)).toBeNull();
  });
});

/** Two users with a key each, both presumed, and the store's push. */
async function withPush(more: Partial<AuthenticationOptions> = {}) {
  const parts = await withKey();
  const { store, secret } = parts;
  const other = { id: "user_2", email: "ben@example.com", tier: "Free", credits: 0n };
  await store.addUser(other);
  const second = (await createKey(store, { userId: other.id, name: "n" })).body.key;
  const listeners = new Set<OnChange>();
  vi.spyOn(store, "onChange").mockImplementation((listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  });
  const found = store.principalByDigest.bind(store);
  const read = vi.spyOn(store, "principalByDigest").mockImplementation(async (hash) => {
    const principal = await found(hash);
    return principal && { ...principal, version: 1 };
  });
  const identities = identitiesOn(store, more);
  for (const each of [secret, second]) await identities.byKey(each);
  const push: OnChange = (userId) => listeners.forEach((listener) => listener(userId));
  const asks = async (ask: (secret: string) => unknown) => {
    read.mockClear();
    for (const each of [secret, second]) await ask(each);
    return read.mock.calls.length;
  };
  return { ...parts, second, listeners, identities, push, read, asks };
}

describe("changes that the store pushes", () => {
  test.each([
    ["user_1", 1],
    ["user_2", 1],
    [null, 2],
    ["user_nobody", 0],
  ])("of %j: %i of two keys are looked up again, once", async (userId, expected) => {
    const { identities, push, asks } = await withPush();
    for (const way of ["presume", "byKey"] as const) {
      push(userId);
      expect(await asks((each) => identities[way](each))).toBe(expected);
      expect(await asks((each) => identities[way](each))).toBe(0);
    }
  });

  test.each(["presume", "byKey"] as const)(
    "%s: a key that was revoked before the store went away serves nobody, where others serve",
    async (way) => {
      const { identities, keyId, secret, second, store, push, read } = await withPush({ onFailure: () => "open" });
      await store.revokeKey(keyId);
      push("user_1");
      read.mockRejectedValue(storeUnavailable(new Error("away")));
      await expect((async () => identities[way](secret))()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(await identities[way](second)).toMatchObject({ userId: "user_2" });
    },
  );

  test.each(["presume", "byKey"] as const)(
    "%s: those of whom changes may have been missed serve while the store is away, where that is wished",
    async (way) => {
      const { identities, keyId, secret, second, store, push, read, asks } = await withPush({
        onFailure: () => "open",
      });
      push(null);
      read.mockRejectedValueOnce(storeUnavailable(new Error("away")));
      expect(await identities[way](second)).toMatchObject({ userId: "user_2" });
      expect(await asks((each) => identities[way](each)), "asked again, now that the store answers").toBe(2);
      push(null);
      await store.revokeKey(keyId);
      push("user_1");
      read.mockRejectedValue(storeUnavailable(new Error("away")));
      await expect((async () => identities[way](secret))()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(await identities[way](second)).toMatchObject({ userId: "user_2" });
    },
  );

  test("an answer that was on its way meanwhile is not believed any longer", async () => {
    const { identities, secret, push, read } = await withPush();
    push(null);
    const answer = Promise.withResolvers<Principal>();
    read.mockReturnValueOnce(answer.promise);
    const asked = identities.presume(secret);
    push("user_1");
    answer.resolve({ userId: "user_1", tier: "Old", keyId: "k", version: 0 });
    expect(await asked).toMatchObject({ tier: "Old" });
    expect(await identities.presume(secret)).toMatchObject({ tier: "Free", version: 1 });
  });

  test("what serves while the store is away is presumed no longer for that", async () => {
    const time = monotonicTime();
    const { identities, secret, read } = await withPush({ onFailure: () => "open" });
    read.mockRejectedValue(storeUnavailable(new Error("away")));
    for (let minute = 1; minute < 10; minute++) {
      time.now += MINUTE;
      expect(await identities.byKey(secret), `minute ${minute}`).toMatchObject({ userId: "user_1" });
    }
    time.now += MINUTE + 1;
    await expect((async () => identities.byKey(secret))()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  test("are heard of until the close", async () => {
    const { identities, listeners } = await withPush();
    expect(listeners.size).toBe(1);
    await identities.close();
    expect(listeners.size).toBe(0);
  });
});

describe("by token", () => {
  test("a user, in the tier that is stored and without a key", async () => {
    const { store, user, tokens, identities } = await signedIn();
    const { access_token } = await tokens.issue({ id: user.id, tier: "Ultra" });
    const expected: Principal = { userId: user.id, tier: "Free", keyId: null };
    expect(await identities.byToken(access_token)).toEqual(expected);
    await store.setTier(user.id, "Lite");
    expect(await identities.byToken(access_token)).toEqual({ ...expected, tier: "Lite" });
  });

  test("nobody for a bad token, an unknown user or an address in a user's place", async () => {
    const { user, tokens, identities } = await signedIn();
    expect(await identities.byToken("not.a.token")).toBeNull();
    for (const id of ["user_nobody", user.email]) {
      const { access_token } = await tokens.issue({ id, tier: "Free" });
      expect(await identities.byToken(access_token)).toBeNull();
    }
  });

  test("a store that is away is an error", async () => {
    const { store, user, tokens, identities } = await signedIn();
    const { access_token } = await tokens.issue(user);
    vi.spyOn(store, "principalOf").mockImplementation(() => {
      throw storeUnavailable(new Error("away"));
    });
    await expect((async () => identities.byToken(access_token))()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});
