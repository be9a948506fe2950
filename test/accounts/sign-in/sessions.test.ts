import { setTimeout as pause } from "node:timers/promises";
import { decodeJwt } from "jose";
import { describe, expect, test, vi } from "vitest";
import type { Session } from "../../../src/accounts/sign-in/sign-in.ts";
import { digest } from "../../../src/accounts/api-keys.ts";
import { storeUnavailable } from "../../../src/kit/index.ts";
import { START, tokenSettings } from "../support.ts";
import { INVALID_TOKEN, OTHER_SECRET, SECRET, outcome, signInBench } from "./support.ts";

const DAY = 86_400_000;
const EMAIL = "ada@example.com";
const NO_TOKENS = [undefined, null, 7, {}, [], "", "rt_", `rt_${"a".repeat(42)}`, `rt_${"a".repeat(44)}`];
const MISSHAPEN = [
  ...NO_TOKENS,
  `rt_${"a".repeat(42)}+`,
  `rk_${"a".repeat(64)}`,
  `rt_${"a".repeat(43)}\n`,
  "x".repeat(1e6),
];
const UNKNOWN = `rt_${"a".repeat(43)}`;

async function signedIn(more: Parameters<typeof signInBench>[1] = {}) {
  const bench = await signInBench({}, more);
  const session = await bench.viaMail(EMAIL);
  const refreshed = (token: string) => outcome(bench.signIn.refresh(token));
  return { ...bench, first: session.refreshToken, session, refreshed };
}

describe("a user who is disabled", () => {
  test("gets no session, and is told why; one who is enabled again does", async () => {
    const { signIn, store, first, viaMail } = await signedIn();
    await store.setDisabled("user_1", true);
    await expect(signIn.refresh(first)).rejects.toMatchObject({
      code: "INVALID_TOKEN",
      message: "This account is disabled",
    });
    await expect(viaMail(EMAIL)).rejects.toMatchObject({ code: "INVALID_CODE", message: "This account is disabled" });
    await store.setDisabled("user_1", false);
    expect((await viaMail(EMAIL)).body.user).toMatchObject({ id: "user_1" });
  });
});

