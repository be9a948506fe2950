import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createKey } from "../../src/accounts/api-keys.ts";
import { createUser } from "../../src/accounts/users.ts";
import { startGateway } from "../../src/gateway/start.ts";
import { decimal, type Json, toNano } from "../../src/kit/index.ts";
import { baseConfig, merge } from "../e2e/support/gateway-config.ts";
import { type Measured, measure } from "./measure.ts";
import type { Done, Job } from "./outside.ts";
import { SHAPES, type Size } from "./shapes.ts";

/*
 * How long one request holds the event loop, and what it grows the heap by, at the bounds of what is taken:
 *
 *   node --expose-gc test/limits/run.ts [--shape TEXT] [--model NAME] [--values N] [--unknown N] [--keys N] [--argument N] [--bytes N] [--heap]
 */

const { values: options } = parseArgs({
  options: {
    shape: { type: "string", default: "" },
    model: { type: "string" },
    values: { type: "string", default: "49000" },
    unknown: { type: "string", default: "999000" },
    keys: { type: "string", default: "9900" },
    argument: { type: "string", default: String(4 * 1024 * 1024) },
    bytes: { type: "string", default: String(32 * 1024 * 1024) },
    heap: { type: "boolean", default: false },
  },
});
const size: Size = {
  values: Number(options.values),
  unknown: Number(options.unknown),
  keys: Number(options.keys),
  argument: Number(options.argument),
  bytes: Number(options.bytes),
};

const model = (upstream: string, name: string, kind = "chat", price: Json = { input_per_million: 0 }): Json => ({
  kind,
  tier: "Free",
  owned_by: "x",
  price: kind === "chat" ? { ...price, output_per_million: 0 } : price,
  chain: [{ upstream, model: name }],
});

function config(folder: string, origin: string): Json {
  const base_url = origin;
  const api_keys = ["k"];
  return merge(baseConfig(folder), {
    server: { body_limit: "32MiB" },
    upstreams: {
      openai: { dialect: "openai", base_url: `${base_url}/v1`, api_keys, api: "chat" },
      responses: { dialect: "openai", base_url: `${base_url}/v1`, api_keys, api: "responses" },
      anthropic: { dialect: "anthropic", base_url, api_keys },
      gemini: { dialect: "gemini", base_url, api_keys },
      bedrock: { dialect: "bedrock", base_url, api_keys: ["AKIA:SECRET"] },
      cohere: { dialect: "cohere", base_url, api_keys },
    },
    models: {
      "route/openai": model("openai", "some-model"),
      "route/responses": model("responses", "gpt-5"),
      "route/anthropic": model("anthropic", "claude-sonnet-4-5"),
      "route/gemini": model("gemini", "gemini-2.5-pro"),
      "route/bedrock": model("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
      "route/cohere": model("cohere", "command-a-03-2025"),
      "route/openai-embedding": model("openai", "text-embedding-3-small", "embedding"),
      "route/gemini-embedding": model("gemini", "gemini-embedding-001", "embedding"),
      "route/cohere-embedding": model("cohere", "embed-v4.0", "embedding"),
      "route/cohere-rerank": model("cohere", "rerank-v3.5", "rerank", { per_request: 0 }),
    },
  });
}

interface FromOutside {
  readonly type: "ready" | "made" | "done";
  readonly port?: number;
  readonly done?: Done;
}

const outside = fork(new URL("outside.ts", import.meta.url), { execArgv: ["--max-old-space-size=2048"] });
const messageOf = async (type: FromOutside["type"]): Promise<FromOutside> => {
  for (;;) {
    const [message] = (await once(outside, "message")) as [FromOutside];
    if (message.type === type) return message;
  }
};

const { port } = await messageOf("ready");
const folder = await mkdtemp(join(tmpdir(), "gateway-limits-"));
const file = join(folder, "gateway.yaml");
await writeFile(file, JSON.stringify(config(folder, `http://127.0.0.1:${port}`)), { mode: 0o600 });
const gateway = await startGateway({
  file,
  mode: "serve",
  strict: false,
  env: {},
  logLevel: "silent",
  logPretty: false,
});
const { id } = await createUser(gateway.store, { email: "a@example.com", tier: "Max", credits: toNano(decimal("10")) });
const { body: made } = await createKey(gateway.store, { userId: id, name: "test" });
const [address] = gateway.addresses;
const url = `http://${address!.host}:${address!.port}`;

async function one(shape: string, model: string, of: Size): Promise<Done & Measured> {
  const job: Job = { shape, model, size: of, url, key: made.key };
  outside.send(job);
  await messageOf("made");
  const stop = measure(options.heap);
  const { done } = await messageOf("done");
  await sleep(100);
  return { ...done!, ...stop() };
}

const MIB = 1024 * 1024;
console.log(
  "shape | upstream | MiB | status | longest turn, CPU ms | turns > 10 ms | whole, ms | heap x body | sent on, MiB | answer",
);
try {
  for (const [name, { models }] of Object.entries(SHAPES)) {
    if (!name.includes(options.shape)) continue;
    for (const model of models) {
      if (options.model !== undefined && model !== options.model) continue;
      // The first time is that of loading code and compiling it.
      await one(name, model, { values: 100, unknown: 100, keys: 10, argument: 2000, bytes: 20_000 });
      const { bytes, status, turnMs, longTurns, ms, grownBytes, sentOn, answer } = await one(name, model, size);
      const heap = options.heap ? (grownBytes / bytes).toFixed(1) : "";
      const row = [name, model, (bytes / MIB).toFixed(1), status, turnMs.toFixed(0), longTurns, ms.toFixed(0), heap];
      const sent = sentOn === null ? "" : (sentOn / MIB).toFixed(1);
      console.log([...row, sent, status === 200 ? "" : answer.slice(0, 120)].join(" | "));
    }
  }
} finally {
  outside.disconnect();
  await gateway.close();
  await rm(folder, { recursive: true, force: true });
}
