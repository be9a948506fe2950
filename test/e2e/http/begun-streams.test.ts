import { type ClientRequest, createServer, request } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { FORMAT_NAMES, FORMATS, openFormat } from "../support/formats.ts";
import { eventually } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

const MIB = 1024 * 1024;
/** What the plugin below has seen of requests. */
const SEEN = Symbol.for("test: requests seen");
/** Looks at everything that a request is made of, and keeps none of it. */
const LOOKING = `
import { definePlugin } from "#kit";
export default definePlugin({
  name: "looking",
  stage: "transform",
  schema: new URL("./looking.schema.json", import.meta.url),
  setup: () => ({
    transform(call, exchange) {
      const found = [["call", call], ["exchange's call", exchange.call]];
      for (const [name, of] of [...found]) {
        found.push([name + ": body", of.body], [name + ": messages", of.body.messages]);
      }
      const sent = { ...call, body: { ...call.body } };
      found.push(["sent call", sent], ["sent body", sent.body]);
      globalThis[Symbol.for("test: requests seen")].push(...found.map(([name, seen]) => [exchange.model.id + " " + name, new WeakRef(seen)]));
      return sent;
    },
  }),
});
`;
const DIALECTS: Readonly<Record<string, Json>> = {
  openai: {},
  "openai-responses": { dialect: "openai", api: "responses" },
  "openai-http2": { dialect: "openai", http2: true },
  anthropic: {},
  gemini: {},
  bedrock: { api_keys: ["AKIDEXAMPLE:secret"] },
  cohere: {},
  azure: {},
};

const WORDS = Array.from(
  { length: 256 },
  (_, at) => `${"abcdefghijklmnop"[at % 16]}${((at * 7919) % 5_000).toString(36)}`,
);

/** Prose, which packs as well as prose does. */
function prose(bytes: number): string {
  let state = 1;
  let text = "";
  while (text.length < bytes) {
    state = (state * 48_271) % 2_147_483_647;
    text += `${WORDS[state % WORDS.length]} `;
  }
  return text;
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Of the heap and beside it, garbage aside. */
function memory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe("of a request whose stream has begun", () => {
  let gateway: TestGateway;
  let user: TestUser;
  beforeAll(async () => {
    const entries = Object.entries(DIALECTS);
    gateway = await TestGateway.start({
      files: {
        "looking.ts": LOOKING,
        "looking.schema.json": JSON.stringify({ type: "object", additionalProperties: false }),
      },
      config: {
        server: { body_limit: "8MiB" },
        upstreams: Object.fromEntries(
          entries.map(([name, more]) => [
            name,
            { dialect: name, base_url: "sim:?chunks=60&stall_after=20", api_keys: ["upstream-key"], ...more },
          ]),
        ),
        models: Object.fromEntries(
          entries.map(([name]) => [
            `route/${name}`,
            {
              kind: "chat",
              tier: "Free",
              owned_by: "simulator",
              price: { input_per_million: 1, output_per_million: 2 },
              chain: [{ upstream: name, model: "some-model" }],
            },
          ]),
        ),
        pipeline: ["auth", "plan-check", "quota", "breaker", { use: "./looking.ts" }, "stream-relay", "meter"],
      },
    });
    user = await gateway.user();
  });
  afterAll(() => gateway.close());

  test.each(FORMAT_NAMES)("%s: nothing but what settling needs is kept, over any dialect", async (format) => {
    const seen: [string, WeakRef<object>][] = [];
    Object.assign(globalThis, { [SEEN]: seen });
    const text = prose(40 * 1024);
    const calls = Object.keys(DIALECTS).map((dialect) =>
      openFormat(gateway, user, format, { model: `route/${dialect}`, stream: true, ...FORMATS[format].prompt(text) }),
    );
    try {
      for (const call of calls) await call.until("data:");
      expect(seen).toHaveLength(8 * calls.length);
      await vi.waitFor(() => {
        collect();
        expect(seen.filter(([, ref]) => ref.deref() !== undefined).map(([name]) => name)).toEqual([]);
      }, 10_000);
    } finally {
      for (const call of calls) call.leave();
    }
  });
});

/** An upstream that takes a request in, says one word, and nothing more. */
async function startSilent(): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer((req, res) => {
    req.resume().once("end", () => {
      const chunk = { id: "c1", created: 1, choices: [{ index: 0, delta: { content: "Well" }, finish_reason: null }] };
      res.writeHead(200, { "content-type": "text/event-stream" });
      res.write(`data: ${JSON.stringify(chunk)}\n\n`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close };
}

describe("streams that have begun and say nothing more", () => {
  const STREAMS = 5;
  const BODY_BYTES = MIB / 2;

  test.each(FORMAT_NAMES)("%s: five of 512 KiB each take less than half of that", async (format) => {
    const silent = await startSilent();
    const gateway = await TestGateway.start({
      chains: { "route/silent": [silent.url] },
      config: { server: { body_limit: "1MiB", body_memory: "8MiB" } },
    });
    const { path, prompt, body } = FORMATS[format];
    const text = prose(BODY_BYTES);
    const payload = Buffer.from(JSON.stringify({ ...body, ...prompt(text), model: "route/silent", stream: true }));
    const calls: ClientRequest[] = [];
    const user = await gateway.user();
    const open = async (): Promise<void> => {
      const headers = { authorization: `Bearer ${user.key}`, "content-type": "application/json" };
      const call = request(gateway.url + path, { method: "POST", headers, agent: false });
      call.on("error", () => undefined).end(payload);
      const [answer] = await once(call, "response");
      // A prompt may still be on its way to being packed.
      if (answer.statusCode === 503) throw new Error("there is no room");
      expect(answer.statusCode).toBe(200);
      calls.push(call);
      await once(answer, "data");
    };
    const opened = (): Promise<void> => vi.waitFor(open, { timeout: 10_000, interval: 100 });
    try {
      // A quarter of the room is less than five bodies: all fit because those before have given theirs back.
      await opened();
      const before = memory();
      for (let count = 0; count < STREAMS; count += 1) await opened();
      const each = (): number => (memory() - before) / STREAMS;
      await eventually(() => each() < BODY_BYTES / 2, 10_000);
    } finally {
      for (const call of calls) call.destroy();
      // Each prompt is counted, for its upstream has not.
      await eventually(async () => (await gateway.store.running(user.id)).requests === 0, 20_000);
      const { ledger } = await gateway.books(user);
      const tokens = countTokens(`${text}\nuser`);
      expect(ledger.map(({ usage }) => usage.prompt)).toEqual(calls.map(() => tokens));
      await gateway.close();
      silent.close();
    }
  });
});
