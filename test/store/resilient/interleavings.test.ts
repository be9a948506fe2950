import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { inspect, isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { type Admission, type Settlement, type Store, storeUnavailable } from "../../../src/kit/index.ts";
import { openMemory } from "../../../src/store/sqlite/database.ts";
import { type ResilienceOptions, type ResilientStore, withResilience } from "../../../src/store/resilient/store.ts";
import { sqliteStore, type SqliteStore } from "../../../src/store/sqlite/store.ts";
import { collectingLog, type Fate } from "./flaky.ts";
import { OPEN, RECORD, START, addUser, admission, givenBack } from "../support.ts";

const RUNS = Number(process.env["NUM_RUNS"] ?? 400);

type Command =
  | { readonly do: "admit"; readonly stream: boolean; readonly units: number }
  | { readonly do: "settle"; readonly which: number; readonly charge: bigint; readonly giveBack: boolean }
  | { readonly do: "crash" };

/** A command, and what happens of what is under way before the next one comes. */
type Step = { readonly command: Command; readonly steps: number };

const COMMAND: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("admit" as const),
      stream: fc.boolean(),
      units: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant("settle" as const),
      which: fc.nat(6),
      charge: fc.bigInt({ min: 0n, max: 30n }),
      giveBack: fc.nat(3).map((one) => one === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const) }) },
);

const STEPS = fc.array(fc.record({ command: COMMAND, steps: fc.nat(12) }), { minLength: 1, maxLength: 14 });

/** Stretches of answers and of absence, as outages are. */
const FATES: fc.Arbitrary<readonly Fate[]> = fc
  .array(fc.tuple(fc.constantFrom<Fate>("answer", "away", "lost"), fc.integer({ min: 1, max: 9 })), {
    minLength: 1,
    maxLength: 6,
  })
  .map((stretches) => stretches.flatMap(([fate, length]) => Array<Fate>(length).fill(fate)));

interface Request {
  readonly admission: Admission;
  admitted: boolean;
  settlement: Settlement | null;
  /** Whether the process that had it is gone. */
  orphan: boolean;
  acknowledged: boolean;
}

/** One run: a store over a wire on which every question and every answer takes as long as the scheduler likes. */
class Run {
  readonly #inner: SqliteStore;
  readonly #scheduler: fc.Scheduler;
  readonly #fates: readonly Fate[];
  readonly #requests: Request[] = [];
  readonly #options: ResilienceOptions;
  readonly #userId: string;
  readonly #wrong: string[] = [];
  #asked = 0;
  #well = false;
  #under = 0;
  #local = 0;
  #store: ResilientStore;
  #cut = { is: false };

  constructor(
    inner: SqliteStore,
    scheduler: fc.Scheduler,
    fates: readonly Fate[],
    userId: string,
    options: ResilienceOptions,
  ) {
    this.#inner = inner;
    this.#scheduler = scheduler;
    this.#fates = fates;
    this.#userId = userId;
    this.#options = options;
    this.#store = this.#start();
  }

  /** @returns what is wrong. */
  async play(steps: readonly Step[]): Promise<readonly string[]> {
    for (const { command, steps: count } of steps) {
      this.#do(command);
      for (let step = 0; step < count; step++) await this.#step();
    }
    this.#well = true;
    await this.#quiet();
    // What is still running is settled; what a dead process had is not.
    for (const request of this.#requests) if (!request.settlement && !request.orphan) this.#settle(request, 1n, false);
    await this.#quiet();
    this.#check("everything has ended", [this.#under, this.#store.pending], [0, 0]);
    this.#check("no local slot is left", this.#local, 0);
    this.#verify();
    await this.#store.close();
    return this.#wrong;
  }

  #do(command: Command): void {
    if (command.do === "crash") this.#crash();
    else if (command.do === "admit") this.#admit(command.stream, command.units);
    else {
      const request = this.#requests[command.which];
      if (request?.admitted && !request.orphan) this.#settle(request, command.charge, command.giveBack);
    }
  }

