import * as fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LedgerEntry } from "../../../src/kit/index.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";
import { FORMAT_NAMES, type FormatName, FORMATS, openFormat, streamedText } from "../support/formats.ts";
import { eventually, type Exchange } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { piecesOf, PROMPT, THOUGHT, type WorkName, WORKS, WorkedUpstream } from "../support/worked.ts";

const NAMES = Object.keys(WORKS) as readonly WorkName[];
const READ_ON_MS = 2_000;
/** Output tokens that a request holds. */
const HOLD = 1_024;

let upstream: WorkedUpstream;
let gateway: TestGateway;
let user: TestUser;

/** A model for each dialect that learns from its requests, and one that has had none. */
const modelsOf = (suffix: string) =>
  NAMES.map((name) => [
    `route/${name}${suffix}`,
    {
      kind: "chat",
      tier: "Free",
      owned_by: "test",
      features: ["reasoning"],
      price: { input_per_million: 1, output_per_million: 2 },
      chain: [{ upstream: name, model: `${name}-thinker` }],
    },
  ]);

beforeAll(async () => {
  upstream = await WorkedUpstream.start();
  gateway = await TestGateway.start({
    config: {
      upstreams: Object.fromEntries(
        NAMES.map((name) => [
          name,
          { ...WORKS[name], base_url: `${upstream.origin}/of-${name}`, api_keys: ["upstream-key"] },
        ]),
      ),
      models: Object.fromEntries([...modelsOf(""), ...modelsOf("-cold")]),
    },
  });
  user = await gateway.user({ credits: "1000000" });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

const open = (format: FormatName, model: string, stream: boolean): Exchange =>
  openFormat(gateway, user, format, { model, stream });

/** At 1 a million tokens of input and 2 of output. */
const priceOf = (prompt: number, completion: number): bigint => 1_000n * BigInt(prompt) + 2_000n * BigInt(completion);

type Act = "leave" | "kill" | "stall" | "retry";

interface Plan {
  readonly format: FormatName;
  readonly name: WorkName;
  readonly stream: boolean;
  /** Share of the answer's bytes that the upstream has written when the client acts. */
  readonly share: number;
  readonly act: Act;
  /** Whether the upstream goes on, and tells its count, or is silent from then on. */
  readonly goesOn: boolean;
}

const PLAN: fc.Arbitrary<Plan> = fc.record({
  format: fc.constantFrom(...FORMAT_NAMES),
  name: fc.constantFrom(...NAMES),
  stream: fc.nat(3).map((one) => one > 0),
  share: fc.integer({ min: 0, max: 999 }).map((part) => part / 1_000),
  act: fc.constantFrom<Act>("leave", "kill", "stall", "retry"),
  goesOn: fc.boolean(),
});

function bytesOf({ name, stream, share }: Plan): number {
  return Math.floor(share * piecesOf(name, stream).reduce((sum, { bytes }) => sum + bytes.length, 0));
}

/** What the provider has made when the client acts. */
function workAt(plan: Plan) {
  const { name, stream } = plan;
  const bytes = bytesOf(plan);
  let at = 0;
  let text = "";
  let isBegun = false;
  for (const piece of piecesOf(name, stream)) {
    at += piece.bytes.length;
    // A whole answer is made before its first byte is sent.
    if (stream ? at > bytes : bytes === 0) break;
    text += piece.word;
    isBegun ||= piece.word !== "";
  }
  return { text, isBegun, completion: isBegun ? THOUGHT + countTokens(text) : 0 };
}

async function kill(): Promise<void> {
  await gateway.send("/v1/user/streams/kill", { headers: { "x-api-key": user.key } });
}

/** Plays one request. @returns what it was charged. */
async function play(plan: Plan, model: string): Promise<LedgerEntry> {
  const { format, stream, act, goesOn } = plan;
  upstream.stopAfter = bytesOf(plan);
  const { text, isBegun } = workAt(plan);
  const before = (await gateway.books(user)).ledger.length;
  const asked = upstream.asked;
  const call = open(format, model, stream);
  await eventually(() => upstream.asked > asked);
  if (stream && isBegun)
    await call.until(new RegExp(RegExp.escape(JSON.stringify(text.split(/(?<= )/).at(-1)).slice(1, -1))));
  else if (!stream && upstream.stopAfter > 0) await turns();
  if (act === "stall") await (stream && isBegun ? call.pause() : null);
  if (act === "kill" && stream) await kill();
  else call.leave();
  await eventually(async () => (await gateway.books(user)).running.held === 0n || !stream);
  if (goesOn) upstream.goOn();
  else gateway.clock.advance(READ_ON_MS);
  const books = await eventuallyBooks(before + 1);
  const [entry] = books.slice(before);
  if (act === "retry") {
    upstream.stopAfter = Infinity;
    await open(format, model, stream).whole();
    await eventuallyBooks(before + 2);
  }
  return entry!;
}

/**
 * Requests that come and go in the same process: what the upstream had written before is read by then. Nothing else shows of a
 * whole answer that is on its way.
 */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await gateway.get("/v1/models");
}

async function eventuallyBooks(length: number): Promise<readonly LedgerEntry[]> {
  await eventually(async () => (await gateway.books(user)).ledger.length >= length);
  return (await gateway.books(user)).ledger;
}

describe("a model that thinks in silence", () => {
  test(
    "whatever a client does at any byte, the charge is not below what the provider bills for the work done until then",
    async () => {
      for (const name of NAMES) {
        upstream.stopAfter = Infinity;
        for (const stream of [true, false]) {
          const answer = await open("chat", `route/${name}`, stream).whole();
          expect([name, answer.status]).toEqual([name, 200]);
        }
      }
      await eventuallyBooks(2 * NAMES.length);
      for (const plan of fc.sample(PLAN, Math.ceil(RUNS / 15))) {
        const { charge, usage } = await play(plan, `route/${plan.name}`);
        const { completion, isBegun } = workAt(plan);
        const told = plan.goesOn && (isBegun || !plan.stream);
        // What cannot be begun is charged its prompt, as documented; so is a whole answer that does not come.
        const due = plan.stream || told ? priceOf(PROMPT, completion) : priceOf(PROMPT, 0);
        expect([plan, usage, charge >= due]).toEqual([plan, usage, true]);
        // And no more than all of the answer costs.
        expect([plan, usage, charge <= priceOf(PROMPT, THOUGHT + 100)]).toEqual([plan, usage, true]);
      }
    },
    PATIENCE,
  );

  test.each(FORMAT_NAMES)(
    "%s: killed, its stream ends and its slot is free at once; only the charge waits",
    async (format) => {
      for (const name of NAMES) {
        upstream.stopAfter = 0.6 * piecesOf(name, true).reduce((sum, { bytes }) => sum + bytes.length, 0);
        const before = (await gateway.books(user)).ledger.length;
        const call = open(format, `route/${name}`, true);
        await call.until("Once");
        await kill();
        const { text, whole } = await call.whole();
        expect([name, whole, FORMATS[format].killed.test(text)]).toEqual([name, true, true]);
        expect(streamedText(format, text)).toContain("Once upon");
        const { running, ledger } = await gateway.books(user);
        expect([running, ledger.length]).toEqual([{ requests: 1, streams: 0, held: 0n }, before]);
        upstream.goOn();
        const entry = (await eventuallyBooks(before + 1)).at(-1);
        expect(entry).toMatchObject({ outcome: "killed", estimated: false });
      }
    },
  );

  test("as long as nothing is known of it, what it held is charged at least", async () => {
    for (const name of NAMES) {
      upstream.stopAfter = 0.6 * piecesOf(name, true).reduce((sum, { bytes }) => sum + bytes.length, 0);
      const before = (await gateway.books(user)).ledger.length;
      const call = open("chat", `route/${name}-cold`, true);
      await call.until("upon");
      call.leave();
      await eventually(async () => (await gateway.books(user)).running.held === 0n);
      gateway.clock.advance(READ_ON_MS);
      const entry = (await eventuallyBooks(before + 1)).at(-1)!;
      expect([name, entry.charge >= priceOf(PROMPT, HOLD)]).toEqual([name, true]);
      expect(entry).toMatchObject({ outcome: "client_gone", estimated: true });
    }
  });
});
