import { setTimeout as sleep } from "node:timers/promises";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { LedgerEntry } from "../../../../src/kit/index.ts";
import { RUNS } from "../../../properties/runs.ts";
import { textOf } from "../../support/configuration.ts";
import { tier } from "../../support/gateway-config.ts";
import { dataOf } from "../../support/http.ts";
import { CHAT, MESSAGES, TestGateway, type TestUser } from "../../support/in-process.ts";
import { type Ended, KeptClient } from "../../support/kept.ts";

const SEED = 20_260_117;
const KILLS = Math.ceil(RUNS / 5);
const USERS = 4;
/** Of each user; more than its streams may be. */
const LANES = 10;
const LIMIT = 8;

/** What an upstream is doing when the kill comes. */
const script = fc.constantFrom(
  "-",
  "?first_byte=1h",
  "?first_event=1h",
  "?stall_after=2",
  "?stall_after=4",
  "?chunk_delay=2ms&chunks=10000",
  "?chunk_delay=1ms&chunks=30",
  "?drip=40/2ms&chunks=20",
  "?chunks=2000&chunk_bytes=100",
  "?status=500",
  "?reset_after=3",
);
const moment = fc.record({ user: fc.nat({ max: USERS - 1 }), pause: fc.nat({ max: 25 }) });

test(`${KILLS} kills at random moments under load: every stream ends whole, the books balance, nothing is left`, async () => {
  const gateway = await TestGateway.start({ config: { tiers: { Streams: tier({ streams: LIMIT }) } } });
  const client = new KeptClient();
  const users = await Promise.all(
    Array.from({ length: USERS }, () => gateway.user({ tier: "Streams", credits: "100000" })),
  );
  const scripts = fc.sample(script, { numRuns: 5_000, seed: SEED }).values();
  const seen = new Map<string, Ended>();
  const stopping = new AbortController();
  let count = 0;
  const lane = async ({ key }: TestUser): Promise<void> => {
    while (!stopping.signal.aborted) {
      const id = `load-${(count += 1)}`;
      const sim = scripts.next().value ?? "-";
      const headers = { authorization: `Bearer ${key}`, "x-request-id": id };
      const call = client.open(gateway.url + CHAT, headers, {
        model: "route/one",
        messages: MESSAGES,
        stream: true,
        sim,
      });
      seen.set(id, await call.ended);
      if (seen.get(id)?.status === 429) await sleep(5);
    }
  };
  const lanes = Promise.all(users.flatMap((user) => Array.from({ length: LANES }, () => lane(user))));
  let killed = 0;
  const kill = async ({ key }: TestUser): Promise<void> => {
    const { text } = await gateway.send("/v1/user/streams/kill", { headers: { "x-api-key": key } });
    killed += (JSON.parse(text) as { killed_streams: number }).killed_streams;
  };
  for (const { user, pause } of fc.sample(moment, { numRuns: KILLS, seed: SEED })) {
    await sleep(pause);
    await kill(users[user]!);
  }
  stopping.abort();
  // Lanes whose upstream is stuck wait for a kill, also those that were only about to begin.
  const over = lanes.then(() => true);
  while (!(await Promise.race([over, sleep(10, false)]))) for (const user of users) await kill(user);
  client.close();
  await gateway.audit();

  const entries = new Map<string, LedgerEntry>();
  for (const user of users) {
    const { ledger, used } = await gateway.books(user);
    expect(used.day).toBe(ledger.length);
    for (const entry of ledger) entries.set(entry.requestId, entry);
  }
  const wrong = [...seen].filter(([id, ended]) => !agrees(ended, entries.get(id)));
  expect(
    wrong.map(([id, { text, ...ended }]) => ({ id, ended, text: text.slice(-300), entry: entries.get(id) })),
  ).toEqual([]);
  const outcomes = Map.groupBy(entries.values(), ({ outcome }) => outcome);
  const cut = outcomes.get("killed")?.length ?? 0;
  expect(outcomes.get("killed")?.some(({ charge }) => charge > 0n)).toBe(true);
  // Of those that were told to stop some had ended by then, and some had not begun.
  expect(killed).toBeGreaterThanOrEqual(cut);
  expect(cut).toBeGreaterThan(KILLS / 10);
  console.log(`${seen.size} streams, ${killed} told to stop, ${cut} of them charged`);
  await gateway.close();
});

/** The charge of "Hello there", which is four tokens with its role. */
const PROMPT = 4_000n;

/** What a client saw against what was recorded. */
function agrees({ status, text, whole }: Ended, entry: LedgerEntry | undefined): boolean {
  if (status === 429 || status === 502) return whole && entry === undefined;
  if (status !== 200 || !whole || !text.endsWith("data: [DONE]\n\n")) return false;
  // Killed before it began, and before or after its upstream was asked.
  if (text === "data: [DONE]\n\n")
    return entry === undefined || (entry.outcome === "killed" && entry.charge === PROMPT);
  const { prompt = 0, completion = 0 } = entry?.usage ?? {};
  if (entry?.charge !== 1_000n * BigInt(prompt) + 2_000n * BigInt(completion)) return false;
  if (text.includes('data: {"error"')) return entry.outcome === "upstream_cut";
  if (text.includes('"finish_reason":"stop"')) return entry.outcome === "served" || entry.outcome === "killed";
  return entry.outcome === "killed" && completion === countTokens(textOf(dataOf(text)));
}