  #admit(stream: boolean, units: number): void {
    const request: Request = {
      admission: admission(this.#userId, { stream, units, hold: 3n, enforceCredits: false }),
      admitted: false,
      settlement: null,
      orphan: false,
      acknowledged: false,
    };
    this.#requests.push(request);
    const cut = this.#cut;
    this.#watch(async () => {
      await this.#store.admit(request.admission);
      request.admitted = !cut.is;
    });
  }

  /** A second time it is the same settlement. */
  #settle(request: Request, charge: bigint, giveBack: boolean): void {
    if (!request.admitted) return;
    const { id, userId } = request.admission;
    const record = giveBack ? null : RECORD;
    const settlement = (request.settlement ??= { id, userId, giveBack, charge: giveBack ? 0n : charge, record });
    this.#watch(async () => {
      await this.#store.settle(settlement);
      request.acknowledged = true;
    });
  }

  /** What it had said to the wire may arrive, what it would have heard does not. */
  #crash(): void {
    this.#cut.is = true;
    for (const request of this.#requests) request.orphan = true;
    void this.#store.close();
    this.#under = 0;
    this.#store = this.#start();
  }

  #start(): ResilientStore {
    const cut = { is: false };
    this.#cut = cut;
    const never = new Promise<never>(() => {});
    const wire = new Proxy(this.#inner, {
      get: (inner, name: keyof Store) => {
        if (name === "close") return () => {};
        return async (...args: unknown[]) => {
          const fate = this.#well ? "answer" : this.#fates[this.#asked++ % this.#fates.length]!;
          await this.#scheduler.schedule(Promise.resolve(), name);
          const method = inner[name] as (...args: unknown[]) => unknown;
          const answer = fate === "away" ? null : await method.apply(inner, args);
          // Who has no answer to an admission cannot know: a store over a wire gives it back by itself.
          if (fate !== "answer" && name === "admit" && !cut.is) void this.#giveBack(args[0] as Admission);
          await this.#scheduler.schedule(Promise.resolve(), `${name} answered`);
          if (cut.is) return never;
          if (fate !== "answer") throw storeUnavailable(new Error(fate));
          return answer;
        };
      },
    });
    this.#local = 0;
    return withResilience(wire, {
      ...this.#options,
      onState: ({ local }) => {
        if (!cut.is) this.#local = local;
      },
      sleep: async () => {
        await this.#scheduler.schedule(Promise.resolve(), "sleep");
      },
    });
  }

  async #giveBack(request: Admission): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), "give back");
    await this.#inner.settle(givenBack(request));
  }

  /** A failure is an answer too: closed, or without a journal, when the settlement goes on by itself. */
  #watch(work: () => Promise<void>): void {
    const cut = this.#cut;
    this.#under++;
    void work()
      .catch(() => {})
      .finally(() => {
        if (!cut.is) this.#under--;
      });
  }

  /** Waits until nothing is under way: a commit takes some turns of the event loop. */
  async #quiet(): Promise<void> {
    for (let idle = 0; idle < 30; idle++) if (await this.#step()) idle = 0;
  }

  /** @returns whether anything was left to be done. */
  async #step(): Promise<boolean> {
    const isBusy = this.#scheduler.count() > 0;
    if (isBusy) await this.#scheduler.waitNext(1);
    else await turn();
    return isBusy;
  }

  #verify(): void {
    const entries = this.#inner.ledger(this.#userId);
    const charges = new Map(entries.map(({ id, charge }) => [id, charge]));
    this.#check("each once", charges.size, entries.length);
    for (const { admission, settlement, acknowledged, orphan } of this.#requests) {
      const charge = charges.get(admission.id);
      const owed = settlement === null || settlement.giveBack ? undefined : settlement.charge;
      // What a dead process had not acknowledged may have been lost with it.
      if (charge !== undefined || acknowledged || !orphan) this.#check("charged", charge, owed);
    }
    const user = this.#inner.findUser(this.#userId)!;
    const sum = entries.reduce((all, { charge }) => all + charge, 0n);
    this.#check("granted = balance + charges", user.balance + sum, user.granted);

    const counted = this.#requests.filter(({ admission }) => charges.has(admission.id));
    const units = counted.reduce((all, { admission }) => all + admission.units, 0);
    const { day } = this.#inner.windows(this.#userId, OPEN);
    this.#check("all is counted", day.used >= units, true);
    // A dead process leaves what it ran.
    if (this.#requests.some(({ orphan }) => orphan)) return;
    this.#check("each is counted once", day.used, units);
    const { requests, streams, held } = this.#inner.running(this.#userId);
    this.#check("nothing is left", [requests, streams, held, user.held], [0, 0, 0n, 0n]);
  }

  #check(what: string, found: unknown, expected: unknown): void {
    if (!isDeepStrictEqual(found, expected)) this.#wrong.push(`${what}: ${inspect(found)}, not ${inspect(expected)}`);
  }
}

function folderInMemory(): string {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "gateway-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test.each([
  ["closed", true],
  ["open", true],
  ["open", false],
] as const)(
  "%s, journal: %s: however questions, answers and failures interleave, each is charged and counted once",
  { timeout: 600_000 },
  async (onFailure, hasJournal) => {
    const inner = sqliteStore(openMemory(), () => START);
    onTestFinished(() => inner.close());
    const journal = hasJournal ? join(folderInMemory(), "settlements.db") : null;
    const { log } = collectingLog();
    let ticks = 0;
    const tick = () => START + 17 * ++ticks;
    const property = fc.asyncProperty(fc.scheduler(), FATES, STEPS, async (scheduler, fates, steps) => {
      const user = await addUser(inner, 1_000n);
      const run = new Run(inner, scheduler, fates, user.id, { onFailure: () => onFailure, journal, log, now: tick });
      expect(await run.play(steps)).toEqual([]);
    });
    await fc.assert(property, { numRuns: Math.ceil(RUNS / 3) });
  },
);
