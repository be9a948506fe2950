import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKey } from "../../src/accounts/api-keys.ts";
import { createUser } from "../../src/accounts/users.ts";
import { NANOS_PER_UNIT, Secret } from "../../src/kit/index.ts";
import { openConfigured } from "../../src/store/open.ts";
import { withSite } from "../load/bench.ts";
import { MAIN } from "../load/gateway.ts";
import { freePort, LOAD_CPU, PROXY_CPU, untilItAnswers } from "../load/processes.ts";
import { setRate } from "../load/upstream.ts";
import { MODEL } from "../load/wire.ts";
import type { ShedLoad, ShedResult } from "./drive.ts";

export interface ShedOptions {
  /** For which there is too much load. */
  readonly seconds: number;
  /** So many times the capacity. */
  readonly factor: number;
  /** `server.shed`; null: without. */
  readonly shed: { readonly loop_delay?: string; readonly heap?: number } | null;
  readonly sizes: Pick<ShedLoad, "connections" | "warmup" | "calibration" | "events">;
}

/** Answers as agents get them: a stream of 40 events within 0.4 s. */
export const FULL: ShedOptions["sizes"] = { connections: 256, warmup: 3, calibration: 5, events: 40 };
const PLANS = ["Free", "Lite", "Max"];
/** Each paid plan sends so much of the capacity. */
const PAID_SHARE = 0.05;
const DRIVE = new URL("./drive.ts", import.meta.url).pathname;

/** Success by plan while the first sends a multiple of what the process can serve. */
export async function measureShedding({ seconds, factor, shed, sizes }: ShedOptions): Promise<ShedResult> {
  let result: ShedResult | null = null;
  await withSite(async ({ processes, folder, upstreamPort }) => {
    await setRate(upstreamPort, 100);
    const store = `sqlite:${join(folder, "gateway.db")}`;
    const [config, port, logFile] = [join(folder, "gateway.yaml"), await freePort(), join(folder, "gateway.log")];
    await writeFile(config, JSON.stringify(configuration(port, upstreamPort, store, shed)));
    const keys = await addAccounts(store);
    const log = await open(logFile, "w");
    const child = processes.start(PROXY_CPU, [MAIN, "--config", config, "serve", "--log-level", "warn"], log.fd);
    await log.close();
    child.stdout?.resume();
    await untilItAnswers(child, port, "/v1/status", 30).catch(async (error: unknown) => {
      throw new Error(`the gateway did not start: ${(await readFile(logFile, "utf8")).slice(-2_000)}`, {
        cause: error,
      });
    });
    const load: ShedLoad = { port, keys, crowd: PLANS[0]!, factor, share: PAID_SHARE, seconds, ...sizes };
    result = JSON.parse(await processes.run(LOAD_CPU, [DRIVE, JSON.stringify(load)])) as ShedResult;
  });
  return result!;
}

/** @returns a key by plan. */
async function addAccounts(url: string): Promise<Record<string, string>> {
  const settings = { url: new Secret(url), nodes: [], prefix: "gw:", timeout: 10_000 };
  const store = await openConfigured(settings, { serving: false, now: Date.now });
  try {
    const keys: Record<string, string> = {};
    for (const tier of PLANS) {
      const credits = 1_000_000_000n * NANOS_PER_UNIT;
      const { id } = await createUser(store, { email: `${tier}@example.com`, tier, credits });
      keys[tier] = (await createKey(store, { userId: id, name: "bench" })).body.key;
    }
    return keys;
  } finally {
    await store.close();
  }
}

function configuration(port: number, upstreamPort: number, store: string, shed: ShedOptions["shed"]): object {
  const limits = { day: "none", hour: "none", minute: "none", streams: "none" };
  return {
    version: 1,
    server: { listen: [{ host: "127.0.0.1", port }], ip_limit: "none", ...(shed && { shed }) },
    store: { url: store },
    tiers: Object.fromEntries(PLANS.map((name) => [name, { access: "all", limits }])),
    upstreams: { mock: { dialect: "openai", base_url: `http://127.0.0.1:${upstreamPort}/v1`, api_keys: ["bench"] } },
    models: {
      [MODEL]: {
        kind: "chat",
        tier: "Free",
        owned_by: "bench",
        price: { input_per_million: 0.15, output_per_million: 0.6 },
        chain: [{ upstream: "mock", model: "bench-1" }],
      },
    },
    pipeline: ["auth", "plan-check", "quota", "breaker", "stream-relay", "meter"],
  };
}
