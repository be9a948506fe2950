import { hash } from "node:crypto";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedOrigin, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { call, form, RUNS, type Seen } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

type Fields = readonly (readonly [string, string])[];
const last = () => simulator.ledger().at(-1);
const ask = (path: string, body: object, script = "-", headers: Record<string, string> = {}) =>
  call(scriptedOrigin(simulator.origin, script) + path, { body, headers });
const jsonOf = (seen: Seen) => JSON.parse(seen.text) as Readonly<Record<string, unknown>>;

const EMBED = { model: "m", input: ["one two", "three"] };
const RANK = { model: "m", query: "big cat", documents: ["a dog", "a big cat", "one cat"] };
const DRAW = { model: "m", prompt: "a fox", response_format: "b64_json" };
const SPEAK = { model: "m", voice: "anyone", input: "Hello there." };
const DEEPGRAM = { authorization: "Token any" };
const ELEVENLABS = { authorization: "", "xi-api-key": "any" };

const floatsOf = (base64: unknown) => {
  const bytes = Buffer.from(String(base64), "base64");
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
};

const embeddingOf = async (input: string, dimensions: number, more: object) =>
  (
    jsonOf(await ask("/v1/embeddings", { model: "m", input, dimensions, ...more }))["data"] as {
      embedding: unknown;
    }[]
  )[0]?.embedding;

/** Size and colour of a PNG. */
function pngOf(file: Buffer): { readonly width: number; readonly height: number; readonly colour: string } {
  expect(file.toString("hex", 0, 8)).toBe("89504e470d0a1a0a");
  const colour = file.indexOf("PLTE") + 4;
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  return { width, height, colour: file.toString("hex", colour, colour + 3) };
}

const draw = async (more: object) =>
  jsonOf(await ask("/v1/images/generations", { ...DRAW, ...more }))["data"] as { url: string; b64_json: string }[];

const getWithoutKey = (address: string) => call(address, { method: "GET", headers: { authorization: "" } });

const say = async (more: object) => (await ask("/v1/audio/speech", { ...SPEAK, response_format: "wav", ...more })).body;

const askElevenlabs = async (fields: Fields, file: File | null) => {
  const { body, headers } = await form(fields, file);
  return ask("/v1/speech-to-text", body, "-", { ...headers, ...ELEVENLABS });
};

const askDeepgram = (query: string, body: object, script = "-", type = "audio/mpeg") =>
  ask(`/v1/listen${query}`, body, script, { ...DEEPGRAM, "content-type": type });

/** What a script or a field makes of an answer, and what the ledger has of it. */
test.each<[string, string, object, object, object]>([
  ["/v1/embeddings", "-", EMBED, { usage: { prompt_tokens: 3, total_tokens: 3 } }, { units: { prompt: 3 } }],
  ["/v1/embeddings", "-", { model: "m", input: [[1, 2], [3]] }, { data: [{}, {}] }, { units: { prompt: 3 } }],
  ["/v1/embeddings", "-", { model: "m", input: [1, 2, 3] }, { data: [{ index: 0 }] }, { units: { prompt: 3 } }],
  ["/v1/embeddings", "usage.prompt=9", EMBED, { usage: { total_tokens: 9 } }, { claimed: { prompt: 9 } }],
  ["/v1/embeddings", "embedding=base64", EMBED, { data: [{ embedding: expect.any(String) }, {}] }, {}],
  [
    "/v1/embed",
    "-",
    { model: "m", texts: ["x"] },
    { response_type: "embeddings_floats", embeddings: [expect.any(Array)] },
    {},
  ],
  [
    "/v2/embed",
    "-",
    { model: "m", texts: ["a b"], embedding_types: ["base64"] },
    { embeddings: { base64: [expect.any(String)] }, meta: { billed_units: { input_tokens: 2 } } },
    { claimed: { prompt: 2 } },
  ],
  ["/v1/rerank", "-", RANK, { results: [{ index: 1 }, { index: 2 }, { index: 0 }], usage: { total_tokens: 9 } }, {}],
  [
    "/v1/rerank",
    "-",
    { ...RANK, return_documents: true },
    { results: [{ document: { text: "a big cat" } }, {}, {}] },
    {},
  ],
  ["/v1/rerank", "-", { ...RANK, top_k: 1 }, { object: "list", data: [{ index: 1 }] }, { claimed: { prompt: 9 } }],
  ["/v1/rerank", "shape=jina", RANK, { results: [{ document: { text: "a big cat" } }, {}, {}] }, {}],
  ["/v1/rerank", "shape=together", RANK, { object: "rerank", results: [{ document: {} }, {}, {}] }, {}],
  ["/v1/rerank", "usage.prompt=7", RANK, { usage: { total_tokens: 7 } }, { claimed: { prompt: 7 } }],
  [
    "/v2/rerank",
    "-",
    { ...RANK, documents: Array.from({ length: 101 }, () => "x") },
    { meta: { api_version: { version: "2" }, billed_units: { search_units: 2 } } },
    { claimed: null, units: { prompt: 103 } },
  ],
  ["/v1/images/generations", "-", { ...DRAW, n: 2 }, { data: [{}, {}] }, { units: { images: 2 }, claimed: null }],
  ["/v1/images/generations", "images=0", { ...DRAW, n: 2 }, { data: [] }, { units: { images: 0 } }],
  ["/v1/images/generations", "image=url", DRAW, { data: [{ url: expect.any(String) }] }, {}],
  [
    "/v1/images/generations",
    "usage.prompt=3&usage.completion=4",
    DRAW,
    { usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } },
    { claimed: { prompt: 3, completion: 4 } },
  ],
])("%s, %s %j", async (path, script, body, answer, entry) => {
  const seen = await ask(path, body, script);
  expect([seen.status, jsonOf(seen)]).toMatchObject([200, answer]);
  expect(last()).toMatchObject({ model: "m", stream: false, ...entry });
});

