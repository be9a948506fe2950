import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedOrigin, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { call, type Seen } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

interface Generated {
  readonly candidates: readonly {
    readonly content: { readonly parts: readonly Record<string, unknown>[]; readonly role: string };
    readonly finishReason?: string;
    readonly index: number;
  }[];
  readonly usageMetadata?: Readonly<Record<string, unknown>>;
  readonly modelVersion: string;
  readonly responseId: string;
}

const HEADERS = { "x-goog-api-key": "any", authorization: "" };
const text = (said: string) => ({ role: "user", parts: [{ text: said }] });
const said = (what: string, more: object = {}) => ({ contents: [text(what)], ...more });
const declared = (parameters: object, more: object = {}) => ({
  tools: [{ functionDeclarations: [{ name: "get_weather", parameters, ...more }] }],
});
const WEATHER = declared({ type: "OBJECT", properties: { city: { type: "STRING" } }, required: ["city"] });

const ask = (
  body: object,
  method = "generateContent",
  script = "-",
  model = "m",
  headers: Record<string, string> = HEADERS,
) => call(`${scriptedOrigin(simulator.origin, script)}/v1beta/models/${model}:${method}`, { body, headers });
const stream = (body: object, script = "-", model = "m") => ask(body, "streamGenerateContent?alt=sse", script, model);
const bodyOf = (seen: Seen) => JSON.parse(seen.text) as Generated;
const partsOf = (made: Generated | undefined) => made?.candidates[0]?.content.parts ?? [];
const errorOf = (seen: Seen) =>
  (JSON.parse(seen.text) as { error: { code: number; message: string; status: string } }).error;
/** Every frame ends as Google's do. */
const eventsOf = (seen: Seen) =>
  seen.text
    .split("\r\n\r\n")
    .filter((frame) => frame !== "")
    .map((frame) => JSON.parse(frame.replace(/^data: /, "")) as Generated);
