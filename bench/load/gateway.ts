import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort, LOAD_CPU, PROXY_CPU } from "./processes.ts";
import type { Processes } from "./processes.ts";
import { MODEL } from "./wire.ts";

const MAIN = new URL("../../src/cli/main.js", import.meta.url).pathname;

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
 */
export async function prepareGateway(
  processes: Processes,
  folder: string,
  upstreamPort: number,
  store = `sqlite:${join(folder, "gateway.db")}`,
): Promise<GatewaySite> {
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const config = join(folder, "gateway.yaml");
  await writeFile(config, configuration(port, upstreamPort, store));
  const command = (...args: readonly string[]) =>
    processes.run(LOAD_CPU, [MAIN, "--config", config, ...args, "--json"]);
  const account = ["--email", "bench@example.com", "--tier", "Max", "--credits", "1000000"];
  const { id } = JSON.parse(await command("users", "add", ...account)) as { id: string };
  const { key } = JSON.parse(await command("keys", "add", "--user", id, "--name", "bench")) as { key: string };
  return { config, port, key, log: join(folder, "gateway.log") };
}

/** Starts the gateway and waits until it answers. @throws Error with the end of its log. */
export async function startGateway(processes: Processes, { config, port, log }: GatewaySite, logLevel: string) {
  const file = await open(log, "w");
  const child = processes.start(PROXY_CPU, [MAIN, "--config", config, "serve", "--log-level", logLevel], file.fd);
  await file.close();
  child.stdout?.resume();
  for (let left = 200; left > 0 && child.exitCode === null; left--) {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/status`).catch(() => null);
    await answer?.body?.cancel();
    // It listens when it can serve; what it says to this does not matter.
    if (answer) return child;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the gateway did not start within 10 s: ${(await readFile(log, "utf8")).slice(-2_000)}`);
}

function configuration(port: number, upstreamPort: number, store: string): string {
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
models:
  ${MODEL}:
    kind: chat
    tier: Max
    owned_by: bench
    price: { input_per_million: 0.15, output_per_million: 0.60 }
    chain: [{ upstream: mock, model: bench-1 }]
pipeline: [auth, plan-check, quota, breaker, stream-relay, meter]
`;
}
