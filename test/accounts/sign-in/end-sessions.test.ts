import { expect, onTestFinished, test } from "vitest";
import { createKey } from "../../../src/accounts/api-keys.ts";
import { createAuthentication } from "../../../src/accounts/authenticate.ts";
import type { Store } from "../../../src/kit/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { openAt } from "../../store/redis/support.ts";
import { unique } from "../../store/support.ts";
import { describeRedis, redisOfSuite } from "../../support/redis.ts";
import { START, tokenSettings } from "../support.ts";
import { INVALID_TOKEN, outcome, SECRET, signInBench } from "./support.ts";

const EMAIL = "grace@example.com";

async function inMemory(): Promise<Store> {
  const store = await openStore("memory:", { serving: true, now: () => START });
  onTestFinished(async () => store.close());
  return store;
}

/** One process on a store. */
async function instance(store: Store) {
  const bench = await signInBench({ tokens: tokenSettings({ a: SECRET }) }, { store });
  const identities = createAuthentication({ store, tokens: bench.tokens, now: () => bench.clock.now });
  onTestFinished(() => identities.close());
  return { ...bench, identities };
}

/** @param open the same data for another instance. */
async function endSessions(open: () => Promise<Store>): Promise<unknown> {
  const here = await instance(await open());
  const there = await instance(await open());
  const laptop = await here.viaMail(EMAIL);
  const phone = await there.viaMail(EMAIL, "192.0.2.2");
  const stranger = await here.viaMail("other@example.com", "192.0.2.3");
  const { id } = laptop.body.user;
  const { body: key } = await createKey(here.store, { userId: id, name: "laptop" });
  const principalOf = (of: typeof here, session: typeof laptop) => of.identities.byToken(session.body.access_token);
  for (const session of [laptop, phone]) expect(await principalOf(there, session)).toMatchObject({ userId: id });

  expect(await here.store.endSessions(id)).toMatchObject({ id, sessions: 1 });
  for (const of of [here, there]) {
    for (const session of [laptop, phone]) {
      expect(await principalOf(of, session), "an access token issued before").toBeNull();
      await expect(of.signIn.refresh(session.refreshToken)).rejects.toMatchObject(INVALID_TOKEN);
    }
    expect(await of.identities.byKey(key.key), "API keys stay").toMatchObject({ userId: id });
    expect(await principalOf(of, stranger), "others stay").not.toBeNull();
  }
  expect((await here.signIn.refresh(stranger.refreshToken)).body.user.email).toBe("other@example.com");

  // At the very same moment by the clock.
  const again = await there.viaMail(EMAIL, "192.0.2.4");
  expect(await principalOf(here, again)).toMatchObject({ userId: id });
  const refreshed = await here.signIn.refresh(again.refreshToken);
  expect(await principalOf(there, refreshed)).toMatchObject({ userId: id });
  await there.store.endSessions(id);
  expect(await principalOf(here, refreshed)).toBeNull();
  return here.store.endSessions("user_nobody");
}

/** Whatever order the calls come in, nothing issued by a session that began before outlives the end. */
async function raceRefreshes(open: () => Promise<Store>): Promise<void> {
  const { store, signIn, viaMail, identities } = await instance(await open());
  const begun = [];
  for (let n = 0; n < 12; n++) begun.push(await viaMail(`u${n}@example.com`, `192.0.2.${n}`));
  const raced = await Promise.all(
    begun.map(async ({ refreshToken, body }, index) => {
      const refreshing = signIn.refresh(refreshToken).catch(() => null);
      for (let turn = 0; turn < index; turn++) await Promise.resolve();
      await store.endSessions(body.user.id);
      return refreshing;
    }),
  );
  for (const session of raced) {
    if (session === null) continue;
    expect(await identities.byToken(session.body.access_token)).toBeNull();
    expect(await outcome(signIn.refresh(session.refreshToken))).toBe("INVALID_TOKEN");
  }
}

test("all sessions of a user end at once, and signing in works at once", async () => {
  const store = await inMemory();
  expect(await endSessions(async () => store)).toBeNull();
});

test("a refresh under way gives nothing that works", async () => {
  const store = await inMemory();
  await expect(raceRefreshes(async () => store)).resolves.toBeUndefined();
});

describeRedis("on Redis", () => {
  const server = redisOfSuite();
  const opener = () => {
    const prefix = `${unique("sessions")}:`;
    return () => openAt(server.url, { prefix, clock: () => START });
  };

  test("all sessions of a user end at once on every instance", async () => {
    expect(await endSessions(opener())).toBeNull();
  });

  test("a refresh under way gives nothing that works", async () => {
    await expect(raceRefreshes(opener())).resolves.toBeUndefined();
  });
});
