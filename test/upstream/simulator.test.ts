import { hash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DIALECTS } from "../../src/dialects/capabilities.ts";
import type { Call, DialectName, Upload } from "../../src/kit/index.ts";
import { type Simulator, SimulatorOnDemand, startSimulator } from "../../src/simulator/server.ts";
import { createUpstreams, type Upstreams, type UpstreamSet } from "../../src/upstream/upstreams.ts";
import {
  bytesOf,
  call,
  exchange,
  failure,
  read,
  readBytes,
  silent,
  snapshot,
  streamOf,
  target,
  TIMEOUTS,
  upstream,
} from "./support/build.ts";

let simulator: Simulator;
let upstreams: Upstreams;
let count = 0;
beforeAll(async () => {
  simulator = await startSimulator();
  const addresses = new SimulatorOnDemand(() => Promise.resolve(simulator));
  upstreams = createUpstreams({
    dialects: DIALECTS,
    now: Date.now,
    log: silent,
    simulated: (script, dialect) => addresses.baseUrl(script, dialect),
  });
});
afterAll(async () => {
  await upstreams.close();
  await simulator.close();
});

/** An upstream of its own for each script: a resting key outlives a lease. */
async function scripted(script: string, dialect: DialectName = "openai"): Promise<Pick<UpstreamSet, "send">> {
  count += 1;
  const name = `u${count}`;
  const set = await upstreams.lease(snapshot(upstream(`sim:${script}`, { name, dialect })));
  return { send: (to, ...rest) => set.send({ ...to, upstream: name }, ...rest) };
}

const BRIEF = target({ timeouts: { ...TIMEOUTS, firstByte: 150, idle: 150 } });
const STREAM = call({ stream: true });

describe("with the simulator", () => {
  it("an answer and a stream are served", async () => {
    const set = await scripted("");
    const reply = await set.send(target(), call(), exchange());
    expect(reply).toMatchObject({
      type: "answer",
      usage: { prompt: expect.any(Number), completion: expect.any(Number) },
    });
    const seen = await read(streamOf(await set.send(target(), STREAM, exchange())));
    expect(seen).toMatchObject({ text: expect.stringContaining("hi"), ending: { complete: true } });
  });

  it.each([
    ["?first_byte=2s", "timeout"],
    ["?reset_after=0", "reset"],
    ["?status=503", "status"],
    ["?status=429&retry_after=3", "rate_limited"],
    ["?status=401", "credentials"],
    ["?status=422", "client_fault"],
    ["?html=true", "protocol"],
    ["?error_first=true", "status"],
    ["?stall_after=0", "timeout"],
  ])("%s fails before the first event: %s", async (script, expected) => {
    const set = await scripted(script);
    expect(await failure(set.send(BRIEF, STREAM, exchange()))).toMatchObject({ failure: expected });
  });

  it.each(["?stall_after=2", "?reset_after=2", "?close_after=2", "?malformed_after=2", "?error_after=2"])(
    "%s is cut",
    async (script) => {
      const set = await scripted(script);
      const seen = await read(streamOf(await set.send(BRIEF, STREAM, exchange())));
      expect(seen.ending).toMatchObject({ complete: false });
    },
  );

  it.each(["?no_done=true", "?no_usage=true"])("%s is complete", async (script) => {
    const set = await scripted(script);
    const seen = await read(streamOf(await set.send(BRIEF, STREAM, exchange())));
    expect(seen.ending).toEqual({ complete: true });
  });
});

const FILE = Buffer.alloc(48_000, "sound");
const UPLOAD: Upload = {
  name: "said.mp3",
  contentType: "audio/mpeg",
  size: FILE.length,
  async *read() {
    yield FILE.subarray(0, 20_000);
    yield FILE.subarray(20_000);
  },
};

const EMBED = call({ kind: "embedding", body: { input: ["one two", "three"] } });
const RANK = call({ kind: "rerank", body: { query: "big cat", documents: ["a dog", "a big cat"], top_n: 2 } });
const SPEAK = call({
  kind: "speech",
  body: { input: "Hello there.", voice: "v", response_format: "wav" },
  units: { characters: 12 },
});
const DRAW = call({ kind: "image", body: { prompt: "a fox", n: 2 }, units: { images: 2 } });
const HEAR = call({
  kind: "transcription",
  body: { response_format: "verbose_json" },
  units: { milliseconds: 1 },
  upload: UPLOAD,
});

