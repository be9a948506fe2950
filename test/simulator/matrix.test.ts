import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedOrigin, type Simulator, startSimulator } from "../../src/simulator/server.ts";
import { call, eventually, form, KEY, RawCall, type Seen, type Sent } from "./support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const unused = { prompt: 0, characters: 0, milliseconds: 0, images: 0 };
const last = () => simulator.ledger().at(-1);
const messages = [{ role: "user", content: "hi" }];
const blocks = [{ role: "user", content: [{ text: "hi" }] }];
const contents = [{ parts: [{ text: "hi" }] }];
const rerank = { model: "m", query: "a", documents: ["b"] };
const ANTHROPIC = { "x-api-key": "any", "anthropic-version": "2023-06-01" };
const GEMINI = { "x-goog-api-key": "any" };
const AZURE = { "api-key": "any" };
const ELEVENLABS = { "xi-api-key": "any" };
const DEEPGRAM = { authorization: "Token any" };
const VERTEX = "/v1/projects/p/locations/global/publishers/anthropic/models/m";
const COUNTED = { include_usage: true };
const DEPLOYED = "/openai/deployments/m/chat/completions?api-version=1";

type Headers = Readonly<Record<string, string>>;
type Route = readonly [path: string, headers: Headers, body: object, shows: string];

/** Answers with a body: where an error has its message. */
const BODIES: readonly Route[] = [
  ["/v1/chat/completions", KEY, { model: "m", messages }, "error.message"],
  ["/v1/embeddings", KEY, { model: "m", input: "hi" }, "error.message"],
  ["/v2/embed", KEY, { model: "m", texts: ["hi"] }, "message"],
  ["/v1/rerank", KEY, rerank, "error.message"],
  ["/v1/rerank", KEY, { ...rerank, top_k: 1 }, "detail"],
  ["/v2/rerank", KEY, rerank, "message"],
  ["/v1/audio/speech", KEY, { model: "m", input: "hi", voice: "v" }, "error.message"],
  ["/v1/audio/transcriptions", KEY, new FormData(), "error.message"],
  ["/v1/images/generations", KEY, { model: "m", prompt: "hi" }, "error.message"],
  ["/v1/responses", KEY, { model: "m", input: "hi" }, "error.message"],
  ["/v1/messages", ANTHROPIC, { model: "m", max_tokens: 9, messages }, "error.message"],
  [`${VERTEX}:rawPredict`, KEY, { anthropic_version: "vertex-2023-10-16", max_tokens: 9, messages }, "error.message"],
  ["/v1beta/models/m:generateContent", GEMINI, { contents }, "error.message"],
  ["/v1beta/models/m:embedContent", GEMINI, { content: contents[0] }, "error.message"],
  ["/model/m/converse", KEY, { messages: blocks }, "message"],
  ["/v2/chat", KEY, { model: "m", messages }, "message"],
  [DEPLOYED, AZURE, { messages }, "error.message"],
  ["/v1/listen?model=m", DEEPGRAM, Buffer.alloc(99), "err_msg"],
  ["/v1/speech-to-text", ELEVENLABS, new FormData(), "detail.message"],
  ["/v1/text-to-speech/v", ELEVENLABS, { text: "hi", model_id: "m" }, "detail.message"],
  ["/v1/speak?model=m", DEEPGRAM, { text: "hi" }, "err_msg"],
];

/** Streams of events, with what is in one that has ended well. */
const STREAMS: readonly Route[] = [
  ["/v1/chat/completions", KEY, { model: "m", messages, stream: true, stream_options: COUNTED }, "[DONE]"],
  ["/v1/responses", KEY, { model: "m", input: "hi", stream: true }, "response.completed"],
  ["/v1/messages", ANTHROPIC, { model: "m", max_tokens: 99, messages, stream: true }, "message_stop"],
  [
    `${VERTEX}:streamRawPredict`,
    KEY,
    { anthropic_version: "vertex-2023-10-16", max_tokens: 99, messages, stream: true },
    "message_stop",
  ],
  ["/v1beta/models/m:streamGenerateContent?alt=sse", GEMINI, { contents }, '"finishReason":"STOP"'],
  ["/v1beta/models/m:streamGenerateContent", GEMINI, { contents }, '"finishReason":"STOP"'],
  ["/model/m/converse-stream", KEY, { messages: blocks }, "messageStop"],
  ["/v2/chat", KEY, { model: "m", messages, stream: true }, '"finish_reason":"COMPLETE"'],
  [DEPLOYED, AZURE, { messages, stream: true, stream_options: COUNTED }, "[DONE]"],
];

/** A form stands for one with the model and a file. */
async function sentOf(body: object): Promise<Sent> {
  if (!(body instanceof FormData)) return { body };
  const model = ["model", "model_id"].map((name) => [name, "m"] as const);
  return form(model, new File([Buffer.alloc(16_000)], "a.mp3"));
}

