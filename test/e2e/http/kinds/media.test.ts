import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { file, formOf, text, wav } from "../../support/form.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";
import { askKind, AUDIO, KIND_CHAINS } from "../../support/kinds.ts";

let gateway: TestGateway;
let user: TestUser;

beforeAll(async () => {
  gateway = await TestGateway.start({ chains: KIND_CHAINS });
  user = await gateway.user();
});
afterAll(() => gateway.close());

const parsed = (text: string): Json => JSON.parse(text) as Json;
const as = (response_format: string, more: Json = {}) =>
  askKind(gateway, user, "transcription", { response_format, ...more });
const image = async (changes: Json = {}): Promise<Json> =>
  parsed((await askKind(gateway, user, "image", changes)).text);
const sizeOf = (base64: string): readonly number[] => {
  const png = Buffer.from(base64, "base64");
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
};

describe("speech", () => {
  test.each([
    [undefined, "audio/mpeg"],
    ["mp3", "audio/mpeg"],
    ["opus", "audio/opus"],
    ["aac", "audio/aac"],
    ["flac", "audio/flac"],
    ["wav", "audio/wav"],
    ["pcm", "audio/pcm"],
  ])("as %s is %s, byte for byte what the upstream sent", async (response_format, type) => {
    const { status, headers, bytes, whole } = await askKind(gateway, user, "speech", { response_format });
    expect([status, headers["content-type"], headers["transfer-encoding"], whole]).toEqual([
      200,
      type,
      "chunked",
      true,
    ]);
    const direct = await fetch(`${gateway.simulator.origin}/v1/audio/speech`, {
      method: "POST",
      headers: { authorization: "Bearer upstream-key", "content-type": "application/json" },
      body: JSON.stringify({ input: "Say it.", voice: "sage", model: "x", response_format }),
    });
    expect(bytes.equals(Buffer.from(await direct.arrayBuffer()))).toBe(true);
    expect(headers).not.toHaveProperty("cache-control");
    expect(headers).not.toHaveProperty("x-accel-buffering");
  });
});

describe("transcriptions", () => {
  const said = `This is a simulated transcript of speech.wav, ${AUDIO.length} bytes.`;

  test("are the specification's object", async () => {
    const answer = await askKind(gateway, user, "transcription");
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(parsed(answer.text)).toEqual({ text: said, segments: [], language: "en" });
    const unnamed = await askKind(gateway, user, "transcription", { language: undefined });
    expect(parsed(unnamed.text)).toEqual({ text: said, segments: [], language: "" });
  });

  test("fields may come in any order, also after the file", async () => {
    const audio = file(AUDIO);
    const parts = [text("model", "route/listen"), audio, text("response_format", "text")];
    for (const order of [parts, parts.toReversed(), [audio, parts[0]!, parts[2]!]]) {
      const answer = await askKind(gateway, user, "transcription", {}, { body: formOf(order) });
      expect([answer.status, answer.text]).toEqual([200, `${said}\n`]);
    }
  });

  test("in the other formats", async () => {
    expect(parsed((await as("json")).text)).toEqual({ text: said, segments: [], language: "en" });
    const plain = await as("text");
    expect([plain.headers["content-type"], plain.text]).toEqual(["text/plain; charset=utf-8", `${said}\n`]);
    const verbose = parsed((await as("verbose_json", { timestamp_granularities: ["word", "segment"] })).text);
    expect(verbose).toMatchObject({ task: "transcribe", language: "en", duration: 1.5, text: said });
    expect([(verbose["segments"] as []).length, (verbose["words"] as []).length]).toEqual([2, 9]);
    const [srt, vtt] = [await as("srt"), await as("vtt")];
    expect(srt.text).toMatch(/^1\n00:00:00,000 --> 00:00:00,\d{3}\nThis is a .*\n\n2\n.* --> 00:00:01,500\n/);
    expect(vtt.text).toMatch(/^WEBVTT\n\n00:00:00\.000 --> 00:00:00\.\d{3}\nThis is a .*\n\n.* --> 00:00:01\.500\n/);
    for (const { headers } of [srt, vtt]) expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
  });

  test("the upstream gets the file, its name and type, and every other field", async () => {
    const audio = wav(60_000);
    const sent = {
      file: file(audio, { fileName: "a %22b%22 ü.wav", type: "audio/x-wav" }),
      prompt: "names",
      temperature: "0.5",
    };
    expect((await askKind(gateway, user, "transcription", sent, { url: gateway.secondUrl })).status).toBe(413);
    const small = wav(5_000);
    await askKind(gateway, user, "transcription", { ...sent, file: { ...sent.file, value: small }, mine: "yes" });
    expect(gateway.simulator.ledger().at(-1)?.upload).toEqual({
      name: 'a "b" ü.wav',
      type: "audio/x-wav",
      size: small.length,
      sha256: createHash("sha256").update(small).digest("hex"),
      fields: {
        model: ["listen-model"],
        language: ["en"],
        prompt: ["names"],
        temperature: ["0.5"],
        response_format: ["json"],
        mine: ["yes"],
      },
    });
  });
});

describe("images", () => {
  test("are the specification's object", async () => {
    expect(await image()).toEqual({
      created: expect.any(Number) as number,
      data: [
        {
          url: expect.stringMatching(/^http:.*\.png$/) as string,
          b64_json: "",
          revised_prompt: "A simulated image: a red boat",
        },
      ],
      provider: "paint-1",
      model: "route/paint",
    });
  });

  test.each(["base64", "b64_json"])(
    "as %s are in b64_json, whatever the upstream writes that can be read",
    async (response_format) => {
      for (const [width, height] of [
        [64, 32],
        [1, 2_000],
      ] as const) {
        for (const more of [
          { width, height },
          { size: `${width}x${height}` },
          { width, height, size: `${width}x${height}` },
        ]) {
          const [one] = (await image({ response_format, ...more }))["data"] as readonly Json[];
          expect(one).toEqual({
            url: null,
            b64_json: expect.any(String) as string,
            revised_prompt: expect.any(String) as string,
          });
          expect(sizeOf(one!["b64_json"] as string)).toEqual([width, height]);
        }
      }
      const [foreign] = (await image({ response_format, sim: { image: "url" } }))["data"] as readonly Json[];
      expect(foreign).toMatchObject({ url: expect.stringMatching(/^http:/) as string, b64_json: "" });
    },
  );

  test("as a url are one, also of an upstream that gives bytes only", async () => {
    const [one] = (await image({ response_format: "url", size: "8x8", sim: { image: "b64_json" } }))[
      "data"
    ] as readonly Json[];
    expect(one).toMatchObject({ url: expect.stringMatching(/^data:image\/png;base64,/) as string, b64_json: "" });
    expect(sizeOf((one!["url"] as string).slice(22))).toEqual([8, 8]);
  });

  test("come as many as asked for", async () => {
    expect((await image({ n: 3 }))["data"]).toHaveLength(3);
    expect((await image({ n: 10, response_format: "b64_json", size: "8x8" }))["data"]).toHaveLength(10);
  });
});
