import { onTestFinished } from "vitest";
import type { Log } from "../../../src/kit/index.ts";
import { type OpenRedisOptions, openRedis } from "../../../src/store/redis/open.ts";
import type { RedisStore } from "../../../src/store/redis/store.ts";
import { unique } from "../support.ts";

/** Of a store in a test that is not about time: a busy machine fails no call, and a clock put forward ends no lease. */
export const PATIENT = { timeout: 10_000, lease: 1e15 } as const;

export const UNAVAILABLE = { code: "STORE_UNAVAILABLE", details: { retryAfter: 1 } };

/** Closed when the test ends. Two with one `prefix` are two processes of one store. */
export async function openAt(url: string, more: Partial<OpenRedisOptions> = {}): Promise<RedisStore> {
  const store = await openRedis({ url, nodes: [], prefix: `${unique("t")}:`, timeout: PATIENT.timeout, ...more });
  onTestFinished(() => store.close());
  return store;
}

/** Keeps what is logged, as "<level> <message> <fields>". */
export function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
