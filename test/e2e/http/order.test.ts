import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Endpoint, isJson, type Json } from "../../../src/kit/index.ts";
import { ALL_ENDPOINTS, FORMATS, isKind, openAt, placeOf } from "../support/formats.ts";
import { tier } from "../support/gateway-config.ts";
import { type Answer, send, type Sent, shown } from "../support/http.ts";
import { CHAT, TestGateway } from "../support/in-process.ts";
import { chains, ENDPOINTS, KIND_CHAINS, PLACES } from "../support/kinds.ts";

const CLOSED = { day: 0, hour: 0, minute: 0, streams: 0 };
const TOUCHY = { consecutive: 1, open_for: "1h", max_open_for: "1h" };
const LARGE = "x".repeat(300_000);
const HTML = { "content-type": "text/html" };

/** What is wrong with a body that has a good form, and where. */
function wrongBody(endpoint: Endpoint): readonly [Json, string] {
  switch (endpoint) {
    case "embeddings":
      return [{ input: undefined }, "/input is required"];
    case "rerank":
      return [{ query: undefined }, "/query is required"];
    case "speech":
      return [{ voice: undefined }, "/voice is required"];
    case "transcription":
      return [{ file: undefined }, "/file is required"];
    case "image":
      return [{ prompt: undefined }, "/prompt is required"];
    default:
      return FORMATS[endpoint].wrong;
  }
}

describe("the order of checks", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const opened = ENDPOINTS.map((endpoint) => `${PLACES[endpoint].model.slice(6)}-open-1`);
    gateway = await TestGateway.start({
      chains: { ...KIND_CHAINS, ...chains("-open", ["?status=500"]) },
      config: {
        upstreams: Object.fromEntries(opened.map((name) => [name, { breaker: TOUCHY }])),
        tiers: {
          NoAccess: { access: [], limits: CLOSED },
          NoDay: tier(CLOSED),
          NoHour: tier({ ...CLOSED, day: 5 }),
          NoMinute: tier({ ...CLOSED, day: 5, hour: 5 }),
          NoStreams: tier({ ...CLOSED, day: 5, hour: 5, minute: 5 }),
        },
      },
    });
    const opener = await gateway.user();
    for (const endpoint of ENDPOINTS) {
      const model = `${PLACES[endpoint].model}-open`;
      // Every one of them answers 502, and the next finds the circuit open.
      await openAt(gateway, opener, endpoint, { model }, {}).whole();
    }
  });
  afterAll(() => gateway.close());

  /** One request that is wrong in every way; each step mends one, and meets the next check. */
  test.each<readonly [Endpoint, Readonly<Record<string, string>>]>([
    ...ALL_ENDPOINTS.map((endpoint) => [endpoint, {}] as const),
    ["messages", { "anthropic-version": "2023-06-01" }],
  ])("of %s %j", async (endpoint, version) => {
    const { model } = placeOf(endpoint);
    const form = endpoint === "transcription";
    const isChat = !isKind(endpoint) || endpoint === "chat";
    const asked = gateway.simulator.ledger().length;
    const ask = async (plan: string, credits: string, changes: Json = {}, { headers, ...sent }: Sent = {}) => {
      const user = await gateway.user({ tier: plan, credits });
      const all = { ...sent, headers: { ...version, ...headers } };
      return openAt(
        gateway,
        user,
        endpoint,
        { model: `${model}-open`, ...(isChat && { stream: true }), ...changes },
        all,
      ).whole();
    };
    const [wrong, what] = wrongBody(endpoint);
    const another = isChat ? "route/embed" : "route/one";
    const nobody = { ...HTML, authorization: "" };
    const stranger = { ...HTML, "x-api-key": "rk_" };
    const steps: readonly (readonly [string, () => Promise<Answer>])[] = [
      ["401 Authentication required", () => ask("NoAccess", "0", {}, { headers: nobody, body: LARGE })],
      ["401 Invalid API key", () => ask("NoAccess", "0", {}, { headers: stranger, body: LARGE })],
      [
        `415 Content-Type must be ${form ? "multipart/form-data" : "application/json"}`,
        () => ask("NoAccess", "0", {}, { headers: HTML, body: LARGE }),
      ],
      ["413 Request body exceeds the limit of 262144 bytes", () => ask("NoAccess", "0", {}, { body: LARGE })],
      [
        `400 Invalid request: / must be ${form ? "a whole multipart/form-data body" : "valid JSON"}`,
        () => ask("NoAccess", "0", {}, { body: "x" }),
      ],
      [`400 Invalid request: ${what}`, () => ask("NoAccess", "0", { model: "route/none", ...wrong })],
      ["400 Invalid model: 'route/none'", () => ask("NoAccess", "0", { model: "route/none" })],
      [
        endpoint === "image" ? "404 Model not found" : `400 Invalid model: '${another}'`,
        () => ask("NoAccess", "0", { model: another }),
      ],
      [`403 Model '${model}-open' is not available on your plan`, () => ask("NoAccess", "0")],
      ["402 Insufficient credits for this request", () => ask("NoDay", "0")],
      ["429 Daily request limit exceeded", () => ask("NoDay", "1")],
      ["429 Hourly request limit exceeded", () => ask("NoHour", "1")],
      ["429 Per-minute request limit exceeded", () => ask("NoMinute", "1")],
      // Of the others nothing is a stream: their limit is not asked.
      [
        isChat ? "429 Concurrent stream limit exceeded" : "503 Circuit breaker open for an upstream",
        () => ask("NoStreams", "1"),
      ],
      ["503 Circuit breaker open for an upstream", () => ask("Max", "1")],
    ];
    const seen: string[] = [];
    for (const [expected, request] of steps) {
      const { status, text } = await request();
      // What is wrong with a field is said in many ways; where it is, in one.
      seen.push(`${status} ${messageOf(text)}`.slice(0, expected.length));
    }
    expect(seen).toEqual(steps.map(([expected]) => expected));
    expect(gateway.simulator.ledger()).toHaveLength(asked);
  });
});

