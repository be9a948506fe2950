import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { UpstreamRequest } from "../../../src/dialects/dialect.ts";
import { gemini } from "../../../src/dialects/gemini/index.ts";
import { AttemptError } from "../../../src/kit/index.ts";
import { isGoogleCredentials } from "../../../src/upstream/signing/google.ts";
import { Signer } from "../../../src/upstream/signing/signer.ts";
import { call, target } from "../support/build.ts";
import {
  issue,
  respond,
  serviceAccount,
  startTokenEndpoint,
  type TokenAnswer,
  type TokenEndpoint,
} from "./endpoint.ts";

const MINUTE = 60_000;

const { cache } = createRequire(import.meta.url);
const isLoaded = (): boolean => Object.keys(cache).some((path) => path.includes("/google-auth-library/"));

async function endpoint(answer: TokenAnswer): Promise<TokenEndpoint> {
  const started = await startTokenEndpoint(answer);
  onTestFinished(() => started.close());
  return started;
}

interface Asking {
  readonly now?: number;
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

async function sign(signer: Signer, apiKey: string, asking: Asking = {}): Promise<UpstreamRequest> {
  const { now = Date.now(), signal = new AbortController().signal, timeout = 10_000, headers } = asking;
  const written = gemini.codecs.chat!.request(call(), target({ model: "gemini-2.5-flash" }), apiKey);
  const request = { ...written, headers: { ...written.headers, ...headers } };
  return signer.sign({ dialect: gemini, request, host: "h", apiKey, now, signal, timeout });
}

async function refusal(signing: Promise<UpstreamRequest>): Promise<AttemptError> {
  const error = await signing.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AttemptError)) throw new Error("no AttemptError was thrown");
  return error;
}

test.each([
  ["AIzaSyA-key", false],
  ["ya29.token", false],
  ["", false],
  ["application-default", true],
  ['\n {"type":"service_account"}', true],
])("%j is credentials: %j", (key, is) => {
  expect(isGoogleCredentials(key)).toBe(is);
});

test("the library is loaded with the first of Google's credentials", async () => {
  await sign(new Signer(), "AIzaSyA-key");
  expect(isLoaded()).toBe(false);
  const { url } = await endpoint((response) => issue(response, "token-1"));
  await sign(new Signer(), serviceAccount(url));
  expect(isLoaded()).toBe(true);
});

