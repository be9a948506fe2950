import { describe, expect, test, vi } from "vitest";
import { storeUnavailable } from "../../../src/kit/index.ts";
import { INVALID_CODE, OTHER_SECRET, outcome, SECRET, signInBench } from "./support.ts";
import { START, tokenSettings } from "../support.ts";

const EMAIL = "grace@example.com";
const IP = "192.0.2.1";
const OTHER_IP = "198.51.100.1";
const MINUTE = 60_000;

/** Some code that is not this one. */
function otherThan(code: string, by = 1): string {
  return String((Number(code) + by) % 1_000_000).padStart(6, "0");
}

describe("a sign-in code", () => {
  test("makes a session of a new user, with the tier and the credits of a sign-up", async () => {
    const { signIn, store, tokens, codeOf, clock } = await signInBench();
    await signIn.requestCode({ email: "Grace@Example.com", ip: IP });
    const code = codeOf(EMAIL);
    expect(code).toMatch(/^[0-9]{6}$/);
    const session = await signIn.verifyCode({ email: "GRACE@example.com", code, ip: IP });
    const user = (await store.findUser(EMAIL))!;
    expect(user).toMatchObject({ tier: "Lite", balance: 1_500_000_000n, granted: 1_500_000_000n });
    expect(session).toEqual({
      body: {
        access_token: expect.any(String),
        token_type: "Bearer",
        expires_in: 900,
        refresh_token: session.refreshToken,
        user: { id: user.id, email: EMAIL, plan_tier: "Lite" },
      },
      refreshToken: expect.stringMatching(/^rt_[A-Za-z0-9_-]{43}$/),
      refreshExpiresAt: clock.now + 86_400_000,
    });
    expect(await tokens.verify(session.body.access_token)).toMatchObject({ userId: user.id });
  });

  test("signs a known user in, as they are", async () => {
    const { viaMail, store } = await signInBench();
    await store.setTier("user_1", "Max");
    const { body } = await viaMail("ada@example.com");
    expect(body.user).toEqual({ id: "user_1", email: "ada@example.com", plan_tier: "Max" });
    expect((await store.findUser("user_1"))!.granted).toBe(0n);
    expect((await viaMail("ada@example.com")).body.user.id).toBe("user_1");
    expect(await store.listUsers()).toHaveLength(1);
  });

  test("is asked for in the same way whether or not the address has an account", async () => {
    const { signIn, store } = await signInBench();
    const looked = vi.spyOn(store, "findUser");
    expect(await signIn.requestCode({ email: "ada@example.com", ip: IP })).toBeUndefined();
    expect(await signIn.requestCode({ email: "nobody@example.com", ip: IP })).toBeUndefined();
    expect(looked).not.toHaveBeenCalled();
  });

  test("works once", async () => {
    const { viaMail, signIn, codeOf } = await signInBench();
    await viaMail(EMAIL);
    await expect(signIn.verifyCode({ email: EMAIL, code: codeOf(EMAIL), ip: IP })).rejects.toMatchObject(INVALID_CODE);
  });

  test.each([
    [10 * MINUTE - 1, true],
    [10 * MINUTE, false],
  ])("after %i ms it is good: %s", async (age, good) => {
    const { signIn, codeOf, clock } = await signInBench();
    await signIn.requestCode({ email: EMAIL, ip: IP });
    clock.now += age;
    expect(await outcome(signIn.verifyCode({ email: EMAIL, code: codeOf(EMAIL), ip: IP }))).toBe(
      good ? "session" : "INVALID_CODE",
    );
  });

  test.each([
    [4, true],
    [5, false],
  ])("after %i wrong tries it is good: %s", async (wrong, good) => {
    const { signIn, codeOf } = await signInBench();
    await signIn.requestCode({ email: EMAIL, ip: IP });
    const code = codeOf(EMAIL);
    for (let by = 1; by <= wrong; by++) {
      const guess = signIn.verifyCode({ email: EMAIL, code: otherThan(code, by), ip: IP });
      await expect(guess).rejects.toMatchObject(INVALID_CODE);
    }
    expect(await outcome(signIn.verifyCode({ email: EMAIL, code, ip: IP }))).toBe(good ? "session" : "INVALID_CODE");
  });

  test("that cannot be one costs no try", async () => {
    const { signIn, codeOf } = await signInBench();
    await signIn.requestCode({ email: EMAIL, ip: IP });
    const code = codeOf(EMAIL);
    for (const text of ["", "12345", "1234567", ` ${code}`, `${code}\n`, "abcdef", "１２３４５６", "x".repeat(1e6)]) {
      const guess = signIn.verifyCode({ email: EMAIL, code: text, ip: IP });
      await expect(guess).rejects.toMatchObject(INVALID_CODE);
    }
    await signIn.verifyCode({ email: EMAIL, code, ip: IP });
  });

  test("is replaced by a new one", async () => {
    const { signIn, codeOf } = await signInBench();
    await signIn.requestCode({ email: EMAIL, ip: IP });
    const first = codeOf(EMAIL);
    do await signIn.requestCode({ email: EMAIL, ip: IP });
    while (codeOf(EMAIL) === first);
    await expect(signIn.verifyCode({ email: EMAIL, code: first, ip: IP })).rejects.toMatchObject(INVALID_CODE);
    await signIn.verifyCode({ email: EMAIL, code: codeOf(EMAIL), ip: IP });
  });

  test("is good for its own address alone", async () => {
    const { signIn, codeOf } = await signInBench();
    const other = "eve@example.com";
    await signIn.requestCode({ email: EMAIL, ip: IP });
    do await signIn.requestCode({ email: other, ip: IP });
    while (codeOf(EMAIL) === codeOf(other));
    const swapped = signIn.verifyCode({ email: other, code: codeOf(EMAIL), ip: IP });
    await expect(swapped).rejects.toMatchObject(INVALID_CODE);
    const unknown = signIn.verifyCode({ email: "nobody@example.com", code: codeOf(EMAIL), ip: IP });
    await expect(unknown).rejects.toMatchObject(INVALID_CODE);
  });

  test("makes one session of a hundred tries at once", async () => {
    const { signIn, store, codeOf } = await signInBench();
    await signIn.requestCode({ email: EMAIL, ip: IP });
    const code = codeOf(EMAIL);
    const tries = Array.from({ length: 100 }, (_, n) =>
      signIn.verifyCode({ email: EMAIL, code, ip: `198.51.100.${n}` }),
    );
    const ended = await Promise.allSettled(tries);
    expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const failed = ended.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
    for (const reason of failed) expect(reason).toMatchObject(INVALID_CODE);
    expect(await store.listUsers()).toHaveLength(2);
  });

  test.each([
    ["its own client five count, and it is dead", () => IP, "INVALID_CODE"],
    ["forty others three count, and it is dead to others alone", (n: number) => `198.51.100.${n}`, "session"],
  ])("of wrong guesses at once by %s", async (_, ipOf, last) => {
    const { signIn, store, codeOf } = await signInBench();
    await signIn.requestCode({ email: EMAIL, ip: IP });
    const code = codeOf(EMAIL);
    const taken = vi.spyOn(store, "takeCode");
    const guesses = Array.from({ length: 40 }, (_, n) =>
      signIn.verifyCode({ email: EMAIL, code: otherThan(code, n + 1), ip: ipOf(n) }),
    );
    for (const end of await Promise.allSettled(guesses)) expect(end).toMatchObject({ reason: INVALID_CODE });
    expect(taken).toHaveBeenCalledTimes(40);
    const stranger = signIn.verifyCode({ email: EMAIL, code, ip: "203.0.113.1" });
    await expect(stranger).rejects.toMatchObject(INVALID_CODE);
    expect(await outcome(signIn.verifyCode({ email: EMAIL, code, ip: IP }))).toBe(last);
  });

  test("guesses of others do not kill it: its client keeps tries of its own", async () => {
    const { signIn, codeOf } = await signInBench();
    await signIn.requestCode({ email: EMAIL, ip: IP });
    const code = codeOf(EMAIL);
    for (let by = 1; by <= 40; by++) {
      const guess = signIn.verifyCode({ email: EMAIL, code: otherThan(code, by), ip: OTHER_IP });
      await expect(guess).rejects.toMatchObject(INVALID_CODE);
    }
    const wrong = signIn.verifyCode({ email: EMAIL, code: otherThan(code, 41), ip: IP });
    await expect(wrong).rejects.toMatchObject(INVALID_CODE);
    expect(await outcome(signIn.verifyCode({ email: EMAIL, code, ip: IP }))).toBe("session");
  });

  test("outlives the codes that others ask for, and its client can ask again", async () => {
    const { signIn, codeOf } = await signInBench();
    await signIn.requestCode({ email: EMAIL, ip: IP });
    const own = codeOf(EMAIL);
    for (let n = 0; n < 5; n++) await signIn.requestCode({ email: EMAIL, ip: OTHER_IP });
    expect(await outcome(signIn.requestCode({ email: EMAIL, ip: OTHER_IP }))).toBe("TOO_MANY_REQUESTS");
    expect(await outcome(signIn.verifyCode({ email: EMAIL, code: own, ip: IP }))).toBe("session");
    for (let n = 0; n < 4; n++) await signIn.requestCode({ email: EMAIL, ip: IP });
    expect(await outcome(signIn.verifyCode({ email: EMAIL, code: codeOf(EMAIL), ip: IP }))).toBe("session");
    expect(await outcome(signIn.requestCode({ email: EMAIL, ip: IP }))).toBe("TOO_MANY_REQUESTS");
  });

  test("is good from another network than the one it was asked for from", async () => {
    const { signIn, codeOf } = await signInBench();
    await signIn.requestCode({ email: EMAIL, ip: "2001:db8:1:2::1" });
    const code = codeOf(EMAIL);
    const wrong = signIn.verifyCode({ email: EMAIL, code: otherThan(code), ip: IP });
    await expect(wrong).rejects.toMatchObject(INVALID_CODE);
    expect(await outcome(signIn.verifyCode({ email: EMAIL, code, ip: IP }))).toBe("session");
  });

  test("reaches the store as a keyed digest", async () => {
    const { signIn, store, codeOf, reload } = await signInBench();
    const put = vi.spyOn(store, "putCode");
    const take = vi.spyOn(store, "takeCode");
    await signIn.requestCode({ email: EMAIL, ip: IP });
    const code = codeOf(EMAIL);
    expect(put).toHaveBeenCalledWith({
      email: EMAIL,
      digest: expect.any(Uint8Array),
      client: IP,
      expiresAt: START + 10 * MINUTE,
      tries: 5,
      triesOfOthers: 3,
    });
    const digests = [Buffer.from(put.mock.calls[0]![0].digest).toString("hex")];
    expect(digests[0]).toHaveLength(64);
    const digestWhen = async (email: string) => {
      await signIn.verifyCode({ email, code, ip: IP }).catch(() => {});
      digests.push(...take.mock.lastCall![2].map((digest) => Buffer.from(digest).toString("hex")));
    };
    await digestWhen("eve@example.com");
    reload({ tokens: tokenSettings({ b: OTHER_SECRET }) });
    await digestWhen(EMAIL);
    expect(new Set(digests).size, "by address and by secret").toBe(3);
  });

  test("on its way outlives a new first secret, and dies with its own", async () => {
    const { signIn, codeOf, reload } = await signInBench();
    await signIn.requestCode({ email: EMAIL, ip: IP });
    reload({ tokens: tokenSettings({ b: OTHER_SECRET, a: SECRET }) });
    expect(await signIn.verifyCode({ email: EMAIL, code: codeOf(EMAIL), ip: IP })).toMatchObject({ body: {} });
    await signIn.requestCode({ email: EMAIL, ip: IP });
    reload({ tokens: tokenSettings({ a: SECRET }) });
    const again = signIn.verifyCode({ email: EMAIL, code: codeOf(EMAIL), ip: IP });
    await expect(again).rejects.toMatchObject(INVALID_CODE);
  });

  test("costs one try a guess, however many secrets there are", async () => {
    const { signIn, codeOf, reload } = await signInBench();
    reload({ tokens: tokenSettings({ b: OTHER_SECRET, a: SECRET }) });
    await signIn.requestCode({ email: EMAIL, ip: IP });
    const code = codeOf(EMAIL);
    for (let guess = 1; guess <= 4; guess += 1) {
      const wrong = signIn.verifyCode({ email: EMAIL, code: otherThan(code, guess), ip: IP });
      await expect(wrong).rejects.toMatchObject(INVALID_CODE);
    }
    expect(await signIn.verifyCode({ email: EMAIL, code, ip: IP })).toMatchObject({ body: {} });
  });

  test("is not sent when it cannot be kept, and an absent store is no wrong code", async () => {
    const { signIn, store, log } = await signInBench();
    const away = { code: "STORE_UNAVAILABLE" };
    const put = vi.spyOn(store, "putCode").mockRejectedValue(storeUnavailable(null));
    await expect(signIn.requestCode({ email: EMAIL, ip: IP })).rejects.toMatchObject(away);
    expect(log.text).toBe("");
    put.mockRestore();
    vi.spyOn(store, "takeCode").mockRejectedValue(storeUnavailable(null));
    await expect(signIn.verifyCode({ email: EMAIL, code: "123456", ip: IP })).rejects.toMatchObject(away);
  });
});

