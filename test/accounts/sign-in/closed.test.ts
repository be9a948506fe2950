import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type AuthSettings, decimal } from "../../../src/kit/index.ts";
import { SUBJECT, TestIssuer, visit } from "./issuer.ts";
import { INVALID_CODE, type SignInBench, signInBench } from "./support.ts";

const signup = (...domains: string[]): AuthSettings["signup"] => ({ tier: "Lite", credits: decimal("1.5"), domains });
const IP = "192.0.2.1";
/** There is an account of this address. */
const KNOWN = "ada@example.com";

/** Whether a code was sent once everything that follows the answer has happened. */
async function mails({ signIn, codeOf }: SignInBench, email: string): Promise<boolean> {
  await signIn.requestCode({ email, ip: IP });
  for (let turns = 0; turns < 10; turns += 1) await turn();
  try {
    return codeOf(email.toLowerCase()) !== "";
  } catch {
    return false;
  }
}

describe("by mail", () => {
  test.each([
    ["ann@example.org", true],
    ["ANN@Example.ORG", true],
    ["ann@other.org", true],
    ["ann@sub.example.org", false],
    ["ann@xexample.org", false],
    ["ann@example.org.evil.net", false],
    ["ann@org", false],
    [KNOWN, true],
  ])("with domains, %s gets a mail: %s", async (email, expected) => {
    expect(await mails(await signInBench({ signup: signup("example.org", "other.org") }), email)).toBe(expected);
  });

  test("off: only who has an account gets one", async () => {
    const bench = await signInBench({ signup: signup() });
    expect([await mails(bench, "ann@example.org"), await mails(bench, KNOWN)]).toEqual([false, true]);
    const { body } = await bench.signIn.verifyCode({ email: KNOWN, code: bench.codeOf(KNOWN), ip: IP });
    expect(body.user.email).toBe(KNOWN);
  });

  test("what the answer waits for is the same for a newcomer and a user", async () => {
    const bench = await signInBench({ signup: signup() });
    const asked: string[] = [];
    for (const name of ["throttle", "putCode", "findUser"] as const) {
      const ask = bench.store[name] as (...args: unknown[]) => unknown;
      Object.assign(bench.store, { [name]: (...args: unknown[]) => (asked.push(name), ask(...args)) });
    }
    const before: string[][] = [];
    for (const email of ["ann@example.org", KNOWN]) {
      await bench.signIn.requestCode({ email, ip: IP });
      before.push(asked.splice(0));
      await turn();
      expect(asked.splice(0)).toEqual(["findUser"]);
    }
    expect(before).toEqual([
      ["throttle", "putCode"],
      ["throttle", "putCode"],
    ]);
  });

  test("a code from before it was closed makes no user, and is answered as a wrong one", async () => {
    const bench = await signInBench();
    await bench.signIn.requestCode({ email: "ann@example.org", ip: IP });
    bench.reload({ signup: signup("example.com") });
    const code = bench.codeOf("ann@example.org");
    await expect(bench.signIn.verifyCode({ email: "ann@example.org", code, ip: IP })).rejects.toMatchObject(
      INVALID_CODE,
    );
    expect(await bench.store.listUsers()).toHaveLength(1);
  });
});

async function atProvider(email: string) {
  const issuer = await TestIssuer.start();
  issuer.claims = { ...issuer.claims, email, email_verified: true };
  const bench = await signInBench({ oauth: { corp: issuer.provider({}) } });
  const signIn = async () => {
    const { location, state } = await bench.signIn.begin({
      provider: "corp",
      redirectTo: "/",
      origin: "https://g.example",
    });
    const { href: url } = await visit(location);
    return bench.signIn.complete({ provider: "corp", url, state });
  };
  return { bench, issuer, signIn };
}

describe("through an identity provider", () => {
  const CLOSED = { code: "SIGN_UP_CLOSED", status: 403 };

  test("a newcomer is refused, one of a named domain and a user are not", async () => {
    const newcomer = await atProvider("grace@example.org");
    newcomer.bench.reload({ signup: signup("example.com") });
    await expect(newcomer.signIn()).rejects.toMatchObject(CLOSED);
    expect(await newcomer.bench.store.listUsers()).toHaveLength(1);
    newcomer.bench.reload({ signup: signup("example.org") });
    expect((await newcomer.signIn()).session.body.user.email).toBe("grace@example.org");
    // Whoever has signed up stays, by the identity alone.
    newcomer.bench.reload({ signup: signup() });
    expect((await newcomer.signIn()).session.body.user.email).toBe("grace@example.org");
    expect(await newcomer.bench.store.findIdentity(newcomer.issuer.url, SUBJECT)).not.toBeNull();
    const user = await atProvider(KNOWN);
    user.bench.reload({ signup: signup() });
    expect((await user.signIn()).session.body.user.email).toBe(KNOWN);
  });
});
