import { crc32, inflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedUrl, startSimulator } from "../../../src/simulator/server.ts";
import type { Simulator } from "../../../src/simulator/server.ts";
import { call } from "../support.ts";
import type { Seen } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

interface Images {
  readonly created: number;
  readonly data: readonly { readonly url?: string; readonly b64_json?: string; readonly revised_prompt: string }[];
  readonly usage?: object;
}
const draw = (body: object = {}, script = "-") =>
  call(`${scriptedUrl(simulator.origin, script)}/images/generations`, {
    body: { model: "m", prompt: "a fox", response_format: "b64_json", ...body },
  });
const imagesOf = (seen: Seen) => (JSON.parse(seen.text) as Images).data;
const bytesOf = (seen: Seen) => imagesOf(seen).map(({ b64_json = "" }) => Buffer.from(b64_json, "base64"));

/** Reads a PNG as a decoder does: every check sum, every row. @throws when it is none */
function decode(file: Buffer): { readonly width: number; readonly height: number; readonly colour: string } {
  expect(file.subarray(0, 8)).toEqual(Buffer.from("89504e470d0a1a0a", "hex"));
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < file.length;) {
    const size = file.readUInt32BE(at);
    const named = file.subarray(at + 4, at + 8 + size);
    expect(file.readUInt32BE(at + 8 + size)).toBe(crc32(named));
    chunks.set(named.toString("latin1", 0, 4), named.subarray(4));
    at += size + 12;
  }
  expect([...chunks.keys()].at(-1)).toBe("IEND");
  const head = chunks.get("IHDR") ?? Buffer.alloc(13);
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  expect([...head.subarray(8)]).toEqual([1, 3, 0, 0, 0]);
  const rows = inflateSync(chunks.get("IDAT") ?? Buffer.alloc(0));
  expect(rows.length).toBe((1 + Math.ceil(width / 8)) * height);
  expect(rows.every((byte) => byte === 0)).toBe(true);
  return { width, height, colour: chunks.get("PLTE")?.toString("hex") ?? "" };
}

describe("images", () => {
  test("have the dialect's shape", async () => {
    const seen = await draw({ n: 2 });
    expect(seen).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
    const image = { b64_json: expect.any(String) as string, revised_prompt: "A simulated image: a fox" };
    expect(JSON.parse(seen.text)).toEqual({ created: 1_767_225_600, data: [image, image] });
    expect(simulator.ledger().at(-1)).toMatchObject({ model: "m", units: { images: 2 }, claimed: null });
  });

  test.each([
    [undefined, 1024, 1024],
    ["auto", 1024, 1024],
    ["1x1", 1, 1],
    ["9x7", 9, 7],
    ["1536x1024", 1536, 1024],
    ["2048x2048", 2048, 2048],
    ["99999x2049", 2048, 2048],
  ])("size %s is a PNG of %d x %d, and small", async (size, width, height) => {
    const [file = Buffer.alloc(0)] = bytesOf(await draw({ size }));
    expect(decode(file)).toMatchObject({ width, height });
    expect(file.length).toBeLessThan(4_096);
  });

  test("colours depend on the prompt and the place", async () => {
    const [a, b] = bytesOf(await draw({ n: 2 })).map((file) => decode(file).colour);
    const [again] = bytesOf(await draw({ size: "8x8" })).map((file) => decode(file).colour);
    const [other] = bytesOf(await draw({ prompt: "a cat" })).map((file) => decode(file).colour);
    expect(again).toBe(a);
    expect(new Set([a, b, other]).size).toBe(3);
  });

  test("an address serves the very same picture, without a key", async () => {
    const asked = { size: "40x30", n: 2 };
    const files = bytesOf(await draw(asked));
    const addressed = imagesOf(await draw({ ...asked, response_format: undefined }));
    for (const [index, { url = "" }] of addressed.entries()) {
      expect(url.startsWith(`${simulator.origin}/sim/images/`)).toBe(true);
      const seen = await call(url, { method: "GET", headers: { authorization: "" } });
      expect(seen).toMatchObject({ status: 200, headers: { "content-type": "image/png", "x-simulated": "true" } });
      expect(seen.body.equals(files[index] ?? Buffer.alloc(0))).toBe(true);
    }
  });

  test("are base64 from models that have no other form", async () => {
    const [image] = imagesOf(await draw({ model: "gpt-image-1", response_format: undefined }));
    expect(image?.b64_json).toMatch(/./);
  });

  test.each(["x.png", "0123456789abcdef01234567-10x10.gif", "../ledger", "0123456789abcdef01234567-99999x1.png"])(
    "/sim/images/%s is unknown",
    async (name) => {
      const seen = await call(`${simulator.origin}/sim/images/${encodeURIComponent(name)}`, { method: "GET" });
      expect(seen.status).toBe(404);
    },
  );

  test("an address of no size is the smallest picture", async () => {
    const seen = await call(`${simulator.origin}/sim/images/0123456789abcdef01234567-0x0.png`, { method: "GET" });
    expect(decode(seen.body)).toEqual({ width: 1, height: 1, colour: "012345" });
  });

  test.each([
    [{ prompt: "" }, "prompt"],
    [{ prompt: undefined }, "prompt"],
    [{ model: 7 }, "model"],
    [{ n: 0 }, "n"],
    [{ n: 11 }, "n"],
    [{ size: "0x0" }, "size"],
    [{ size: "1024" }, "size"],
    [{ size: 1024 }, "size"],
    [{ response_format: "base64" }, "response_format"],
    [{ model: "gpt-image-1" }, "response_format"],
  ])("%j is refused at %s", async (body, param) => {
    const seen = await draw(body);
    expect(seen.status).toBe(400);
    expect(JSON.parse(seen.text)).toMatchObject({ error: { type: "invalid_request_error", param } });
  });
});

describe("scripts", () => {
  test.each([
    ["image=url", "url"],
    ["image=b64_json", "b64_json"],
  ])("%s decides", async (script, form) => {
    const [image] = imagesOf(await draw({ response_format: form === "url" ? "b64_json" : "url" }, script));
    expect(Object.keys(image ?? {}).toSorted()).toEqual(["revised_prompt", form].toSorted());
  });

  test.each([
    ["images=0", 0],
    ["images=3", 3],
  ])("%s", async (script, count) => {
    expect(imagesOf(await draw({ n: 2 }, script))).toHaveLength(count);
    expect(simulator.ledger().at(-1)?.units.images).toBe(count);
  });

  test("tokens are counted when a script claims them", async () => {
    const made = JSON.parse((await draw({}, "usage.prompt=3&usage.completion=4")).text) as Images;
    expect(made.usage).toEqual({ input_tokens: 3, output_tokens: 4, total_tokens: 7 });
    expect(simulator.ledger().at(-1)?.claimed).toEqual({ prompt: 3, completion: 4 });
    expect(JSON.parse((await draw({}, "usage.prompt=3&usage=none")).text)).not.toHaveProperty("usage");
  });
});