describe("what is no request", () => {
  const BAD_EMAIL = { code: "INVALID_REQUEST", message: "Invalid request: /email must be an e-mail address" };
  const BAD_CODE = { code: "INVALID_REQUEST", message: "Invalid request: /code must be a string of 6 digits" };
  const email = [
    undefined,
    null,
    7,
    {},
    [EMAIL],
    "",
    "grace",
    `${EMAIL}\r\nBcc: eve@example.com`,
    "\u0430da@example.com",
  ];

  test.each(email)("an address that is %j", async (bad) => {
    const { signIn, store } = await signInBench();
    const counted = vi.spyOn(store, "throttle");
    await expect(signIn.requestCode({ email: bad, ip: IP })).rejects.toMatchObject(BAD_EMAIL);
    await expect(signIn.verifyCode({ email: bad, code: "123456", ip: IP })).rejects.toMatchObject(BAD_EMAIL);
    expect(counted, "nothing is counted").not.toHaveBeenCalled();
  });

  test.each([undefined, null, 123_456, ["123456"], {}])("a code that is %j", async (code) => {
    const { signIn, store } = await signInBench();
    const counted = vi.spyOn(store, "throttle");
    await expect(signIn.verifyCode({ email: EMAIL, code, ip: IP })).rejects.toMatchObject(BAD_CODE);
    expect(counted, "nothing is counted").not.toHaveBeenCalled();
  });
});
