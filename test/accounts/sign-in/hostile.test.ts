import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { SignIn } from "../../../src/accounts/sign-in/sign-in.ts";
import { GatewayError } from "../../../src/kit/index.ts";
import { TestIssuer } from "./issuer.ts";
import { signInBench } from "./support.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

const IP = "192.0.2.1";
const ORIGIN = "https://gateway.example";

const text = fc.oneof(fc.string({ unit: "binary" }), fc.string());
const value = fc.oneof(text, fc.anything());
const email = fc.oneof(value, fc.emailAddress(), fc.constant("ada@example.com"));
const code = fc.oneof(value, fc.stringMatching(/^[0-9]{6}$/));
const token = fc.oneof(value, fc.stringMatching(/^rt_[A-Za-z0-9_-]{43}$/));
const query = fc.dictionary(fc.constantFrom("code", "state", "error", "iss", "id_token", "response", "x"), text);
const url = fc.oneof(
  text,
  query.map((parameters) => `/callback?${new URLSearchParams(parameters).toString()}`),
);
const provider = fc.oneof(text, fc.constantFrom("corp", "__proto__", "toString"));

/** One call of the service with something that is no good. */
type Call = (signIn: SignIn, valid: string) => Promise<unknown>;

const calls: Readonly<Record<string, fc.Arbitrary<Call>>> = {
  "an address and a code": fc
    .record({ email, code })
    .map((given) => (signIn) => signIn.verifyCode({ ...given, ip: IP })),
  "a refresh token": token.map((given) => (signIn) => signIn.refresh(given)),
  "a callback and a cookie": fc
    .record({ provider, url, state: value })
    .map((given) => (signIn) => signIn.complete(given)),
  "a callback with a good cookie": url.map(
    (given) => (signIn, state) => signIn.complete({ provider: "corp", url: given, state }),
  ),
};

test.each(Object.entries(calls))(
  "%s: whatever it is, it is refused with a reason for the client",
  async (_, arbitrary) => {
    const issuer = await TestIssuer.start();
    const { signIn } = await signInBench({ oauth: { corp: issuer.provider() } });
    const { state } = await signIn.begin({ provider: "corp", redirectTo: null, origin: ORIGIN });
    await fc.assert(
      fc.asyncProperty(arbitrary, async (call) => {
        const error = await call(signIn, state).catch((error: unknown) => error);
        expect(error).toBeInstanceOf(GatewayError);
        expect([400, 401, 404, 429]).toContain((error as GatewayError).status);
      }),
      { numRuns: RUNS },
    );
  },
  PATIENCE,
);

test(
  "whatever a logout is given, it is done",
  async () => {
    const { signIn } = await signInBench();
    await fc.assert(
      fc.asyncProperty(token, async (given) => {
        expect(await signIn.logout(given)).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  },
  PATIENCE,
);