test.each(["/v1/embeddings", "/v1/rerank", "/v1/images/generations"])(
  "usage=none at %s claims nothing",
  async (path) => {
    const seen = await ask(path, { ...EMBED, ...RANK, ...DRAW }, "usage=none");
    expect(jsonOf(seen)).not.toHaveProperty("usage");
    expect(last()?.claimed).toBeNull();
  },
);

test.each<[string, object, string]>([
  ["/v1/embeddings", { input: "hi" }, "model"],
  ["/v1/embeddings", { ...EMBED, input: [] }, "input"],
  ["/v1/embeddings", { ...EMBED, input: ["a", ""] }, "input[1]"],
  ["/v1/embeddings", { ...EMBED, input: [[1], [-1]] }, "input[1]"],
  ["/v1/embeddings", { ...EMBED, dimensions: 0 }, "dimensions"],
  ["/v1/embeddings", { ...EMBED, encoding_format: "hex" }, "encoding_format"],
  ["/v1/rerank", { ...RANK, query: "" }, "query"],
  ["/v1/rerank", { ...RANK, documents: ["a", 7] }, "documents[1]"],
  ["/v1/rerank", { ...RANK, top_n: 0 }, "top_n"],
  ["/v1/images/generations", { ...DRAW, prompt: undefined }, "prompt"],
  ["/v1/images/generations", { ...DRAW, n: 11 }, "n"],
  ["/v1/images/generations", { ...DRAW, size: "0x0" }, "size"],
  ["/v1/images/generations", { ...DRAW, model: "gpt-image-1" }, "response_format"],
  ["/v1/audio/speech", { ...SPEAK, input: "" }, "input"],
  ["/v1/audio/speech", { ...SPEAK, voice: undefined }, "voice"],
  ["/v1/audio/speech", { ...SPEAK, response_format: "midi" }, "response_format"],
  ["/v1/audio/speech", { ...SPEAK, speed: 5 }, "speed"],
])("%s refuses %j at %s", async (path, body, param) => {
  const seen = await ask(path, body);
  expect([seen.status, jsonOf(seen)]).toMatchObject([400, { error: { type: "invalid_request_error", param } }]);
});

describe("embeddings", () => {
  test("have length 1, depend on the text alone, and are the same numbers in both encodings", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 300 }), async (text, dimensions) => {
        const floats = (await embeddingOf(text, dimensions, { model: "n" })) as number[];
        expect(floats).toHaveLength(dimensions);
        expect(Math.hypot(...floats)).toBeCloseTo(1, 5);
        expect(floatsOf(await embeddingOf(text, dimensions, { encoding_format: "base64" }))).toEqual(floats);
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });
});

describe("images", () => {
  test.each([
    [undefined, 1024, 1024],
    ["9x7", 9, 7],
    ["99999x2049", 2048, 2048],
  ])("size %s is a PNG of %d x %d, in a colour of its own", async (size, width, height) => {
    const files = (await draw({ size, n: 2 })).map((image) => pngOf(Buffer.from(image.b64_json, "base64")));
    expect(files).toMatchObject([
      { width, height },
      { width, height },
    ]);
    expect(files[0]?.colour).not.toBe(files[1]?.colour);
  });

  test("an address serves the very same picture, without a key, and no other address does", async () => {
    const [image] = await draw({ size: "40x30" });
    const [{ url } = { url: "" }] = await draw({ size: "40x30", response_format: "url" });
    expect(url.startsWith(`${simulator.origin}/sim/images/`)).toBe(true);
    expect((await getWithoutKey(url)).body.toString("base64")).toBe(image?.b64_json);
    for (const other of [
      url.replace(".png", ".gif"),
      url.replace("40x30", "99999x1"),
      `${simulator.origin}/sim/images/x.png`,
    ])
      expect((await getWithoutKey(other)).status).toBe(404);
  });

  test("are base64 from models that have no other form", async () => {
    expect(await draw({ model: "gpt-image-1", response_format: undefined })).toMatchObject([
      { b64_json: expect.any(String) },
    ]);
  });
});

