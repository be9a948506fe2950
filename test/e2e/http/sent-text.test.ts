import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { completion, USAGE } from "../../support/upstream.ts";
import { chunk, usageChunk } from "../../support/source.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

/* What a chat client sent goes on to an upstream of the same format as it is, but for the model. */

const KEEP = { price: { input_per_million: 1, output_per_million: 2 }, kind: "chat", tier: "Free", owned_by: "x" };

let server: Server;
let gateway: TestGateway;
let user: TestUser;
let failures = 0;
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      const text = Buffer.concat(parts).toString();
      asked.push(text);
      if (failures-- > 0) return res.writeHead(500).end();
      const body = JSON.parse(text) as { readonly stream?: boolean };
      if (body.stream !== true) {
        return res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(completion(USAGE)));
      }
      const events = [chunk({ role: "assistant", content: "a" }), chunk({}, { finish: "stop" }), usageChunk(USAGE)];
      const lines = [...events.map(({ data }) => JSON.stringify(data)), "[DONE]"].map((data) => `data: ${data}\n\n`);
      res.writeHead(200, { "content-type": "text/event-stream" }).end(lines.join(""));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = { base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, api_keys: ["k"] };
  gateway = await TestGateway.start({
    config: {
      server: { body_limit: "16MiB" },
      upstreams: {
        plain: { dialect: "openai", ...at },
        h2: { dialect: "openai", ...at, http2: true },
        strict: { dialect: "openai", ...at, vendor: "mistral" },
      },
      models: {
        "route/a": { ...KEEP, chain: [{ upstream: "plain", model: "up-a" }] },
        "route/h2": { ...KEEP, chain: [{ upstream: "h2", model: "up-a" }] },
        "route/strict": { ...KEEP, chain: [{ upstream: "strict", model: "up-a" }] },
        "route/set": { ...KEEP, chain: [{ upstream: "plain", model: "up-a", parameters: { set: { "/seed": 7 } } }] },
        "route/two": {
          ...KEEP,
          chain: [
            { upstream: "plain", model: "up-a" },
            { upstream: "plain", model: "up-b" },
          ],
        },
      },
    },
  });
});
beforeEach(async () => {
  asked.length = failures = 0;
  user = await gateway.user();
});
afterAll(async () => {
  await gateway.close();
  server.close();
});

const body = (model: string, rest: string): string =>
  `{ "seed" : 15.0e0,\n"model":\t"${model}" , "messages":[ {"role":"user","content":"h\\u0069 \\"model\\":"} ]${rest} }`;
const send = async (text: string): Promise<readonly string[]> => {
  const response = await gateway.chat(user, {}, { body: text });
  expect([response.status, response.text]).toEqual([200, expect.any(String)]);
  return asked;
};
const withModel = (text: string, model: string, more = ""): string =>
  text.replace(/"route\/\w+"/, () => `"${model}"${more}`);

describe("as it is but for the model", () => {
  test("a body with blanks, escapes and unknown fields", async () => {
    const text = body("route/a", ', "own" : {"model":"x"}');
    expect(await send(text)).toEqual([withModel(text, "up-a")]);
  });

  test.each(["route/a", "route/h2"])("a long one of %s, in several chunks", async (model) => {
    const text = body(model, `,"own":["${"ä€😀\\n".repeat(20_000)}"]`);
    expect(await send(text)).toEqual([withModel(text, "up-a")]);
  });

  test("one that is parsed in turns of the event loop", async () => {
    const text = body("route/a", `,"own":["${"lorem ipsum".repeat(100_000)}"]`);
    expect(await send(text)).toEqual([withModel(text, "up-a")]);
  });

  test("a stream, which is to be counted", async () => {
    const text = body("route/a", ',"stream":true');
    expect(await send(text)).toEqual([withModel(text, "up-a", ',"stream_options":{"include_usage":true}')]);
  });

  test("a stream that its client wants counted", async () => {
    const text = body("route/a", ',"stream":true,"stream_options":{"include_usage":true,"own":1}');
    expect(await send(text)).toEqual([withModel(text, "up-a")]);
  });

  test("for every target that it is tried at", async () => {
    failures = 1;
    const text = body("route/two", `,"own":["${"lorem ipsum".repeat(10_000)}"]`);
    expect(await send(text)).toEqual([withModel(text, "up-a"), withModel(text, "up-b")]);
  });
});

const again = (text: string, changes: object): string => JSON.stringify({ ...JSON.parse(text), ...changes });

describe("written anew, as it was checked", () => {
  test.each([
    ["two models", body("route/b", ',"model":"route/a"')],
    ["two models, one of them in escapes", body("route/b", ',"mod\\u0065l":"route/a"')],
    ["a model in escapes", body("route\\/a", "")],
    ["two contents in one message", body("route/a", "").replace('"role"', '"content":"x","role"')],
    ["two fields that nobody knows", body("route/a", ',"own":[{"a":1,"b":[],"a":2}]')],
    ["a number beyond all", body("route/a", ',"own":1e999')],
  ])("%s", async (_name, text) => {
    expect(await send(text)).toEqual([again(text, { model: "up-a" })]);
  });

  test("a stream whose client wants no count", async () => {
    const text = body("route/a", ',"stream":true,"stream_options":{"include_usage":false}');
    expect(await send(text)).toEqual([again(text, { model: "up-a", stream_options: { include_usage: true } })]);
  });

  test("for a target that has parameters of its own", async () => {
    const text = body("route/set", "");
    expect(await send(text)).toEqual([again(text, { model: "up-a", seed: 7 })]);
  });

  test("for a target that does not take all of it", async () => {
    const text = body("route/strict", ',"logit_bias":{"1":2}');
    const { logit_bias: _dropped, seed, ...rest } = JSON.parse(text) as Record<string, unknown>;
    expect(JSON.parse((await send(text))[0]!)).toEqual({ ...rest, model: "up-a", random_seed: seed });
  });
});