const sender = (path: string, headers: Headers, body: object) => {
  const sent = sentOf(body);
  return async (script: string, more: Sent = {}): Promise<Seen> => {
    const { headers: typed, ...rest } = await sent;
    const all = { authorization: "", ...typed, ...headers, ...more.headers };
    return call(scriptedOrigin(simulator.origin, script) + path, { ...rest, ...more, headers: all });
  };
};

describe.each([...BODIES, ...STREAMS])("%s", (path, headers, body, shows) => {
  const ask = sender(path, headers, body);
  const broken = async (script: string) => (await ask(script).catch(() => null))?.whole ?? false;

  test("answers the same twice, is marked, and says what was used", async () => {
    const [first, again] = [await ask("-"), await ask("-")];
    expect([first.status, first.headers["x-simulated"]]).toEqual([200, "true"]);
    expect(again.body.equals(first.body)).toBe(true);
    expect(last()).toMatchObject({ status: 200, ending: "end", model: "m", bytes: first.body.length });
    expect(last()?.units).not.toEqual(unused);
    expect(last()?.requestBytes).toBeGreaterThan(10);
  });

  test("a status comes with its Retry-After, or what the dialect has for it, and nothing is used", async () => {
    const seen = await ask("status=429&retry_after=3&message=Slow");
    expect(seen).toMatchObject({ status: 429, headers: { "content-type": "application/json" } });
    expect(seen.headers["retry-after"] ?? /"retryDelay":"(.)s"/.exec(seen.text)?.[1]).toBe("3");
    expect(seen.text).toContain("Slow");
    expect(last()).toMatchObject({ status: 429, units: unused, claimed: null, model: "m" });
  });

  test("breaks off where it is told to", async () => {
    for (const script of ["reset_after=0", "close_after=0", "reset_after=1", "close_after=1", "wrong_length"])
      expect([script, await broken(script)]).toEqual([script, false]);
  });

  test("gzip is the same body, compressed; drip and delays lose nothing; html is a page", async () => {
    const [plain, zipped, dripped] = [await ask("-"), await ask("gzip"), await ask("drip=97/1ms&first_event=1ms")];
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    expect(dripped.body.equals(plain.body)).toBe(true);
    expect((await ask("html")).headers["content-type"]).toBe("text/html; charset=utf-8");
  });

  test("fail_times spares what follows", async () => {
    const script = `status=500&fail_times=1&name=${encodeURIComponent(path + shows)}`;
    expect([(await ask(script)).status, (await ask(script)).status]).toEqual([500, 200]);
  });

  test("needs a key and POST, and knows its script", async () => {
    const none = Object.fromEntries(
      Object.keys(headers).map((name) => [name, name === "anthropic-version" ? "2023-06-01" : ""]),
    );
    expect([401, 403]).toContain((await ask("-", { headers: none })).status);
    expect((await ask("-", { method: "GET", body: undefined })).status).toBe(405);
    expect((await ask("stal_after=1")).status).toBe(400);
  });
});

describe.each(BODIES)("%s", (path, headers, body, message) => {
  test.each(["status=500&message=Oh", "error_first&message=Oh"])("%s is in the provider's own form", async (script) => {
    expect(JSON.parse((await sender(path, headers, body)(script)).text)).toHaveProperty(message, "Oh");
  });
});

describe.each(STREAMS)("%s", (path, headers, body, ending) => {
  const ask = sender(path, headers, body);

  test.each(["end_after=3", "error_after=3"])("%s ends the body well, and the answer not", async (script) => {
    const [whole, seen] = [await ask("-"), await ask(script)];
    expect(whole.text).toContain(ending);
    expect(seen.whole).toBe(true);
    expect(seen.text).not.toContain(ending);
    expect(last()?.claimed).toBeNull();
  });

  test("an error at once is in a 200 of the stream's own type", async () => {
    const [whole, seen] = [await ask("-"), await ask("error_first&message=Oh")];
    expect([seen.status, seen.headers["content-type"]]).toEqual([200, whole.headers["content-type"]]);
    expect(seen.text).toContain("Oh");
  });

  test("usage=none claims nothing, and counts all the same", async () => {
    await ask("-");
    const healthy = last();
    await ask("usage=none");
    expect(last()).toMatchObject({ claimed: null, tokens: healthy?.tokens, units: healthy?.units });
    expect(healthy?.claimed?.completion).toBe(healthy?.tokens);
  });

  test("chunks makes as many events", async () => {
    await ask("chunks=40&chunk_delay=1ms");
    expect(last()?.events).toBeGreaterThanOrEqual(40);
    expect(last()).toMatchObject({ tokens: 40, stream: true });
  });

  test("a client that leaves is seen", async () => {
    const raw = new RawCall(`${scriptedOrigin(simulator.origin, "stall_after=2")}${path}`, body, 0, headers);
    await raw.until("HTTP/1.1 200");
    expect(last()).toMatchObject({ closedAt: null });
    raw.leave();
    await eventually(() => last()?.closedAt !== null);
    expect(last()).toMatchObject({ aborted: true });
  });
});