describe("a refresh", () => {
  test("gives a new access and a new refresh token, of the user as stored", async () => {
    const { signIn, store, tokens, first, session, clock } = await signedIn();
    await store.setTier("user_1", "Max");
    clock.now += 1_000;
    const second = await signIn.refresh(first);
    expect(second.refreshToken).toMatch(/^rt_[A-Za-z0-9_-]{43}$/);
    expect(second.refreshToken).not.toBe(first);
    expect(second.body).toEqual({
      access_token: expect.any(String),
      token_type: "Bearer",
      expires_in: 900,
      refresh_token: second.refreshToken,
      user: { id: "user_1", email: EMAIL, plan_tier: "Max" },
    });
    expect(decodeJwt(second.body.access_token)).toMatchObject({ sub: "user_1", plan: "Max" });
    expect(await tokens.verify(second.body.access_token)).toMatchObject({ userId: "user_1" });
    expect(second.refreshExpiresAt, "does not move").toBe(session.refreshExpiresAt);
  });

  test("goes on for as long as the family lives, and not a moment longer", async () => {
    const { signIn, clock, first, refreshed } = await signedIn();
    let token = first;
    for (const at of [0.25, 0.5, 0.75]) {
      clock.now = START + at * DAY;
      token = (await signIn.refresh(token)).refreshToken;
    }
    clock.now = START + DAY - 1;
    token = (await signIn.refresh(token)).refreshToken;
    clock.now = START + DAY;
    expect(await refreshed(token)).toBe("INVALID_TOKEN");
  });

  test("with a token that was used up kills its family, and no other", async () => {
    const { signIn, viaMail, first, refreshed } = await signedIn();
    const elsewhere = await viaMail(EMAIL);
    const { refreshToken: second } = await signIn.refresh(first);
    const { refreshToken: third } = await signIn.refresh(second);
    expect(await refreshed(first)).toBe("INVALID_TOKEN");
    for (const token of [first, second, third]) expect(await refreshed(token)).toBe("INVALID_TOKEN");
    await signIn.refresh(elsewhere.refreshToken);
  });

  test("with the token just followed, at the very moment its successor is known, kills the family", async () => {
    const { signIn, first, refreshed } = await signedIn();
    const { refreshToken: second } = await signIn.refresh(first);
    expect(await refreshed(first)).toBe("INVALID_TOKEN");
    expect(await refreshed(second)).toBe("INVALID_TOKEN");
  });

  test("the same in real time", async () => {
    const { signIn, first, refreshed } = await signedIn({ now: Date.now, sleep: pause });
    const [second, twin] = await Promise.all([signIn.refresh(first), signIn.refresh(first)]);
    expect(twin.refreshToken).toBe(second.refreshToken);
    expect(await refreshed(first)).toBe("INVALID_TOKEN");
    expect(await refreshed(second.refreshToken)).toBe("INVALID_TOKEN");
  });

  test("a hundred times at once agrees on one successor, which nobody has before the grace is over", async () => {
    const released = Promise.withResolvers<void>();
    const sleep = vi.fn<(milliseconds: number) => Promise<void>>(() => released.promise);
    const { signIn, clock, first, refreshed } = await signedIn({ sleep });
    const answered: Session[] = [];
    const refreshes = Array.from({ length: 100 }, async () => answered.push(await signIn.refresh(first)));
    await vi.waitUntil(() => sleep.mock.calls.length === 100);
    expect(answered).toEqual([]);
    const [[held]] = sleep.mock.calls as [[number]];
    expect(held).toBeGreaterThan(250);
    clock.now += held;
    released.resolve();
    await Promise.all(refreshes);
    expect(new Set(answered.map(({ refreshToken }) => refreshToken)).size).toBe(1);
    expect(new Set(answered.map(({ body }) => body.access_token)).size).toBe(100);
    const { refreshToken: next } = await signIn.refresh(answered[0]!.refreshToken);
    expect(await refreshed(first)).toBe("INVALID_TOKEN");
    expect(await refreshed(next)).toBe("INVALID_TOKEN");
  });

  test.each(MISSHAPEN)("of %j does not reach the store", async (token) => {
    const { signIn, store } = await signedIn();
    const rotated = vi.spyOn(store, "rotate");
    const ended = vi.spyOn(store, "endFamily");
    await expect(signIn.refresh(token)).rejects.toMatchObject(INVALID_TOKEN);
    await signIn.logout(token);
    expect(rotated).not.toHaveBeenCalled();
    expect(ended).not.toHaveBeenCalled();
  });

  test("of a token that nobody gave out is refused", async () => {
    const { refreshed } = await signedIn();
    expect(await refreshed(UNKNOWN)).toBe("INVALID_TOKEN");
  });

  test("outlives a rotation of the secrets", async () => {
    const { signIn, reload, first, tokens } = await signedIn();
    reload({ tokens: tokenSettings({ b: OTHER_SECRET, a: SECRET }) });
    const { refreshToken: second } = await signIn.refresh(first);
    reload({ tokens: tokenSettings({ b: OTHER_SECRET }) });
    const { body } = await signIn.refresh(second);
    expect(await tokens.verify(body.access_token)).toMatchObject({ userId: "user_1" });
  });

  test("keeps digests alone", async () => {
    const { signIn, store, viaMail } = await signInBench();
    const added = vi.spyOn(store, "addFamily");
    const rotated = vi.spyOn(store, "rotate");
    const { refreshToken: first } = await viaMail(EMAIL);
    const { refreshToken: second } = await signIn.refresh(first);
    expect(added).toHaveBeenCalledWith({
      id: expect.stringMatching(/^family_[A-Za-z0-9_-]{24}$/),
      userId: "user_1",
      digest: digest(first),
      expiresAt: START + DAY,
    });
    expect(rotated).toHaveBeenCalledWith({ digest: digest(first), successor: digest(second), grace: 250 });
  });

  test("while the store is away is no bad token", async () => {
    const { signIn, store, first } = await signedIn();
    const away = vi.spyOn(store, "rotate").mockRejectedValue(storeUnavailable(null));
    await expect(signIn.refresh(first)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    away.mockRestore();
    await signIn.refresh(first);
  });
});

describe("a logout", () => {
  test("ends its family, and no other", async () => {
    const { signIn, viaMail, first, refreshed } = await signedIn();
    const elsewhere = await viaMail(EMAIL);
    await signIn.logout(first);
    expect(await refreshed(first)).toBe("INVALID_TOKEN");
    await signIn.logout(first);
    await signIn.refresh(elsewhere.refreshToken);
  });

  test("with a token that was used up ends the family too", async () => {
    const { signIn, first, refreshed } = await signedIn();
    const { refreshToken: second } = await signIn.refresh(first);
    await signIn.logout(first);
    expect(await refreshed(second)).toBe("INVALID_TOKEN");
  });

  test("of a token that nobody gave out changes nothing", async () => {
    const { signIn, first } = await signedIn();
    await signIn.logout(UNKNOWN);
    expect((await signIn.refresh(first)).body.user.id).toBe("user_1");
  });
});
