import { describe, expect, test } from "vitest";
import { INVALID_CODE, outcome, signInBench } from "./support.ts";
import { START } from "../support.ts";

const EMAIL = "grace@example.com";
const IP = "192.0.2.1";
const OTHER_IP = "198.51.100.1";

function tooMany(seconds: number) {
  return {
    code: "TOO_MANY_REQUESTS",
    message: "Too many requests",
    details: { retryAfter: seconds, fields: { retry_after: seconds } },
  };
}

const address = (n: number): string => `user-${n}@example.com`;

/** How many of a hundred at once are served. */
async function hundred(ask: (n: number) => Promise<void>): Promise<number> {
  const requests = Array.from({ length: 100 }, (_, n) => ask(n));
  return (await Promise.allSettled(requests)).filter(({ status }) => status === "fulfilled").length;
}

describe("limits", () => {
  test("a client gets 5 codes an hour for an address", async () => {
    const { signIn, clock, codeOf } = await signInBench();
    clock.now = START + 90_500;
    for (let n = 0; n < 5; n++) await signIn.requestCode({ email: EMAIL, ip: IP });
    const last = codeOf(EMAIL);
    await expect(signIn.requestCode({ email: EMAIL.toUpperCase(), ip: IP })).rejects.toMatchObject(tooMany(3_510));
    await signIn.verifyCode({ email: EMAIL, code: last, ip: IP });
    clock.now = START + 3_599_999;
    await expect(signIn.requestCode({ email: EMAIL, ip: IP })).rejects.toMatchObject(tooMany(1));
    clock.now = START + 3_600_000;
    await signIn.requestCode({ email: EMAIL, ip: IP });
  });

  test("an address is sent 20 codes an hour, whoever asks", async () => {
    const { signIn, log, clock } = await signInBench();
    for (let n = 0; n < 40; n++) await outcome(signIn.requestCode({ email: EMAIL, ip: `198.51.100.${n % 8}` }));
    const sent = () => log.lines.filter((line) => line["email"] === EMAIL).length;
    expect(sent()).toBe(20);
    await expect(signIn.requestCode({ email: EMAIL, ip: IP })).rejects.toMatchObject(tooMany(3_600));
    clock.now += 3_600_000;
    await signIn.requestCode({ email: EMAIL, ip: IP });
    expect(sent()).toBe(21);
  });

  test("an hour's guesses at an address are compared a hundred times with its codes, however many guess", async () => {
    const { signIn, store, codeOf } = await signInBench();
    const codes: string[] = [];
    for (let n = 0; n < 20; n++) {
      await signIn.requestCode({ email: EMAIL, ip: `198.51.100.${n}` });
      codes.push(codeOf(EMAIL));
    }
    // Each client with a code guesses wrong until its own is dead; then everybody knows every code.
    const wrong = Array.from({ length: 21 }, (_, n) => String(n).padStart(6, "0")).find(
      (code) => !codes.includes(code),
    )!;
    for (let n = 0; n < 20; n++) {
      for (let guess = 0; guess < 5; guess++) {
        const tried = signIn.verifyCode({ email: EMAIL, code: wrong, ip: `198.51.100.${n}` });
        await expect(tried).rejects.toMatchObject(INVALID_CODE);
      }
    }
    for (const [n, code] of codes.entries()) {
      const known = signIn.verifyCode({ email: EMAIL, code, ip: `198.51.100.${n}` });
      await expect(known).rejects.toMatchObject(INVALID_CODE);
    }
    expect(await store.listUsers()).toHaveLength(1);
  });

  test.each([
    ["an IPv4 address", () => "192.0.2.7", "192.0.2.8"],
    ["an IPv6 /64", (n: number) => `2001:db8:1:2::${n.toString(16)}`, "2001:db8:1:3::1"],
  ])("%s gets 20 codes an hour; what is refused counts nowhere", async (_, ipOf, stranger) => {
    const { signIn, clock } = await signInBench();
    for (let n = 0; n < 20; n++) await signIn.requestCode({ email: address(n), ip: ipOf(n) });
    for (let n = 0; n < 10; n++) {
      await expect(signIn.requestCode({ email: EMAIL, ip: ipOf(n) })).rejects.toMatchObject(tooMany(3_600));
    }
    for (let n = 0; n < 5; n++) await signIn.requestCode({ email: EMAIL, ip: stranger });
    clock.now += 3_600_000;
    await signIn.requestCode({ email: EMAIL, ip: ipOf(0) });
  });

  test("hold for requests at once", async () => {
    const { signIn } = await signInBench();
    const ofAddress = hundred((n) => signIn.requestCode({ email: EMAIL, ip: `198.51.100.${n}` }));
    const ofClient = hundred((n) => signIn.requestCode({ email: address(n), ip: IP }));
    const ofBoth = hundred(() => signIn.requestCode({ email: "both@example.com", ip: OTHER_IP }));
    expect(await Promise.all([ofAddress, ofClient, ofBoth])).toEqual([20, 20, 5]);
  });

  test("a client gets 50 tries an hour over all addresses", async () => {
    const { signIn, codeOf, clock } = await signInBench();
    await signIn.requestCode({ email: EMAIL, ip: IP });
    for (let n = 0; n < 50; n++) {
      const guess = signIn.verifyCode({ email: address(n), code: "123456", ip: `2001:db8:1:2::${n}` });
      await expect(guess).rejects.toMatchObject(INVALID_CODE);
    }
    const right = { email: EMAIL, code: codeOf(EMAIL) };
    await expect(signIn.verifyCode({ ...right, ip: "2001:db8:1:2::ffff" })).rejects.toMatchObject(tooMany(3_600));
    await signIn.verifyCode({ ...right, ip: IP });
    clock.now += 3_600_000;
    const again = signIn.verifyCode({ ...right, ip: "2001:db8:1:2::ffff" });
    await expect(again).rejects.toMatchObject(INVALID_CODE);
  });
});