describe("a service account", () => {
  test("signs an assertion with its own key and sends the token it gets for it, and nothing else of the key", async () => {
    const { requests, url } = await endpoint((response) => issue(response, "token-1"));
    const key = serviceAccount(url);
    const { headers, path, body } = await sign(new Signer(), key, { headers: { "x-team": "a" } });
    expect(headers).toEqual({
      "content-type": "application/json",
      accept: "application/json",
      "x-team": "a",
      authorization: "Bearer token-1",
    });
    expect(JSON.stringify([headers, path, body])).not.toContain("PRIVATE KEY");
    expect(requests).toHaveLength(1);
    const [{ form, claims, algorithm } = { form: null, claims: null, algorithm: null }] = requests;
    expect(form?.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    expect(algorithm).toBe("RS256");
    expect(claims).toMatchObject({
      iss: "gateway@p1.iam.gserviceaccount.com",
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: url,
    });
    expect(Number(claims?.["exp"]) - Number(claims?.["iat"])).toBe(3600);
  });

  test("of another project for the bill names it", async () => {
    const { url } = await endpoint((response) => issue(response, "token-1"));
    const { headers } = await sign(new Signer(), serviceAccount(url, { quota_project_id: "payer" }));
    expect(headers["x-goog-user-project"]).toBe("payer");
  });

  test("gets one token for requests at the same time, and keeps it", async () => {
    const { requests, url } = await endpoint((response, _request, index) => issue(response, `token-${index}`));
    const signer = new Signer();
    const key = serviceAccount(url);
    const together = await Promise.all(Array.from({ length: 20 }, () => sign(signer, key)));
    expect(new Set(together.map(({ headers }) => headers["authorization"]))).toEqual(new Set(["Bearer token-1"]));
    expect((await sign(signer, key, { now: Date.now() + 54 * MINUTE })).headers["authorization"]).toBe(
      "Bearer token-1",
    );
    expect(requests).toHaveLength(1);
  });

  test("has a token of its own beside another account", async () => {
    const { url } = await endpoint((response, { claims }) => issue(response, `of ${String(claims?.["iss"])}`));
    const signer = new Signer();
    const keys = ["a", "b"].map((name) => serviceAccount(url, { client_email: name }));
    const sent = await Promise.all(keys.map((key) => sign(signer, key)));
    expect(sent.map(({ headers }) => headers["authorization"])).toEqual(["Bearer of a", "Bearer of b"]);
  });
});

describe("a token about to end", () => {
  // The library goes by the machine's clock: these live for less than the five minutes in which it renews.
  test("is renewed while requests go on with it, once for all of them", async () => {
    const held: (() => void)[] = [];
    const { requests, url, came } = await endpoint((response, _request, index) => {
      if (index === 1) issue(response, "token-1", 240);
      else held.push(() => issue(response, `token-${index}`, 3600));
    });
    const signer = new Signer();
    const key = serviceAccount(url);
    await sign(signer, key);
    const during = await Promise.all([sign(signer, key), sign(signer, key)]);
    expect(during.map(({ headers }) => headers["authorization"])).toEqual(["Bearer token-1", "Bearer token-1"]);
    await came(2);
    // One that has no time left waits for the new one.
    const late = sign(signer, key, { now: Date.now() + 4 * MINUTE });
    held[0]!();
    expect((await late).headers["authorization"]).toBe("Bearer token-2");
    expect((await sign(signer, key)).headers["authorization"]).toBe("Bearer token-2");
    expect(requests).toHaveLength(2);
  });

  test("serves on when it cannot be renewed yet", async () => {
    const { url, came } = await endpoint((response, _request, index) =>
      index === 1 ? issue(response, "token-1", 240) : respond(response, 503, {}),
    );
    const signer = new Signer();
    const key = serviceAccount(url);
    await sign(signer, key);
    expect((await sign(signer, key)).headers["authorization"]).toBe("Bearer token-1");
    await came(2);
    const error = await refusal(sign(signer, key, { now: Date.now() + 4 * MINUTE }));
    expect(error.failure).toBe("status");
  });
});

describe("no token", () => {
  const SECRETS = /PRIVATE KEY|assertion|gateway@p1|ey[A-Z]/;

  function expectHarmless(error: AttemptError): void {
    expect(error.cause).toBeUndefined();
    expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(SECRETS);
  }

  test.each([
    [400, { error: "invalid_grant", error_description: "Invalid JWT" }, "credentials", " (invalid_grant)"],
    [401, { error: "invalid_client" }, "credentials", " (invalid_client)"],
    [403, { error: { message: "gateway@p1 may not" } }, "credentials", ""],
    [404, "not found", "credentials", ""],
    [400, { error: "the assertion eyJhbGci was bad" }, "credentials", ""],
  ] as const)("refused with %d %j", async (status, body, failure, said) => {
    const { url, requests } = await endpoint((response) => respond(response, status, body));
    const error = await refusal(sign(new Signer(), serviceAccount(url)));
    expect([error.failure, error.message]).toEqual([failure, `Google refused the gateway's credentials${said}`]);
    // No status: 404 would be taken for the model's, 401 for the client's.
    expect(error.status).toBe(0);
    expect(requests).toHaveLength(1);
    expectHarmless(error);
  });

  test.each([408, 429, 500, 503])("because of an answer %d, which is not asked again here", async (status) => {
    const { url, requests } = await endpoint((response) => respond(response, status, { error: "unavailable" }));
    const error = await refusal(sign(new Signer(), serviceAccount(url)));
    expect([error.failure, error.message]).toEqual(["status", `Google's token endpoint answered ${status}`]);
    expect(requests).toHaveLength(1);
    expectHarmless(error);
  });

  test.each([{}, { access_token: "" }, { access_token: 7 }, [], null])("in the answer %j", async (body) => {
    const { url } = await endpoint((response) => respond(response, 200, body));
    const error = await refusal(sign(new Signer(), serviceAccount(url)));
    expect(error.failure).toBe("credentials");
    expectHarmless(error);
  });

  test("where nobody answers", async () => {
    const { url, close } = await startTokenEndpoint(() => undefined);
    await close();
    const error = await refusal(sign(new Signer(), serviceAccount(url)));
    expect([error.failure, error.message]).toEqual(["connect", "Google's token endpoint could not be reached"]);
    expectHarmless(error);
  });

  test.each([
    '{"type":',
    "{}",
    '{"type":"authorized_user"}',
    '{"type":"service_account","client_email":"gateway@p1","private_key":"eyJ no key"}',
  ])("for the credentials %j", async (key) => {
    const error = await refusal(sign(new Signer(), key));
    expect([error.failure, error.message]).toEqual(["credentials", "the gateway's Google credentials cannot be used"]);
    expectHarmless(error);
  });

  test("and the next request asks anew", async () => {
    const { url } = await endpoint((response, _request, index) =>
      index === 1 ? respond(response, 503, {}) : issue(response, "token-2"),
    );
    const signer = new Signer();
    await refusal(sign(signer, serviceAccount(url)));
    expect((await sign(signer, serviceAccount(url))).headers["authorization"]).toBe("Bearer token-2");
  });
});

describe("waiting for a token", () => {
  test("ends with the request's timeout, while others go on waiting", async () => {
    const held: (() => void)[] = [];
    const { url, came, requests } = await endpoint((response) => held.push(() => issue(response, "token-1")));
    const signer = new Signer();
    const key = serviceAccount(url);
    const patient = sign(signer, key);
    const error = await refusal(sign(signer, key, { timeout: 0 }));
    expect(error.failure).toBe("timeout");
    await came(1);
    held[0]!();
    expect((await patient).headers["authorization"]).toBe("Bearer token-1");
    expect(requests).toHaveLength(1);
  });

  test.each(["before", "while"])("ends when the client goes away, %s", async (when) => {
    const { url, came } = await endpoint(() => undefined);
    const controller = new AbortController();
    if (when === "before") controller.abort();
    const error = refusal(sign(new Signer(), serviceAccount(url), { signal: controller.signal }));
    if (when === "while") {
      await came(1);
      controller.abort();
    }
    expect((await error).failure).toBe("aborted");
  });
});

describe("the machine's own credentials", () => {
  afterEach(() => vi.unstubAllEnvs());

  test("come from its metadata server", async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.setHeader("metadata-flavor", "Google");
      if (request.url?.includes("/token") === true) issue(response, "token-of-the-machine");
      else response.end("p1");
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    vi.stubEnv("GCE_METADATA_HOST", `127.0.0.1:${(server.address() as AddressInfo).port}`);
    vi.stubEnv("METADATA_SERVER_DETECTION", "assume-present");
    vi.stubEnv("HOME", "/nowhere");
    const signer = new Signer();
    for (let request = 0; request < 2; request += 1) {
      const { headers } = await sign(signer, "application-default");
      expect(headers["authorization"]).toBe("Bearer token-of-the-machine");
      expect(headers).not.toHaveProperty("x-goog-api-key");
    }
    expect(asked.filter((url) => url.includes("/token"))).toHaveLength(1);
  });

  test("that are not there", async () => {
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json");
    const error = await refusal(sign(new Signer(), "application-default"));
    expect([error.failure, error.message]).toEqual(["credentials", "the gateway's Google credentials cannot be used"]);
  });
});

describe("keys of other kinds", () => {
  const other = { host: "h", now: 0, signal: new AbortController().signal, timeout: 0 };

  test.each([
    ["AIzaKey", { "x-goog-api-key": "AIzaKey" }],
    ["ya29.token", { authorization: "Bearer ya29.token" }],
  ])("%s is sent as it is", async (apiKey, sent) => {
    const request = gemini.probe(apiKey);
    const signed = await new Signer().sign({ ...other, dialect: gemini, request, apiKey });
    expect(signed).toBe(request);
    expect(signed.headers).toMatchObject(sent);
  });

  test("Google's credentials at another dialect are a key like any other", () => {
    const request: UpstreamRequest = { method: "POST", path: "/x", headers: {}, body: "{}" };
    expect(new Signer().sign({ ...other, dialect: {}, request, apiKey: "{}" })).toBe(request);
  });
});
