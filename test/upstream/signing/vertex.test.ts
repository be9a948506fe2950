import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { gemini } from "../../../src/dialects/gemini/index.ts";
import { anthropic } from "../../../src/dialects/messages/index.ts";
import { AttemptError, type Log, type Reply } from "../../../src/kit/index.ts";
import { createUpstreams, type UpstreamSet } from "../../../src/upstream/upstreams.ts";
import { call, exchange, failure, snapshot, target, until, upstream } from "../support/build.ts";
import { issue, respond, serviceAccount, startTokenEndpoint, type TokenEndpoint } from "./endpoint.ts";

const MESSAGE = {
  id: "msg_vrtx_1",
  type: "message",
  role: "assistant",
  content: [{ type: "text", text: "hello" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
};
const ANSWER = {
  candidates: [{ content: { role: "model", parts: [{ text: "hello" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
};

interface Seen {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly key: string | undefined;
}

const seen: Seen[] = [];
/** What the provider takes. */
let good = "Bearer token-1";
const provider = createServer((request, response) => {
  const { authorization, "x-goog-api-key": key } = request.headers;
  seen.push({ url: request.url ?? "", authorization, key: typeof key === "string" ? key : undefined });
  const answer = request.url?.includes("/publishers/anthropic/") ? MESSAGE : ANSWER;
  request.resume();
  request.on("end", () => respond(response, authorization === good ? 200 : 401, authorization === good ? answer : {}));
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
afterAll(() => {
  provider.close();
  provider.closeAllConnections();
});

let tokens: TokenEndpoint;
let granted = true;
const logged: unknown[] = [];
const keep = (...said: unknown[]): void => void logged.push(said);
const log: Log = { debug: keep, info: keep, warn: keep, error: keep };

beforeEach(async () => {
  seen.length = 0;
  logged.length = 0;
  good = "Bearer token-1";
  granted = true;
  tokens = await startTokenEndpoint((response, _request, index) =>
    granted ? issue(response, `token-${index}`) : respond(response, 400, { error: "invalid_grant" }),
  );
  onTestFinished(() => tokens.close());
});

function leased(
  baseUrl: string,
  otherKeys: readonly string[] = [],
  dialect: "gemini" | "anthropic" = "gemini",
): Promise<UpstreamSet> {
  const registry = createUpstreams({ dialects: { gemini, anthropic }, now: Date.now, log });
  onTestFinished(() => registry.close());
  const keys = [serviceAccount(tokens.url), ...otherKeys];
  return registry.lease(snapshot(upstream(baseUrl, { dialect, keys })));
}

function send(set: UpstreamSet, model: string, stream = false): Promise<Reply> {
  return set.send(target({ model }), call({ stream }), exchange());
}

const PUBLISHER = "/projects/p1/locations/europe-west4/publishers/google";

describe("Vertex AI", () => {
  test.each([
    [`/v1${PUBLISHER}`, "gemini-2.5-flash", `/v1${PUBLISHER}/models/gemini-2.5-flash:generateContent`],
    [`/v1beta1${PUBLISHER}/`, "gemini-2.5-flash", `/v1beta1${PUBLISHER}/models/gemini-2.5-flash:generateContent`],
    ["/v1", `${PUBLISHER.slice(1)}/models/gemini-2.5-flash`, `/v1${PUBLISHER}/models/gemini-2.5-flash:generateContent`],
    ["", "gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:generateContent"],
  ])("%s with the model %s: %s", async (base, model, path) => {
    await send(await leased(origin + base), model);
    expect(seen).toEqual([{ url: path, authorization: "Bearer token-1", key: undefined }]);
  });

  test("streams under the same path", async () => {
    await failure(send(await leased(`${origin}/v1${PUBLISHER}`), "m", true));
    expect(seen[0]?.url).toBe(`/v1${PUBLISHER}/models/m:streamGenerateContent?alt=sse`);
  });
});

describe("Claude on Vertex AI", () => {
  const CLAUDE = "/projects/p1/locations/global/publishers/anthropic";

  test.each([
    [`/v1${CLAUDE}`, "claude-sonnet-4-5@20250929", `/v1${CLAUDE}/models/claude-sonnet-4-5@20250929:rawPredict`],
    [`/proxy/v1${CLAUDE}/`, "claude-opus-4-6", `/proxy/v1${CLAUDE}/models/claude-opus-4-6:rawPredict`],
  ])("%s with the model %s: %s", async (base, model, path) => {
    const reply = await send(await leased(origin + base, [], "anthropic"), model);
    expect(reply).toMatchObject({ type: "answer", usage: { prompt: 1, completion: 1 } });
    expect(seen).toEqual([{ url: path, authorization: "Bearer token-1", key: undefined }]);
  });

  test("streams by a method of their own", async () => {
    await failure(send(await leased(`${origin}/v1${CLAUDE}`, [], "anthropic"), "m", true));
    expect(seen[0]?.url).toBe(`/v1${CLAUDE}/models/m:streamRawPredict`);
  });

  test("a token that was fetched by others is sent as it is", async () => {
    granted = false;
    good = "Bearer ya29.plain";
    const set = await leased(`${origin}/v1${CLAUDE}`, ["ya29.plain"], "anthropic");
    expect((await send(set, "m")).type).toBe("answer");
  });

  test("at Anthropic's own API the same text would be a key: it is sent nowhere as a token", async () => {
    await failure(send(await leased(origin, [], "anthropic"), "m"));
    expect(tokens.requests).toHaveLength(0);
  });
});

test("one token serves every configuration, request and probe", async () => {
  const registry = createUpstreams({ dialects: { gemini }, now: Date.now, random: () => 0, log });
  onTestFinished(() => registry.close());
  const keys = [serviceAccount(tokens.url)];
  const probe = { every: 3_600_000, timeout: 5_000 };
  const probes = (): number => seen.filter(({ url }) => url === "/v1beta/models").length;
  for (const [index, connections] of [4, 5].entries()) {
    const set = await registry.lease(snapshot(upstream(origin, { dialect: "gemini", keys, connections, probe })));
    await send(set, "m");
    await until(() => probes() === index + 1, "a probe");
    await set.release();
  }
  expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer token-1"]));
  expect(tokens.requests).toHaveLength(1);
});

describe("without a token", () => {
  const SECRETS = /PRIVATE KEY|eyJ|assertion/;

  test("the upstream is at fault: the chain goes on, the breaker hears of it, nobody hears the key", async () => {
    granted = false;
    const set = await leased(origin);
    const error = await failure(send(set, "m"));
    expect(error).toBeInstanceOf(AttemptError);
    expect([error.failure, error.message]).toEqual([
      "credentials",
      "Google refused the gateway's credentials (invalid_grant)",
    ]);
    expect(seen).toEqual([]);
    expect(logged.map((line) => inspect(line)).filter((line) => line.includes("invalid_grant"))).toHaveLength(1);
    expect(inspect(logged, { depth: 10 })).not.toMatch(SECRETS);
    for (let attempt = 0; attempt < 3; attempt += 1) set.breaker("alpha").acquire()?.end({ ok: false, error });
    expect(set.breaker("alpha").state).toBe("open");
  });

  test("the next key is tried at once", async () => {
    granted = false;
    good = "Bearer ya29.plain";
    const set = await leased(origin, ["ya29.plain"]);
    expect((await send(set, "m")).type).toBe("answer");
  });

  test("one that the provider refuses is its credentials' fault", async () => {
    good = "Bearer another";
    const error = await failure(send(await leased(origin), "m"));
    expect([error.failure, error.status]).toEqual(["credentials", 401]);
    expect(inspect([error, logged], { depth: 10 })).not.toMatch(SECRETS);
  });
});