describe("the other kinds", () => {
  it.each<[DialectName, string, version?: string]>([
    ["openai", "embeddings"],
    ["cohere", "embed", "v2"],
    ["jina", "embeddings"],
    ["voyage", "embeddings"],
  ])("%s embeds at %s", async (dialect, path, version = "v1") => {
    const set = await scripted("", dialect);
    const vector = { object: "embedding", embedding: expect.any(Array) };
    expect(await set.send(target(), EMBED, exchange())).toMatchObject({
      body: {
        data: [
          { ...vector, index: 0 },
          { ...vector, index: 1 },
        ],
      },
      usage: { prompt: 3 },
    });
    expect(simulator.ledger().at(-1)).toMatchObject({ path: `/sim/-/${version}/${path}`, units: { prompt: 3 } });
  });

  it.each<[DialectName, string, number | null]>([
    ["openai", "", 7],
    ["openai", "?shape=together", 7],
    ["cohere", "", null],
    ["cohere", "?shape=cohere", null],
    ["jina", "", 7],
    ["jina", "?shape=jina", 7],
    ["voyage", "", 7],
  ])("%s reranks %s", async (dialect, script, prompt) => {
    const set = await scripted(script, dialect);
    const reply = await set.send(target(), RANK, exchange());
    expect(reply).toMatchObject({ body: { results: [{ index: 1 }, { index: 0 }] } });
    expect(reply).toMatchObject({ usage: prompt === null ? null : { prompt } });
  });

  it("speech arrives byte for byte", async () => {
    const set = await scripted("");
    const reply = bytesOf(await set.send(target(), SPEAK, exchange()));
    expect(reply).toMatchObject({ contentType: "audio/wav", usage: { characters: 12 } });
    const { body, ending } = await readBytes(reply.source);
    expect(ending).toEqual({ complete: true });
    const direct = await fetch(`${simulator.origin}/v1/audio/speech`, {
      method: "POST",
      headers: { authorization: "Bearer k" },
      body: JSON.stringify({ ...SPEAK.body, model: "another" }),
    });
    expect(body.equals(Buffer.from(await direct.arrayBuffer()))).toBe(true);
  });

  it("a file arrives byte for byte", async () => {
    const set = await scripted("");
    const reply = await set.send(target(), HEAR, exchange());
    expect(reply).toMatchObject({
      body: { text: "This is a simulated transcript of said.mp3, 48000 bytes." },
      usage: { milliseconds: 3_000 },
    });
    expect(simulator.ledger().at(-1)).toMatchObject({
      units: { milliseconds: 3_000 },
      upload: { size: 48_000, sha256: hash("sha256", FILE), fields: { model: ["m1"] } },
    });
  });

  it("images are served", async () => {
    const set = await scripted("");
    const reply = await set.send(target(), DRAW, exchange());
    const image = { url: expect.stringMatching(/^http:.*\.png$/) };
    expect(reply).toMatchObject({ body: { data: [image, image] }, usage: { images: 2 } });
  });

  it.each<[string, Call, string]>([
    ["?status=503", EMBED, "status"],
    ["?status=422", RANK, "client_fault"],
    ["?html=true", DRAW, "protocol"],
    ["?malformed_after=0", EMBED, "protocol"],
    ["?images=0", DRAW, "protocol"],
    ["?error_first=true", SPEAK, "protocol"],
    ["?chunks=0", SPEAK, "protocol"],
    ["?reset_after=0", HEAR, "reset"],
    ["?reset_after=1", RANK, "reset"],
    ["?stall_after=0", SPEAK, "timeout"],
  ])("%s fails before anything has come", async (script, asked, expected) => {
    const set = await scripted(script);
    expect(await failure(set.send(BRIEF, asked, exchange()))).toMatchObject({ failure: expected });
  });

  it.each<[DialectName, Call]>([
    ["openai", RANK],
    ["cohere", RANK],
    ["jina", RANK],
    ["voyage", EMBED],
  ])("%s reads its own kind of error", async (dialect, asked) => {
    const set = await scripted(`?shape=${dialect}&status=422&message=Too+long`, dialect);
    const error = await failure(set.send(target(), asked, exchange()));
    expect(error.message).toContain("Too long");
  });

  it.each(["?reset_after=2", "?close_after=2", "?stall_after=2"])("%s cuts speech", async (script) => {
    const set = await scripted(script);
    const seen = await readBytes(bytesOf(await set.send(BRIEF, SPEAK, exchange())).source);
    expect(seen.ending).toMatchObject({ complete: false });
  });
});