describe("speech", () => {
  const sent = { text: "Hello there." };
  test.each<[string, object, Record<string, string>, string]>([
    ...["mp3 audio/mpeg", "opus audio/opus", "aac audio/aac", "flac audio/flac", "wav audio/wav", "pcm audio/pcm"].map(
      (row): [string, object, Record<string, string>, string] => {
        const [response_format = "", type = ""] = row.split(" ");
        return ["/v1/audio/speech", { ...SPEAK, response_format }, {}, type];
      },
    ),
    ["/v1/text-to-speech/v/stream?output_format=mp3_22050_32", { ...sent, model_id: "m" }, ELEVENLABS, "audio/mpeg"],
    ["/v1/text-to-speech/v?output_format=opus_48000_64", { ...sent, model_id: "m" }, ELEVENLABS, "audio/opus"],
    ["/v1/text-to-speech/v?output_format=pcm_24000", { ...sent, model_id: "m" }, ELEVENLABS, "audio/pcm"],
    ["/v1/speak?model=m", sent, DEEPGRAM, "audio/mpeg"],
    ["/v1/speak?model=m&encoding=flac", sent, DEEPGRAM, "audio/flac"],
    ["/v1/speak?model=m&encoding=linear16&container=none", sent, DEEPGRAM, "audio/l16;rate=24000;channels=1"],
  ])("%s %j is in parts, without a length", async (path, body, headers, type) => {
    const seen = await ask(path, body, "-", headers);
    expect(seen).toMatchObject({ status: 200, whole: true, headers: { "content-type": type, "x-simulated": "true" } });
    expect(seen.headers["content-length"]).toBeUndefined();
    expect(last()).toMatchObject({ model: "m", stream: true, bytes: seen.body.length, units: { characters: 12 } });
    expect(last()?.events).toBeGreaterThan(3);
  });

  test.each<[string, object, Record<string, string>, object]>([
    ["/v1/text-to-speech/v", {}, ELEVENLABS, { detail: { message: expect.stringContaining("text") } }],
    ["/v1/text-to-speech/v?output_format=aac", sent, ELEVENLABS, { detail: { status: "invalid_output_format" } }],
    [
      "/v1/text-to-speech/v",
      { ...sent, voice_settings: { speed: 2 } },
      ELEVENLABS,
      { detail: { status: "invalid_voice_settings" } },
    ],
    ["/v1/speak", {}, DEEPGRAM, { err_code: "Bad Request" }],
    ["/v1/speak?encoding=x", sent, DEEPGRAM, { err_code: "UNSUPPORTED_AUDIO_FORMAT" }],
    ["/v1/speak?encoding=mp3&container=wav", sent, DEEPGRAM, { err_code: "UNSUPPORTED_AUDIO_FORMAT" }],
    ["/v1/speak?encoding=mp3&sample_rate=8000", sent, DEEPGRAM, { err_code: "UNSUPPORTED_AUDIO_FORMAT" }],
  ])("%s %j is refused in the provider's own form", async (path, body, headers, error) => {
    const seen = await ask(path, body, "-", headers);
    expect([seen.status, jsonOf(seen)]).toMatchObject([400, error]);
  });

  test("a code point takes 48 ms, and less at speed; what is said decides, not who says it", async () => {
    expect((await say({ input: "ab😀" })).length).toBe(44 + 3 * 48 * 48);
    expect(last()?.units.characters).toBe(3);
    expect((await say({ input: "x".repeat(1_000), speed: 2 })).length).toBe(44 + 500 * 48 * 48);
    expect((await say({ voice: { id: "x" } })).equals(await say({}))).toBe(true);
    expect((await say({ input: "Hello There." })).equals(await say({}))).toBe(false);
  });

  test.each([
    ["chunks=7", 7, 1],
    ["chunks=5&chunk_bytes=3000", 5, 3_000],
    ["chunk_bytes=500", 4, 500],
    ["chunks=0", 0, 0],
  ])("%s makes %d parts of at least %d bytes", async (script, count, least) => {
    const seen = await ask("/v1/audio/speech", SPEAK, script);
    expect(last()).toMatchObject({ events: count, bytes: seen.body.length });
    expect(seen.body.length).toBeGreaterThanOrEqual(count * least);
  });
});

