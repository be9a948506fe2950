import { describe, expect, test } from "vitest";
import auth from "../../plugins/auth.ts";
import {
  type ClientRequest,
  type Credentials,
  type Identities,
  type Principal,
  storeUnavailable,
} from "../../src/kit/index.ts";
import { pluginHost, setUp } from "./harness.ts";

const ann: Principal = { userId: "ann", tier: "Free", keyId: "key_1" };
const byKey = (secret: string): Principal | null => (secret === "rk_good" ? ann : null);
const identities: Identities = {
  byKey,
  presume: byKey,
  confirm: () => true,
  forget() {},
  byToken: async (token) => (token === "good" ? { ...ann, keyId: null } : null),
};
const away = (): never => {
  throw storeUnavailable(new Error("away"));
};
const request = (credentials: Credentials): ClientRequest => ({
  requestId: "r",
  credentials,
  ip: "127.0.0.1",
  endpoint: "chat",
});

async function identify(credentials: Credentials, known = identities): Promise<unknown> {
  const hooks = await setUp(auth, {}, await pluginHost({ identities: known }));
  return hooks.identify!(request(credentials));
}

describe("identify", () => {
  test("a known key is its user", async () => {
    expect(await identify({ kind: "key", value: "rk_good" })).toEqual(ann);
  });

  test("no credentials are nobody: another plugin may know", async () => {
    expect(await identify({ kind: "none" })).toBeNull();
  });

  test.each([
    [{ kind: "key", value: "rk_bad" }, "AUTHENTICATION_ERROR", "Invalid API key"],
    [{ kind: "key", value: "" }, "AUTHENTICATION_ERROR", "Invalid API key"],
    [{ kind: "token", value: "bad" }, "INVALID_TOKEN", "Invalid or expired token"],
    [{ kind: "token", value: "good" }, "AUTHENTICATION_ERROR", "Authentication failed"],
  ] as const)("%j", async (credentials, code, message) => {
    await expect(identify(credentials)).rejects.toMatchObject({ code, message });
  });

  test.each(["key", "token"] as const)(
    "a store that is away while a %s is looked up is 503, never 401",
    async (kind) => {
      await expect(
        identify({ kind, value: "rk_good" }, { ...identities, presume: away, byToken: away }),
      ).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
      });
    },
  );
});
