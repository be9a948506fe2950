import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtins } from "../plugins/index.ts";
import { loadConfig, type LoadResult } from "../src/config/load.ts";
import { CAPABILITIES } from "../src/dialects/capabilities.ts";
import { chatFormat } from "../src/dialects/chat/client.ts";
import { chat } from "../src/dialects/chat/index.ts";
import type { Bill, Store, StreamEvent } from "../src/kit/index.ts";
import { openStore } from "../src/store/open.ts";
import {
  admissionOf,
  CALL,
  CHARGE,
  CHUNKS,
  CREDITS,
  PADDED_STREAM,
  recordOf,
  SHIPPED_CONFIG,
  STREAM,
} from "./input.ts";

/** A case made ready: `run` is what is timed. */
export interface Prepared<Answer> {
  readonly run: () => Answer;
  readonly close: () => Promise<void>;
}

export interface BenchCase {
  readonly name: string;
  /** How many things of what kind one run does. */
  readonly units: number;
  readonly unit: string;
  readonly prepare: () => Promise<Prepared<unknown>>;
}

export const USER = "user-bench";
const AT_ONCE = 64;

/** From the shipped file to the snapshot: what a start and a reload wait for. */
export function compileConfig(): Prepared<Promise<LoadResult>> {
  const options = { file: SHIPPED_CONFIG, mode: "serve", env: {}, builtins, dialects: CAPABILITIES } as const;
  return { run: () => loadConfig(options), close: nothing };
}

/** Admits and settles `atOnce` requests together, as concurrent requests share a commit. */
export async function admitAndSettle(
  url: string,
  atOnce: number,
): Promise<Prepared<Promise<void>> & { readonly store: Store }> {
  const store = await openStore(url, { serving: true, now: Date.now });
  await store.addUser({ id: USER, email: "bench@example.com", tier: "Max", credits: CREDITS });
  let count = 0;
  const one = async (): Promise<void> => {
    const id = `request-${count++}`;
    const admitted = await store.admit(admissionOf(id, USER));
    if (!admitted.ok) throw new Error(`refused: ${admitted.refusal}`);
    await store.settle({ id, userId: USER, giveBack: false, charge: CHARGE, record: recordOf(Date.now()) });
  };
  return {
    store,
    async run() {
      await Promise.all(Array.from({ length: atOnce }, one));
    },
    async close() {
      await store.close();
    },
  };
}

/** The same on a file in a folder of its own. */
export async function admitAndSettleOnFile(atOnce: number): ReturnType<typeof admitAndSettle> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-bench-"));
  const prepared = await admitAndSettle(`sqlite:${join(folder, "gateway.db")}`, atOnce);
  return {
    ...prepared,
    async close() {
      await prepared.close();
      await rm(folder, { recursive: true });
    },
  };
}

const BILL: Bill = {
  usage: { prompt: 10, completion: 500, cached: 0, reasoning: 0 },
  estimated: false,
  charge: CHARGE,
};

type Change = (event: StreamEvent) => StreamEvent;

/** Decodes an upstream's stream and writes it for the client, with `change` where a plugin's event hook would be. */
export function relayStream(change: Change, stream: readonly Uint8Array[] = STREAM): Prepared<string> {
  return {
    run() {
      const decoder = chat.decoder();
      const format = chatFormat(CALL).stream;
      let written = "";
      for (const read of stream) for (const event of decoder.feed(read)) written += format.event(change(event));
      for (const event of decoder.finish()) written += format.event(change(event));
      if (decoder.fault ?? !decoder.complete) throw new Error("the stream was not decoded");
      return written + format.done(BILL);
    },
    close: nothing,
  };
}

async function nothing(): Promise<void> {
  // Such a case holds nothing open.
}

export const unchanged: Change = (event) => event;
/** What a plugin that touches an event leaves: the raw text is gone, the chunk is written anew. */
export const touched: Change = ({ data, text, usage }) => ({ data: { ...data }, text, usage });

const request = { unit: "request" };
const event = { unit: "event", units: CHUNKS };

export const CASES: readonly BenchCase[] = [
  { name: "compile the shipped configuration", units: 1, unit: "file", prepare: async () => compileConfig() },
  { name: "admit and settle, memory", units: 1, ...request, prepare: () => admitAndSettle("memory:", 1) },
  { name: "admit and settle, file", units: 1, ...request, prepare: () => admitAndSettleOnFile(1) },
  {
    name: "admit and settle, file, 64 at once",
    units: AT_ONCE,
    ...request,
    prepare: () => admitAndSettleOnFile(AT_ONCE),
  },
  { name: "relay a stream", ...event, prepare: async () => relayStream(unchanged) },
  { name: "relay a padded stream", ...event, prepare: async () => relayStream(unchanged, PADDED_STREAM) },
  { name: "relay a stream that a plugin touches", ...event, prepare: async () => relayStream(touched) },
];