const joined = (events: readonly Generated[], index = 0) =>
  events
    .flatMap(({ candidates }) => candidates.filter((candidate) => candidate.index === index))
    .flatMap(({ content }) => content.parts)
    .map((part) => (part["thought"] !== true && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");

describe("answers", () => {
  test("of several calls only the first is signed", async () => {
    const tools = [{ functionDeclarations: [{ name: "one" }, { name: "two" }] }];
    const parts = partsOf(bodyOf(await ask(said("one two", { tools }), "generateContent", "-", "reason")));
    expect(parts.map((part) => "thoughtSignature" in part)).toEqual([true, false]);
  });
});

describe("streams", () => {
  test.each(["m", "gemini-3-sim", "reason"])(
    "every chunk of %s has cumulative counts, the last one all",
    async (model) => {
      const seen = await stream(said("hi"), "-", model);
      expect(seen.headers["content-type"]).toMatch(/^text\/event-stream/);
      const events = eventsOf(seen);
      const whole = bodyOf(await ask(said("hi"), "generateContent", "-", model));
      expect(joined(events)).toBe(partsOf(whole)[0]?.["text"]);
      expect(events.at(-1)).toMatchObject({
        usageMetadata: whole.usageMetadata,
        candidates: [{ finishReason: "STOP" }],
      });
      const counts = events.map(({ usageMetadata }) => Number(usageMetadata?.["totalTokenCount"]));
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      expect(events.slice(0, -1).every(({ candidates }) => candidates[0]?.finishReason === undefined)).toBe(true);
      const signature = partsOf(events.at(-1))[0]?.["thoughtSignature"];
      expect(typeof signature).toBe(model === "m" ? "undefined" : "string");
      expect(simulator.ledger().at(-2)).toMatchObject({ tokens: model === "m" ? 8 : 15, stream: true });
    },
  );

  test("candidates and thoughts come under their index", async () => {
    const generationConfig = { candidateCount: 2, thinkingConfig: { includeThoughts: true } };
    const events = eventsOf(await stream(said("hi", { generationConfig })));
    for (const index of [0, 1]) expect(joined(events, index)).toBe("This is a simulated answer. You said: hi");
    const thoughts = events
      .flatMap(({ candidates }) => candidates[0]?.content.parts ?? [])
      .filter((part) => part["thought"]);
    expect(thoughts).toHaveLength(14);
    expect(simulator.ledger().at(-1)).toMatchObject({ tokens: 30, claimed: { completion: 30 } });
  });

  test("without alt=sse it is one JSON array", async () => {
    const seen = await ask(said("hi"), "streamGenerateContent");
    expect(seen.headers["content-type"]).toMatch(/^application\/json/);
    expect(joined(JSON.parse(seen.text) as Generated[])).toBe("This is a simulated answer. You said: hi");
    expect((await ask(said("hi"), "streamGenerateContent", "error_after=2")).text).toMatch(
      /\},\r\n\{"error":\{"code":500/,
    );
  });

  test.each([
    ["error_after=2&message=Busy", /data: \{"error":\{"code":500,"message":"Busy","status":"INTERNAL"\}\}\r\n\r\n$/],
    ["malformed_after=1", /data: \{"id":"chatcmpl-sim-malformed","choices":\[\{"index":0,\r\n\r\n/],
    ["no_usage", /^(?!.*usageMetadata)/s],
    ["end_after=2", /^(?!.*finishReason)/s],
  ])("%s", async (script, shows) => {
    expect((await stream(said("hi"), script)).text).toMatch(shows);
  });
});

/** A conversation in which the model has called; `call` is its part. */
const loop = (call: object, response: unknown = { result: "sunny" }) => ({
  ...WEATHER,
  contents: [
    text("get_weather"),
    { role: "model", parts: [call] },
    { role: "user", parts: [{ functionResponse: { name: "get_weather", response } }] },
  ],
});
const CALL = { functionCall: { name: "get_weather", args: {} } };

const signedCall = async () =>
  partsOf(bodyOf(await ask(said("get_weather", WEATHER), "generateContent", "-", "gemini-3-sim")))[0] ?? {};
const statusOf = async (body: object, model = "gemini-3-sim") =>
  (await ask(body, "generateContent", "-", model)).status;

describe("thought signatures", () => {
  test("one that comes back as it was is good, a missing or another one is not", async () => {
    const part = await signedCall();
    expect(await statusOf(loop(part))).toBe(200);
    expect(await statusOf(loop({ ...part, thoughtSignature: "c2ln" }))).toBe(400);
    const seen = await ask(loop(CALL), "generateContent", "-", "gemini-3-sim");
    expect(errorOf(seen)).toMatchObject({
      code: 400,
      message: expect.stringContaining("missing a thought_signature") as string,
    });
  });

  test("earlier turns, other models and the documented excuse need none", async () => {
    expect(await statusOf(loop(CALL), "m")).toBe(200);
    const { contents, ...rest } = loop(CALL);
    expect(await statusOf({ ...rest, contents: [...contents, text("thanks")] })).toBe(200);
    expect(await statusOf(loop({ ...CALL, thoughtSignature: "skip_thought_signature_validator" }))).toBe(200);
  });
});

const detailsOf = async (script: string) => {
  const seen = await ask(said("x"), "generateContent", script);
  expect(seen.headers).not.toHaveProperty("retry-after");
  return (errorOf(seen) as { details?: readonly object[] }).details?.at(-1);
};

describe("refusals", () => {
  test.each<[string, object, string]>([
    ["no contents", {}, "contents is not specified"],
    ["an assistant", { contents: [{ role: "assistant", parts: [{ text: "x" }] }] }, "valid role: user, model"],
    ["no parts", { contents: [{ parts: [] }] }, "at least one parts field"],
    ["a part of nothing", { contents: [{ parts: [{}] }] }, "must have one initialized field"],
    ["an OpenAI field", said("x", { max_tokens: 1 }), 'Unknown name "max_tokens"'],
    [
      "an OpenAI part",
      { contents: [{ parts: [{ type: "text", text: "x" }] }] },
      `Unknown name "type" at 'contents[0].parts[0]'`,
    ],
    ["an unknown setting", said("x", { generationConfig: { max_tokens: 1 } }), "'generation_config'"],
    ["an OpenAI tool", said("x", { tools: [{ type: "function", function: {} }] }), "Unknown name"],
    ["JSON Schema as parameters", said("x", declared({ type: "object", $schema: "x" })), 'Unknown name "$schema"'],
    [
      "deep in a schema",
      said("x", declared({ type: "object", properties: { a: { type: "array", items: { exclusiveMinimum: 1 } } } })),
      "parameters.properties[a].items",
    ],
    ["two schemas", said("x", declared({}, { parametersJsonSchema: {} })), "may not both be set"],
    ["a function name", said("x", declared({}, { name: "a b" })), "Invalid function name"],
    ["a response that is no object", loop(CALL, "sunny"), "google.protobuf.Struct"],
    ["arguments that are text", loop({ functionCall: { name: "x", args: "{}" } }), "google.protobuf.Struct"],
    [
      "a call without a response",
      { contents: [text("x"), { role: "model", parts: [CALL] }, text("y")] },
      "number of function response parts",
    ],
    ["a call first", { contents: [{ role: "model", parts: [CALL] }] }, "comes immediately after a user turn"],
    ["six stops", said("x", { generationConfig: { stopSequences: ["1", "2", "3", "4", "5", "6"] } }), "at most 5"],
    ["a schema without its type", said("x", { generationConfig: { responseJsonSchema: {} } }), "response_mime_type"],
    [
      "budget and level",
      said("x", { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: "low" } } }),
      "only one of",
    ],
    [
      "a stray allowed name",
      said("x", { toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["x"] } } }),
      "unknown function x",
    ],
    [
      "data that is no base64",
      { contents: [{ parts: [{ inlineData: { mimeType: "image/png", data: "data:x" } }] }] },
      "Base64 decoding failed",
    ],
  ])("%s", async (_, body, what) => {
    const seen = await ask(body);
    expect(seen.status).toBe(400);
    expect(errorOf(seen)).toEqual({
      code: 400,
      message: expect.stringContaining(what) as string,
      status: "INVALID_ARGUMENT",
    });
  });

  test("a 429 says when to try again in its body, and nowhere else", async () => {
    expect(await detailsOf("status=429")).toMatchObject({ retryDelay: "34.4s" });
    expect(await detailsOf("status=429&retry_after=2.5")).toMatchObject({ retryDelay: "2.5s" });
  });

  test.each([
    ["status=503", 503, "UNAVAILABLE"],
    ["status=403", 403, "PERMISSION_DENIED"],
    ["status=504", 504, "DEADLINE_EXCEEDED"],
  ])("%s", async (script, code, status) => {
    expect(errorOf(await ask(said("x"), "generateContent", script))).toMatchObject({ code, status });
  });

  test("no key, and an unknown method", async () => {
    expect((await ask(said("x"), "generateContent", "-", "m", { authorization: "" })).status).toBe(403);
    expect((await ask(said("x"), "generateContent?key=any", "-", "m", { authorization: "" })).status).toBe(200);
    expect((await ask(said("x"), "generate")).status).toBe(404);
  });
});

describe("the rest", () => {
  test.each<[string, object]>([
    ["none", { requests: [] }],
    ["no model", { requests: [{ content: { parts: [{ text: "x" }] } }] }],
    ["no text", { requests: [{ model: "models/m", content: { parts: [{ text: "" }] } }] }],
  ])("a batch of %s is refused", async (_, body) => {
    expect((await ask(body, "batchEmbedContents")).status).toBe(400);
  });

  test("tokens are counted", async () => {
    expect(JSON.parse((await ask(said("one two"), "countTokens")).text)).toEqual({ totalTokens: 2 });
  });
});
