import { appendFileSync } from "node:fs";
import { Pool } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../src/kit/index.ts";
import type { LedgerEntry } from "../../src/simulator/server.ts";
import { FORMATS, type FormatName } from "../e2e/support/formats.ts";
import { TestGateway, type TestUser } from "../e2e/support/in-process.ts";
import { casesOf, type SweepCase } from "./cases.ts";
import { refusedAt } from "./refused.ts";
import { routeOf, type SweepTarget, TARGETS, targetsConfig } from "./targets.ts";
import { untold } from "./told.ts";
import { misshapen } from "./well-formed.ts";

/*
 * Every case of a client's format at every target. The simulator refuses none of it, the gateway serves it, tells what it
 * dropped, and answers in the client's format.
 *
 *   SWEEP_TARGET=mistral SWEEP_BODY=parallel npx vitest run --config test/vitest.config.ts test/sweep
 */

/**
 * Parts of names, to run a few of many; a file to which every fault is appended, for a test's output is cut; and `both`, to
 * send everything whole and streamed.
 */
const { SWEEP_TARGET = "", SWEEP_BODY = "", SWEEP_REPORT = "", SWEEP_MODES = "" } = process.env;

/** Requests under way: one at a time leaves the client waiting for sockets. */
const CONCURRENT = 8;

const MODES = ["whole", "streamed"] as const;
type Mode = (typeof MODES)[number];

/**
 * A case goes to every eighth target, whole and streamed in turn, and the next case to their neighbours. Neighbours in the list
 * have much the same rules, and `npm run test:long` sends everything to all. A selected few get both.
 */
const BOTH = SWEEP_MODES === "both" || SWEEP_TARGET !== "" || SWEEP_BODY !== "";

function modesOf(caseIndex: number, target: SweepTarget): readonly Mode[] {
  if (BOTH) return MODES;
  const turn = caseIndex + TARGETS.indexOf(target);
  return turn % 8 === 0 ? [MODES[(turn / 8) % MODES.length]!] : [];
}

export interface SweepAnswer {
  readonly status: number;
  readonly text: string;
  /** Pointers of `X-Gateway-Dropped`. */
  readonly dropped: readonly string[];
}

/** One request and what became of it. */
interface Served {
  readonly one: SweepCase;
  readonly mode: Mode;
  readonly id: string;
  readonly answer: SweepAnswer;
}

/**
 * Declares the tests of a format, one for each target.
 * @param part which part of the targets, of how many: three long files leave one of two cores idle at the end.
 */
export function sweepFormat(format: FormatName, { part, of } = { part: 0, of: 1 }): void {
  const cases = casesOf(format).filter(({ name }) => `${format}/${name}`.includes(SWEEP_BODY));
  const targets = TARGETS.filter(({ name }, index) => name.includes(SWEEP_TARGET) && index % of === part);
  let gateway: TestGateway;
  let user: TestUser;
  let pool: Pool;

  beforeAll(async () => {
    gateway = await TestGateway.start({
      config: (origin) => ({
        ...targetsConfig(origin, targets),
        store: { url: "memory:" },
        server: { body_limit: "16MiB" },
      }),
    });
    user = await gateway.user({ credits: "1000000" });
    pool = new Pool(gateway.url, { connections: CONCURRENT });
  });
  afterAll(async () => {
    await pool.close();
    await gateway.close();
  });

  async function send(one: SweepCase, target: SweepTarget, mode: Mode): Promise<Served> {
    const id = `${one.name} ${mode} ${target.name}`.replaceAll(/[^\x21-\x7e]/g, "_").slice(0, 128);
    const body = { ...one.body, model: routeOf(target), stream: mode === "streamed" };
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${user.key}`,
      "anthropic-version": "2023-06-01",
      ...one.headers,
      "x-request-id": id,
    };
    const response = await pool.request({
      path: FORMATS[format].path,
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const told = String(response.headers["x-gateway-dropped"] ?? "");
    const dropped = told === "" ? [] : told.split(", ").map((pointer) => decodeURI(pointer));
    return { one, mode, id, answer: { status: response.statusCode, text: await response.body.text(), dropped } };
  }

  describe.skipIf(cases.length === 0 || targets.length === 0)(`${format} clients`, () => {
    test.each(targets.map((target) => [target.name, target] as const))("%s", async (_, target) => {
      const waiting = cases.flatMap((one, index) => modesOf(index, target).map((mode) => [one, mode] as const));
      const served: Served[] = [];
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next; next = waiting.shift())
          served.push(await send(next[0], target, next[1]));
      };
      await Promise.all(Array.from({ length: CONCURRENT }, work));
      const received = Map.groupBy(gateway.simulator.ledger(), ({ requestId }) => requestId);
      const faults = served.flatMap((one) => faultsOf(one, target, received.get(one.id) ?? [])).toSorted();
      if (SWEEP_REPORT !== "" && faults.length > 0) appendFileSync(SWEEP_REPORT, `${faults.join("\n")}\n`);
      expect(faults.join("\n")).toBe("");
    });
  });
}

/** Lines `format/case × target × mode: what is wrong`. */
function faultsOf({ one, mode, answer }: Served, target: SweepTarget, entries: readonly LedgerEntry[]): string[] {
  const name = `${one.format}/${one.name}`;
  const line = (fault: string): string => `${name} × ${target.name} × ${mode}: ${fault}`;
  const refusals = entries.flatMap(({ refusal }) => (refusal === null ? [] : [`refused: ${refusal}`]));
  const expected = refusedAt(one, target);
  if (expected !== undefined) {
    const asExpected = answer.status === 400 && entries.length === 0;
    return asExpected ? [] : [line(`${answer.status} in place of 400 (${expected})`)];
  }
  if (answer.status !== 200) return [...refusals, `${answer.status} ${answer.text.slice(0, 300)}`].map(line);
  const [sent] = entries.slice(-1);
  const body = sent?.body;
  if (typeof body !== "string") return [line("the simulator did not get it")];
  return [
    ...refusals,
    ...misshapen(one.format, mode === "streamed", answer.text).map((what) => `the answer: ${what}`),
    ...untold(one, JSON.parse(body) as Json, answer.dropped).map((what) => `lost without a word: ${what}`),
  ].map(line);
}
