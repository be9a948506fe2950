import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { MESSAGES, TestGateway, type TestUser } from "../support/in-process.ts";

/** What the upstream got of each request. */
let heads: IncomingHttpHeaders[];
let upstream: Server;
let gateway: TestGateway;
let user: TestUser;

const FORWARDED = ["X-OpenRouter-Title", "http-referer", "x-long", "x-absent"];
const KEYS: Readonly<Record<string, string>> = { bedrock: "AKIDEXAMPLE:secret-of-the-test" };
const DIALECTS = ["openai", "anthropic", "gemini", "azure", "bedrock"];

beforeEach(async () => {
  heads = [];
  upstream = createServer((req, res) => {
    heads.push(req.headers);
    res.writeHead(500, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done));
  const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const upstreams: Record<string, Json> = {};
  const models: Record<string, Json> = {};
  for (const dialect of DIALECTS) {
    const api_keys = [KEYS[dialect] ?? "upstream-key"];
    upstreams[dialect] = {
      dialect,
      base_url,
      api_keys,
      forward_headers: FORWARDED,
      headers: { "http-referer": "ours" },
    };
    const price = { input_per_million: 1, output_per_million: 2 };
    models[`route/${dialect}`] = {
      kind: "chat",
      tier: "Free",
      owned_by: "x",
      price,
      chain: [{ upstream: dialect, model: "m" }],
    };
  }
  upstreams["none"] = { dialect: "openai", base_url, api_keys: ["upstream-key"] };
  models["route/none"] = { ...models["route/openai"], chain: [{ upstream: "none", model: "m" }] };
  const embedding = { kind: "embedding", tier: "Free", owned_by: "x", price: { input_per_million: 1 } };
  models["route/vector"] = { ...embedding, chain: [{ upstream: "openai", model: "m" }] };
  gateway = await TestGateway.start({ config: { upstreams, models } });
  user = await gateway.user();
});
afterEach(async () => {
  await gateway.close();
  await new Promise((done) => upstream.close(done));
});

const SENT = {
  "x-openrouter-title": "My App",
  "http-referer": "theirs",
  "x-long": "a".repeat(3000),
  cookie: "a=b",
  "x-other": "no",
};

test("named headers of the client reach every dialect, signed ones too, and no others do", async () => {
  for (const model of DIALECTS) {
    for (const stream of [false, true]) {
      await gateway.chat(user, { model: `route/${model}`, stream }, { headers: SENT });
      const head = heads.at(-1)!;
      expect([model, head["x-openrouter-title"]]).toEqual([model, "My App"]);
      // What the operator configured wins; too long a value, and what is not named, stays here.
      expect([head["http-referer"], head["x-long"], head["x-other"], head["cookie"]]).toEqual([
        "ours",
        undefined,
        undefined,
        undefined,
      ]);
      expect(JSON.stringify(head)).not.toContain(user.key);
    }
  }
  expect(heads).toHaveLength(DIALECTS.length * 2);
  expect(heads.filter(({ authorization = "" }) => authorization.startsWith("AWS4-HMAC-SHA256"))).toHaveLength(2);
});

test("every client format and other kinds send them on; an upstream without the key sends none", async () => {
  const headers = { authorization: `Bearer ${user.key}`, "content-type": "application/json", ...SENT };
  const model = "route/openai";
  await gateway.send("/v1/messages", { headers, body: { model, max_tokens: 5, messages: MESSAGES } });
  await gateway.send("/v1/responses", { headers, body: { model, input: "Hello" } });
  await gateway.send("/v1/embeddings", { headers, body: { model: "route/vector", input: "Hello" } });
  expect(heads.map((head) => head["x-openrouter-title"])).toEqual(["My App", "My App", "My App"]);
  await gateway.chat(user, { model: "route/none" }, { headers: SENT });
  expect(heads.at(-1)).not.toHaveProperty("x-openrouter-title");
});