describe("transcription", () => {
  const FILE = new File([Buffer.alloc(24_000, "sound")], "a.mp3", { type: "audio/mpeg" });
  const TEXT = "This is a simulated transcript of a.mp3, 24000 bytes.";
  const hear = async (fields: Fields = [], script = "-", file: File | null = FILE) => {
    const { body, headers } = await form([["model", "m"], ...fields], file);
    return ask("/v1/audio/transcriptions", body, script, headers);
  };
  const VERBOSE: Fields = [["response_format", "verbose_json"]];

  test.each([
    ["json", `{"text":"${TEXT}","usage":{"type":"duration","seconds":1.5}}`],
    ["text", `${TEXT}\n`],
    [
      "srt",
      "1\n00:00:00,000 --> 00:00:00,667\nThis is a simulated\n\n2\n00:00:00,667 --> 00:00:01,500\ntranscript of a.mp3, 24000 bytes.\n\n",
    ],
    [
      "vtt",
      "WEBVTT\n\n00:00:00.000 --> 00:00:00.667\nThis is a simulated\n\n00:00:00.667 --> 00:00:01.500\ntranscript of a.mp3, 24000 bytes.\n\n",
    ],
  ])("as %s", async (format, expected) => {
    expect((await hear([["response_format", format]])).text).toBe(expected);
  });

  test.each<[string, object, object | null]>([
    ["segments=0", { segments: [], text: TEXT }, { seconds: 1.5 }],
    ["segments=99", { segments: { length: 9 } }, { seconds: 1.5 }],
    ["usage.seconds=soon", { duration: "soon", usage: { seconds: "soon" } }, { seconds: "soon" }],
    [
      "usage.prompt=5&usage.completion=6",
      { usage: { type: "tokens", input_tokens: 5, output_tokens: 6, total_tokens: 11 } },
      { prompt: 5, completion: 6 },
    ],
    ["usage=none", { text: TEXT }, null],
  ])("%s", async (script, expected, claimed) => {
    expect(jsonOf(await hear(VERBOSE, script))).toMatchObject(expected);
    expect(last()).toMatchObject({ claimed, units: { milliseconds: 1_500 } });
  });

  test("a field of the form scripts a request too", async () => {
    expect((await hear([["sim", "status=503"]])).status).toBe(503);
  });

  test("speech has the length that it was given", async () => {
    const spoken = await ask("/v1/audio/speech", { ...SPEAK, input: "x".repeat(250), response_format: "wav" });
    await hear([], "-", new File([new Uint8Array(spoken.body)], "own.wav"));
    expect(last()?.units.milliseconds).toBe(250 * 48);
  });

  test.each<[string, Fields, File | null, string]>([
    ["no file", [], null, "file"],
    ["a file that is text", [["file", "hello"]], null, "file"],
    ["an empty file", [], new File([], "a.wav"), "file"],
    ["an unknown format", [["response_format", "doc"]], FILE, "response_format"],
    ["an unknown granularity", [["timestamp_granularities[]", "letter"]], FILE, "timestamp_granularities"],
  ])("%s is refused", async (_, fields, file, param) => {
    const seen = await hear(fields, "-", file);
    expect([seen.status, jsonOf(seen)]).toMatchObject([400, { error: { param } }]);
  });

  test.each(["application/json", "multipart/form-data", "multipart/form-data; boundary=b"])(
    "%s is no form",
    async (type) => {
      const body = Buffer.from("--b\r\ncontent-disposition: x");
      const seen = await ask("/v1/audio/transcriptions", body, "-", { "content-type": type });
      expect([seen.status, seen.text]).toEqual([400, expect.stringContaining("multipart/form-data")]);
    },
  );

  test("ElevenLabs needs a model and a file", async () => {
    expect((await askElevenlabs([], FILE)).status).toBe(422);
    expect((await askElevenlabs([["model_id", "m"]], null)).status).toBe(400);
  });

  test("Deepgram takes the file as the body", async () => {
    const bytes = Buffer.alloc(32_000, "sound");
    const seen = await askDeepgram("?model=nova-3&smart_format=true&detect_language=true", bytes);
    const words: unknown = expect.arrayContaining([
      expect.objectContaining({ word: "bytes", punctuated_word: "bytes.", end: 2 }),
    ]);
    expect(jsonOf(seen)).toMatchObject({
      metadata: { duration: 2 },
      results: {
        channels: [
          { detected_language: "en", alternatives: [{ transcript: expect.stringContaining("32000 bytes."), words }] },
        ],
      },
    });
    const fields = { smart_format: ["true"] };
    expect(last()).toMatchObject({
      model: "nova-3",
      units: { milliseconds: 2_000 },
      upload: { size: 32_000, type: "audio/mpeg", sha256: hash("sha256", bytes), fields },
    });
    expect((await askDeepgram("", bytes, "no_usage")).text).not.toContain("duration");
    expect((await askDeepgram("", Buffer.alloc(0))).status).toBe(400);
    expect((await askDeepgram("", Buffer.from("{}"), "-", "application/json")).status).toBe(400);
  });
});
