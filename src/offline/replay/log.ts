import type { Decision } from "#schema";
import type { Snapshot } from "../../kit/index.ts";
import { filesAside } from "../../telemetry/decision-file.ts";
import { type BadDecision, readDecisions } from "../../telemetry/decision-reader.ts";
import { Heap } from "./heap.ts";

/** Lines are written as requests end: one may stand behind others that began later by as much as it took … */
const MAX_HELD_MS = 3_600_000;
/** … and as many lines are held until it is known which came first. */
const MAX_HELD_COUNT = 50_000;
/** Bad lines that are named. */
const MAX_NAMED_COUNT = 20;
/** A limit decides by who came first: of requests that came in the same millisecond those that it refused were the last. */
const REFUSED_BY_LIMIT: ReadonlySet<string> = new Set(["DAILY_REQUEST_LIMIT_EXCEEDED", "RATE_LIMIT_ERROR"]);

/** What was read, and what could not be. */
export interface LogFacts {
  readonly files: number;
  readonly lines: number;
  /** Lines that are no decision: how many, and what is wrong with the first of them. */
  readonly bad: number;
  readonly bad_lines: readonly string[];
  /** Lines that stand so far from their time that what came after them had been replayed. */
  readonly late: number;
}

/** Decision logs as one, in the order in which requests were there to be admitted; no more is held than order takes. */
export class DecisionLog {
  readonly #files: readonly string[];
  #lines = 0;
  #late = 0;
  #bad = 0;
  readonly #badLines: string[] = [];

  constructor(files: readonly string[]) {
    this.#files = files;
  }

  get facts(): LogFacts {
    return {
      files: this.#files.length,
      lines: this.#lines,
      bad: this.#bad,
      bad_lines: [...this.#badLines],
      late: this.#late,
    };
  }

  /** @throws Error for a file that cannot be read. */
  async *read(): AsyncGenerator<Decision, void, undefined> {
    const held = new Heap<Decision>(byAdmission);
    let given = -Infinity;
    const give = (): Decision => {
      const decision = held.take()!;
      if (admittedAt(decision) < given) this.#late += 1;
      given = Math.max(given, admittedAt(decision));
      return decision;
    };
    for await (const decision of this.#byEnd()) {
      this.#lines += 1;
      held.add(decision);
      const until = endOf(decision) - MAX_HELD_MS;
      while (held.size > MAX_HELD_COUNT || (held.size > 0 && admittedAt(held.least!) < until)) yield give();
    }
    while (held.size > 0) yield give();
  }

  /** Of all files, merged by the ends of requests, which is the order of each. */
  async *#byEnd(): AsyncGenerator<Decision, void, undefined> {
    const heads = new Heap<{ decision: Decision; rest: AsyncGenerator<Decision, void, undefined> }>(
      (a, b) => endOf(a.decision) - endOf(b.decision),
    );
    const addNext = async (rest: AsyncGenerator<Decision, void, undefined>): Promise<void> => {
      const next = await rest.next();
      if (next.done !== true) heads.add({ decision: next.value, rest });
    };
    try {
      for (const file of this.#files) await addNext(readDecisions(file, (bad) => this.#onBad(bad)));
      for (let head = heads.take(); head !== null; head = heads.take()) {
        yield head.decision;
        await addNext(head.rest);
      }
    } finally {
      for (let head = heads.take(); head !== null; head = heads.take()) await head.rest.return();
    }
  }

  #onBad({ message }: BadDecision): void {
    this.#bad += 1;
    if (this.#badLines.length < MAX_NAMED_COUNT) this.#badLines.push(message);
  }
}

/**
 * The request of this id, or X-Request-Id; the last of several. Of the lines that do not name it nothing is read.
 * @returns null for none, and what is wrong with lines that do name it
 */
export async function findDecision(
  files: readonly string[],
  id: string,
): Promise<{ decision: Decision | null; bad: readonly string[] }> {
  const bad: string[] = [];
  let found: Decision | null = null;
  const onBad = ({ message }: BadDecision): void => {
    if (bad.length < MAX_NAMED_COUNT) bad.push(message);
  };
  const written = JSON.stringify(id).slice(1, -1);
  for (const file of files) {
    for await (const decision of readDecisions(file, onBad, written)) {
      if (decision.id !== id && decision.request_id !== id) continue;
      if (found === null || Date.parse(decision.time) >= Date.parse(found.time)) found = decision;
    }
  }
  return { decision: found, bad };
}

/** The configured decision log with what was put aside of it; null where none is configured. */
export async function logFiles({ telemetry: { decisionLog } }: Snapshot): Promise<readonly string[] | null> {
  return decisionLog && [...(await filesAside(decisionLog.file)), decisionLog.file];
}

function admittedAt({ time, body_ms }: Decision): number {
  return Date.parse(time) + (body_ms ?? 0);
}

function endOf({ time, total_ms }: Decision): number {
  return Date.parse(time) + total_ms;
}

function byAdmission(a: Decision, b: Decision): number {
  return Math.floor(admittedAt(a)) - Math.floor(admittedAt(b)) || rankOf(a) - rankOf(b);
}

function rankOf({ code }: Decision): number {
  return Number(REFUSED_BY_LIMIT.has(code ?? ""));
}
