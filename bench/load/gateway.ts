import type { ChildProcess } from "node:child_process";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKey } from "../../src/accounts/api-keys.ts";
import { createUser } from "../../src/accounts/users.ts";
import { NANOS_PER_UNIT, Secret } from "../../src/kit/index.ts";
import { openConfigured } from "../../src/store/open.ts";
import { freePort, PROXY_CPU, untilItAnswers } from "./processes.ts";
import type { Processes } from "./processes.ts";
import { ANTHROPIC_MODEL, benchModel, MODEL } from "./wire.ts";

/** With thousands of models. */
const START_SECONDS = 60;
/** On a busy machine a late answer is not what is measured. */
const STORE_TIMEOUT_MS = 10_000;
/** In the folder of a gateway on SQLite. */
export const DATABASE = "gateway.db";

export const MAIN = new URL("../../src/cli/main.js", import.meta.url).pathname;

/** A gateway as an operator would run it: prices, credits, the whole pipeline; no limit is in the way. */
export interface GatewaySite {
  readonly config: string;
  readonly port: number;
  readonly key: string;
  /** Where its log goes. */
  readonly log: string;
}

/**
 * Writes the configuration into `folder` and makes an account in the store, both once for all rounds.
 * @param store the store's URL; left out: SQLite on disk, in `folder`.
 * @param models further ones, called by `benchModel`.
 */
export async function prepareGateway(
  folder: string,
  upstreamPort: number,
  store = `sqlite:${join(folder, DATABASE)}`,
  models = 0,
): Promise<GatewaySite> {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const config = join(folder, "gateway.yaml");
  await writeFile(config, configuration(port, upstreamPort, store, models));
  const key = await addAccount(store);
  return { config, port, key, log: join(folder, "gateway.log") };
}

/** Starts the gateway and waits until it answers. @throws Error with the end of its log. */
export async function startGateway(
  processes: Processes,
  { config, port, log }: GatewaySite,
  logLevel: string,
  nodeOptions: readonly string[] = [],
): Promise<ChildProcess> {
  const file = await open(log, "w");
  const command = [...nodeOptions, MAIN, "--config", config, "serve", "--log-level", logLevel];
  const child = processes.start(PROXY_CPU, command, file.fd);
  await file.close();
  child.stdout?.resume();
  // It listens when it can serve; what it says to this does not matter.
  await untilItAnswers(child, port, "/v1/status", START_SECONDS).catch(async (error: unknown) => {
    throw new Error(`the gateway did not start: ${(await readFile(log, "utf8")).slice(-2_000)}`, { cause: error });
  });
  return child;
}

/** @returns its key. */
async function addAccount(url: string): Promise<string> {
  const settings = { url: new Secret(url), nodes: [], prefix: "gw:", timeout: STORE_TIMEOUT_MS };
  const store = await openConfigured(settings, { serving: false, now: Date.now });
  try {
    const credits = 1_000_000_000n * NANOS_PER_UNIT;
    const { id } = await createUser(store, { email: "bench@example.com", tier: "Max", credits });
    return (await createKey(store, { userId: id, name: "bench" })).body.key;
  } finally {
    await store.close();
  }
}

function configuration(port: number, upstreamPort: number, store: string, models: number): string {
  return `version: 1
server:
  listen: [{ host: 127.0.0.1, port: ${port} }]
  ip_limit: none
store: { url: "${store}" }
billing: { currency: USD, enforce: true }
tiers:
  Max: { access: all, limits: { day: none, hour: none, minute: none, streams: none } }
auth: { signup: { tier: Max, credits: 1.00 } }
upstreams:
  mock: { dialect: openai, base_url: "http://127.0.0.1:${upstreamPort}/v1", api_keys: [bench] }
  mock-anthropic: { dialect: anthropic, base_url: "http://127.0.0.1:${upstreamPort}", api_keys: [bench] }
models:
${[
  modelLine(MODEL, "mock"),
  modelLine(ANTHROPIC_MODEL, "mock-anthropic"),
  ...Array.from({ length: models }, (_, number) => modelLine(benchModel(number), "mock")),
].join("\n")}
pipeline: [auth, plan-check, quota, breaker, stream-relay, meter]
`;
}

function modelLine(name: string, upstream: string): string {
  const price = "price: { input_per_million: 0.15, output_per_million: 0.60 }";
  const chain = `chain: [{ upstream: ${upstream}, model: bench-1 }]`;
  return `  ${name}: { kind: chat, tier: Max, owned_by: bench, ${price}, ${chain} }`;
}
