import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedOrigin, startSimulator } from "../../../src/simulator/server.ts";
import type { Simulator } from "../../../src/simulator/server.ts";
import { call, form, KEY } from "../support.ts";
import type { Seen, Sent } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const FILE = new File([Buffer.alloc(16_000)], "a.mp3");
const unused = { prompt: 0, characters: 0, milliseconds: 0, images: 0 };
const last = () => simulator.ledger().at(-1);
const json = (body: object) => () => Promise.resolve({ body });

/** Every endpoint but chat, with a request that it serves and where its errors have their message. */
const ROUTES: readonly (readonly [string, () => Promise<Sent>, string])[] = [
  ["/v1/embeddings", json({ model: "m", input: "hi" }), "error.message"],
  ["/v2/embed", json({ model: "m", texts: ["hi"] }), "message"],
  ["/v1/rerank", json({ model: "m", query: "a", documents: ["b"] }), "error.message"],
  ["/v1/rerank", json({ model: "m", query: "a", documents: ["b"], top_k: 1 }), "detail"],
  ["/v2/rerank", json({ model: "m", query: "a", documents: ["b"] }), "message"],
  ["/v1/audio/speech", json({ model: "m", input: "hi", voice: "v" }), "error.message"],
  ["/v1/audio/transcriptions", () => form([["model", "m"]], FILE), "error.message"],
  ["/v1/images/generations", json({ model: "m", prompt: "hi" }), "error.message"],
];

describe.each(ROUTES)("%s", (path, request, message) => {
  const ask = async (script: string): Promise<Seen> =>
    call(`${scriptedOrigin(simulator.origin, script)}${path}`, await request());
  const broken = async (script: string) => (await ask(script).catch(() => null))?.whole ?? false;

  test("answers the same twice, and says what was used", async () => {
    const [first, again] = [await ask("-"), await ask("-")];
    expect(first.status).toBe(200);
    expect(again.body.equals(first.body)).toBe(true);
    expect(last()).toMatchObject({ status: 200, ending: "end", model: "m", bytes: first.body.length });
    expect(last()?.units).not.toEqual(unused);
    expect(last()?.requestBytes).toBeGreaterThan(10);
  });

  test("a status comes with the provider's kind of error, and nothing is used", async () => {
    const seen = await ask("status=429&retry_after=3&message=Slow");
    expect(seen).toMatchObject({ status: 429, headers: { "retry-after": "3", "content-type": "application/json" } });
    expect(JSON.parse(seen.text)).toHaveProperty(message, "Slow");
    expect(last()).toMatchObject({ status: 429, units: unused, claimed: null, model: "m" });
  });

  test.each(["reset_after=0", "close_after=0", "reset_after=1", "close_after=1", "wrong_length"])(
    "%s breaks it off",
    async (script) => {
      expect(await broken(script)).toBe(false);
    },
  );

  test("gzip is the same body, compressed", async () => {
    const [plain, seen] = [await ask("-"), await ask("gzip")];
    expect(seen.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(seen.body).equals(plain.body)).toBe(true);
  });

  test("drip and delays lose nothing", async () => {
    const [plain, seen] = [await ask("-"), await ask("drip=97/1ms&first_byte=1ms&first_event=1ms")];
    expect(seen.body.equals(plain.body)).toBe(true);
  });

  test.each([
    ["html", "text/html; charset=utf-8", /^<!DOCTYPE/],
    ["malformed_after=0", expect.any(String) as string, /^\{"id":"chatcmpl-sim-malformed"/],
    ["error_first", "application/json", /Simulated failure/],
  ])("%s", async (script, type, text) => {
    const seen = await ask(script);
    expect(seen).toMatchObject({ status: 200, whole: true, headers: { "content-type": type } });
    expect(seen.text).toMatch(text);
  });

  test("fail_times spares what follows", async () => {
    const script = `status=500&fail_times=1&name=${path}${message}`;
    expect([(await ask(script)).status, (await ask(script)).status]).toEqual([500, 200]);
  });

  test("needs a key and POST, and knows its script", async () => {
    const url = `${simulator.origin}${path}`;
    const sent = await request();
    expect((await call(url, { ...sent, headers: { ...sent.headers, authorization: "" } })).status).toBe(401);
    expect((await call(url, { method: "GET", headers: KEY })).status).toBe(405);
    expect((await ask("stal_after=1")).status).toBe(400);
  });
});