/** Of a text, `{message}`, `{error}` or `{error: {message}}`. */
function messageOf(text: string): string {
  if (!text.startsWith("{")) return text;
  const { message, error } = JSON.parse(text) as Json;
  return String(isJson(error) ? error["message"] : (message ?? error));
}

describe("the IP limit", () => {
  test("counts every request but preflights, on both addresses, and comes before everything else", async () => {
    const limited = await TestGateway.start({ config: { server: { ip_limit: { requests: 3, window: "1m" } } } });
    const user = await limited.user();
    const preflight = { origin: "https://app.example.com", "access-control-request-method": "POST" };
    for (let count = 0; count < 5; count += 1)
      expect((await send(limited.url + CHAT, { method: "OPTIONS", headers: preflight })).status).toBe(204);
    expect((await limited.chat(user)).status).toBe(200);
    expect((await send(`${limited.secondUrl}/nowhere`, { method: "GET" })).status).toBe(404);
    expect((await limited.chat(user, { model: "route/none" })).status).toBe(400);
    const before = await limited.books(user);
    limited.clock.stop();
    const wait = limited.clock.secondsLeft("minute");
    const body = `{"message":"Rate limit exceeded. Please try again later.","retry_after":${wait}}`;
    const requests = [
      limited.chat(user),
      limited.chat(user, {}, { url: limited.secondUrl, headers: { authorization: "" } }),
      limited.chat(user, {}, { body: "no JSON" }),
      send(`${limited.url}/v1/models`, { method: "GET" }),
    ];
    for (const answer of await Promise.all(requests)) {
      expect(shown(answer)).toEqual([429, undefined, "application/json", body]);
      expect(answer.headers).toMatchObject({
        "retry-after": String(wait),
        "x-ratelimit-limit": "3",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(wait),
        "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      });
    }
    expect(await limited.books(user)).toEqual(before);
    limited.clock.advance(wait * 1000);
    limited.clock.start();
    expect((await limited.chat(user)).status).toBe(200);
    await limited.close();
  });
});
