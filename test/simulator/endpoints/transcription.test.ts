import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wavHead } from "../../../src/simulator/audio/wav.ts";
import { srt, vtt } from "../../../src/simulator/endpoints/subtitles.ts";
import { scriptedUrl, startSimulator } from "../../../src/simulator/server.ts";
import type { Simulator } from "../../../src/simulator/server.ts";
import { call, form } from "../support.ts";
import type { Seen } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

/** 1.5 s of 8 kHz. */
const WAV = new File([Buffer.concat([wavHead(24_000, 8_000), Buffer.alloc(24_000)])], "said.wav", {
  type: "audio/wav",
});
const TEXT = "This is a simulated transcript of said.wav, 24044 bytes.";

async function hear(
  fields: readonly (readonly [string, string])[] = [],
  { script = "-", file = WAV } = {},
): Promise<Seen> {
  return call(
    `${scriptedUrl(simulator.origin, script)}/audio/transcriptions`,
    await form([["model", "m"], ...fields], file),
  );
}
const jsonOf = (seen: Seen) => JSON.parse(seen.text) as Readonly<Record<string, unknown>>;

describe("formats", () => {
  test("json, also the default, has the text and the seconds", async () => {
    const seen = await hear();
    expect(seen).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
    expect(jsonOf(seen)).toEqual({ text: TEXT, usage: { type: "duration", seconds: 1.5 } });
    expect((await hear([["response_format", "json"]])).text).toBe(seen.text);
  });

  test.each([
    ["text", `${TEXT}\n`],
    [
      "srt",
      "1\n00:00:00,000 --> 00:00:00,667\nThis is a simulated\n\n" +
        "2\n00:00:00,667 --> 00:00:01,500\ntranscript of said.wav, 24044 bytes.\n\n",
    ],
    [
      "vtt",
      "WEBVTT\n\n00:00:00.000 --> 00:00:00.667\nThis is a simulated\n\n" +
        "00:00:00.667 --> 00:00:01.500\ntranscript of said.wav, 24044 bytes.\n\n",
    ],
  ])("%s is plain text", async (format, expected) => {
    const seen = await hear([["response_format", format]]);
    expect(seen.headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(seen.text).toBe(expected);
  });

  test("verbose_json has segments that are the text, in order, to the end", async () => {
    const made = jsonOf(await hear([["response_format", "verbose_json"]]));
    expect(made).toMatchObject({ task: "transcribe", language: "english", duration: 1.5, text: TEXT });
    expect(made).not.toHaveProperty("words");
    const segments = made["segments"] as { id: number; start: number; end: number; text: string }[];
    expect(segments.map(({ text }) => text).join("")).toBe(` ${TEXT}`);
    expect(segments.map(({ start }) => start)).toEqual([0, ...segments.slice(0, -1).map(({ end }) => end)]);
    expect(segments.at(-1)?.end).toBe(1.5);
  });

  test.each([
    [["word"], true, false],
    [["segment"], false, true],
    [["word", "segment"], true, true],
  ])("granularities %j: words %s, segments %s", async (granularities, words, segments) => {
    const asked = granularities.map((one) => ["timestamp_granularities[]", one] as const);
    const made = jsonOf(await hear([["response_format", "verbose_json"], ...asked]));
    expect(["words" in made, "segments" in made]).toEqual([words, segments]);
    const spoken = (made["words"] ?? []) as { word: string }[];
    expect(spoken.map(({ word }) => word).join(" ")).toBe(words ? TEXT : "");
  });

  test("language is the one that was named", async () => {
    const asked = [
      ["response_format", "verbose_json"],
      ["language", "de"],
    ] as const;
    expect(jsonOf(await hear(asked))["language"]).toBe("de");
  });
});

describe("scripts", () => {
  const verbose = [["response_format", "verbose_json"]] as const;

  test.each([
    ["segments=0", 0],
    ["segments=1", 1],
    ["segments=4", 4],
    ["segments=99", 9],
  ])("%s", async (script, count) => {
    const made = jsonOf(await hear(verbose, { script }));
    expect(made["segments"]).toHaveLength(count);
    expect(made["text"]).toBe(TEXT);
  });

  test.each([
    ["usage.seconds=90", { duration: 90, usage: { type: "duration", seconds: 90 } }, { seconds: 90 }],
    ["usage.seconds=soon", { duration: "soon", usage: { type: "duration", seconds: "soon" } }, { seconds: "soon" }],
    [
      "usage.prompt=5&usage.completion=6",
      { usage: { type: "tokens", input_tokens: 5, output_tokens: 6, total_tokens: 11 } },
      { prompt: 5, completion: 6 },
    ],
  ])("%s is claimed, whatever is true", async (script, expected, claimed) => {
    expect(jsonOf(await hear(verbose, { script }))).toMatchObject(expected);
    expect(simulator.ledger().at(-1)).toMatchObject({ claimed, units: { milliseconds: 1_500 } });
  });

  test("usage=none leaves out every measure", async () => {
    const made = jsonOf(await hear(verbose, { script: "usage=none" }));
    expect(made).not.toHaveProperty("usage");
    expect(made).not.toHaveProperty("duration");
    expect(simulator.ledger().at(-1)?.claimed).toBeNull();
  });

  test("a field of the form scripts a request too", async () => {
    expect((await hear([["sim", "status=503"]])).status).toBe(503);
  });
});

describe("what arrives", () => {
  test("is entered: the file by its digest, every field, the bytes of the body", async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256));
    const file = new File([bytes], 'ä "x"\r\n.mp3', { type: "audio/mpeg" });
    const sent = await form(
      [
        ["model", "m"],
        ["prompt", "a"],
        ["tag[]", "1"],
        ["tag[]", "2"],
        ["__proto__", "p"],
      ],
      file,
    );
    await call(`${simulator.origin}/v1/audio/transcriptions`, sent);
    const entry = simulator.ledger().at(-1);
    expect(entry).toMatchObject({
      model: "m",
      stream: false,
      requestBytes: sent.body.length,
      units: { milliseconds: 4_375 },
      upload: {
        name: file.name,
        type: "audio/mpeg",
        size: 70_000,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      },
    });
    expect(Object.entries(entry?.upload?.fields ?? {})).toEqual([
      ["model", ["m"]],
      ["prompt", ["a"]],
      ["tag[]", ["1", "2"]],
      ["__proto__", ["p"]],
    ]);
  });

  test("may have its parts in any order", async () => {
    const { body, headers } = await form([], WAV);
    const late = Buffer.from(body).toString("latin1");
    const boundary = /boundary=(.*)$/.exec(headers["content-type"] ?? "")?.[1] ?? "";
    const model = `--${boundary}\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n`;
    const last = late.replace(`--${boundary}--`, `${model}--${boundary}--`);
    const url = `${simulator.origin}/v1/audio/transcriptions`;
    expect((await call(url, { body: Buffer.from(last, "latin1"), headers })).text).toBe((await hear()).text);
  });

  test.each([
    ["no model", [["x", "y"]], WAV, "model"],
    ["no file", [["model", "m"]], null, "file"],
    [
      "a file that is text",
      [
        ["model", "m"],
        ["file", "hello"],
      ],
      null,
      "file",
    ],
    ["an empty file", [["model", "m"]], new File([], "a.wav"), "file"],
    [
      "an unknown format",
      [
        ["model", "m"],
        ["response_format", "doc"],
      ],
      WAV,
      "response_format",
    ],
    [
      "an unknown granularity",
      [
        ["model", "m"],
        ["timestamp_granularities[]", "letter"],
      ],
      WAV,
      "timestamp_granularities",
    ],
  ] as const)("%s is refused", async (_, fields, file, param) => {
    const seen = await call(`${simulator.origin}/v1/audio/transcriptions`, await form(fields, file));
    expect(seen.status).toBe(400);
    expect(JSON.parse(seen.text)).toMatchObject({ error: { param } });
  });

  test.each([
    ["JSON", { "content-type": "application/json" }, "{}"],
    ["no type", {}, "x"],
    ["no boundary", { "content-type": "multipart/form-data" }, "x"],
    ["a form that ends early", { "content-type": "multipart/form-data; boundary=b" }, "--b\r\ncontent-disposition: x"],
  ])("%s is refused", async (_, headers, body) => {
    const seen = await call(`${simulator.origin}/v1/audio/transcriptions`, { headers, body });
    expect(seen.status).toBe(400);
    expect(seen.text).toContain("multipart/form-data");
  });
});

test("subtitles of long files count minutes and hours", () => {
  const segments = [{ text: "late", start: 3_599_999, end: 363_723_004 }];
  expect(srt(segments)).toBe("1\n00:59:59,999 --> 101:02:03,004\nlate\n\n");
  expect(vtt(segments)).toBe("WEBVTT\n\n00:59:59.999 --> 101:02:03.004\nlate\n\n");
});

test("any file arrives whole, under any name", async () => {
  const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
  const property = fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), name, async (bytes, named) => {
    const file = new File([Uint8Array.from(bytes)], named);
    const seen = await hear([], { file });
    expect(seen.status).toBe(200);
    expect(simulator.ledger().at(-1)?.upload).toMatchObject({
      size: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
  });
  await fc.assert(property, { numRuns: 40 });
});

test("the simulator's own speech has the length that it was given", async () => {
  const spoken = await call(`${simulator.origin}/v1/audio/speech`, {
    body: { model: "m", voice: "v", input: "x".repeat(250), response_format: "wav" },
  });
  await hear([], { file: new File([new Uint8Array(spoken.body)], "own.wav") });
  expect(simulator.ledger().at(-1)?.units.milliseconds).toBe(250 * 48);
});
