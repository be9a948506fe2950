import { copyFileSync, existsSync } from "node:fs";
import assert from "node:assert/strict";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Admission } from "../../src/kit/index.ts";
import { openFile } from "../../src/store/sqlite/database.ts";
import { type SqliteStore, sqliteStore } from "../../src/store/sqlite/store.ts";
import { admission, charged, givenBack, OPEN, START, temporaryFolder, unique } from "../store/support.ts";
import { FEW_RUNS, PATIENCE } from "./runs.ts";

/** What a killed process may not have written down yet, and what leaves a record; as README says, with a turn of a timer. */
const SAVED_AFTER_MS = 100;
const RECORDED_AFTER_MS = [1_000, 1_000 + 2 * SAVED_AFTER_MS] as const;
const STEP_MS = 100;
/** A command takes longer to end. */
const COMMAND_MS = 5;

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => vi.useRealTimers());

const amount = fc.bigInt({ min: 0n, max: 60n });
const which = fc.nat(4);
const COMMAND = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("admit" as const), hold: amount, stream: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("settle" as const), all: fc.array(which), charge: amount }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("give back" as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("grant" as const),
      amount: fc.bigInt({ min: -50n, max: 90n }),
      byCommand: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stop" as const), byCommand: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 50, 130, 1_200) }) },
);
type Command = typeof COMMAND extends fc.Arbitrary<infer Value> ? Value : never;

interface Request {
  readonly admission: Admission;
  readonly since: number;
  charge: bigint | null;
  isOver: boolean;
}

/** One user as one would explain it, beside the store, and a command line that opens the same file. */
class Run {
  readonly #file = join(temporaryFolder(), "gateway.db");
  readonly #store: SqliteStore = serve(this.#file);
  readonly #command = sqliteStore(openFile(this.#file, false), () => START);
  readonly #userId = unique("user");
  readonly #requests: Request[] = [];
  #granted = 100n;
  #stopToken = 0;
  #now = 0;

  async play(commands: readonly Command[]): Promise<void> {
    try {
      const id = this.#userId;
      this.#store.addUser({ id, email: `${id}@example.com`, tier: "Free", credits: this.#granted });
      for (const command of commands) {
        await this.#do(command);
        this.#compare();
      }
      this.#afterKill();
    } finally {
      this.#store.close();
      this.#command.close();
    }
    await this.#afterClose();
  }

  get #running(): readonly Request[] {
    return this.#requests.filter(({ isOver }) => !isOver);
  }

  get #charges(): ReadonlyMap<string, bigint> {
    return new Map(
      this.#requests.flatMap(({ admission, charge }) => (charge === null ? [] : [[admission.id, charge]])),
    );
  }

  get #balance(): bigint {
    return [...this.#charges.values()].reduce((rest, charge) => rest - charge, this.#granted);
  }

  get #held(): bigint {
    return this.#running.reduce((sum, { admission }) => sum + admission.hold, 0n);
  }

  async #do(command: Command): Promise<void> {
    switch (command.do) {
      case "admit":
        return this.#admit(command.hold, command.stream);
      case "settle":
        return this.#settle(command.all, command.charge);
      case "give back": {
        const request = this.#requests[command.which];
        if (!request) return;
        assert.equal(await this.#store.settle(givenBack(request.admission)), !request.isOver);
        request.isOver = true;
        return;
      }
      case "grant":
        this.#granted += command.amount;
        (command.byCommand ? this.#command : this.#store).grant(this.#userId, command.amount);
        return this.#pass(command.byCommand ? COMMAND_MS : 0);
      case "stop":
        this.#stopToken++;
        (command.byCommand ? this.#command : this.#store).stopStreams(this.#userId);
        return this.#pass(command.byCommand ? COMMAND_MS : 0);
      case "wait":
        return this.#pass(command.ms);
    }
  }

  async #admit(hold: bigint, stream: boolean): Promise<void> {
    const request = admission(this.#userId, { hold, stream, limits: { ...OPEN, streams: 3 } });
    const lacksCredits = hold > 0n && this.#balance - this.#held < hold;
    const isFull = stream && this.#running.filter((one) => one.admission.stream).length >= 3;
    const result = await this.#store.admit(request);
    const refusal = lacksCredits ? "credits" : isFull ? "streams" : null;
    assert.equal(result.ok ? null : result.refusal, refusal);
    assert.equal(result.ok ? result.stopToken : this.#stopToken, this.#stopToken);
    if (result.ok) this.#requests.push({ admission: request, since: this.#now, charge: null, isOver: false });
  }

  /** At the same time, some twice, and one that fails and takes the commit back. */
  async #settle(all: readonly number[], charge: bigint): Promise<void> {
    const asked = all.flatMap((which) => this.#requests[which] ?? []);
    const bad = this.#running[0];
    const settled = asked.map((request) => this.#store.settle(charged(request.admission, charge)));
    if (bad) settled.push(this.#store.settle({ ...charged(bad.admission, 1n), record: null }));
    const answers = await Promise.allSettled(settled);
    for (const [index, request] of asked.entries()) {
      assert.deepEqual(answers[index], { status: "fulfilled", value: !request.isOver });
      if (request.isOver) continue;
      request.isOver = true;
      request.charge = charge;
    }
    if (bad) assert.equal(answers.at(-1)?.status, "rejected");
  }

  /** What is due to be written is, a few turns of the event loop later. */
  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      const step = Math.min(left, STEP_MS);
      this.#now += step;
      await vi.advanceTimersByTimeAsync(step);
      for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #compare(): void {
    const user = this.#store.findUser(this.#userId)!;
    const balance = this.#balance;
    assert.deepEqual(
      [user.balance, user.held, user.granted, user.charged],
      [balance, this.#held, this.#granted, this.#granted - balance],
    );
    const streams = this.#running.filter(({ admission }) => admission.stream).length;
    const running = { requests: this.#running.length, streams, held: this.#held };
    assert.deepEqual(this.#store.running(this.#userId), running);
    assert.equal(this.#store.windows(this.#userId, OPEN).day.used, this.#counted.length);
    assert.equal(this.#command.findUser(this.#userId)!.balance, balance);
  }

  /** Given back ones are not. */
  get #counted(): readonly Request[] {
    return this.#requests.filter(({ isOver, charge }) => !isOver || charge !== null);
  }

  /** A copy of the file is what a process that is killed now leaves. */
  #afterKill(): void {
    const copy = join(temporaryFolder(), "gateway.db");
    for (const suffix of ["", "-wal"])
      if (existsSync(this.#file + suffix)) copyFileSync(this.#file + suffix, copy + suffix);
    this.#checkNext(copy, (request) => {
      const age = this.#now - request.since;
      const [young, old] = RECORDED_AFTER_MS;
      return age < young ? "none" : age >= old ? "record" : "either";
    });
  }

  async #afterClose(): Promise<void> {
    this.#checkNext(this.#file, () => "record");
  }

  #checkNext(file: string, leaves: (request: Request) => "record" | "none" | "either"): void {
    const next = serve(file);
    try {
      const id = this.#userId;
      const user = next.findUser(id)!;
      const balance = this.#balance;
      assert.deepEqual([user.balance, user.held, user.granted], [balance, 0n, this.#granted]);
      assert.deepEqual(next.running(id), { requests: 0, streams: 0, held: 0n });
      const ledger = next.ledger(id);
      const served = ledger.filter(({ outcome }) => outcome === "served");
      assert.deepEqual(new Map(served.map(({ id, charge }) => [id, charge])), this.#charges);
      const left = ledger.filter(({ outcome }) => outcome === "shutdown");
      assert.equal(served.length + left.length, ledger.length);
      const ids = new Set(left.map(({ id }) => id));
      assert.ok(ids.size === left.length && left.every(({ charge }) => charge === 0n));
      for (const request of this.#requests) {
        const has = ids.has(request.admission.id);
        const expected = request.isOver ? "none" : leaves(request);
        if (expected !== "either") assert.equal(has, expected === "record");
      }
      const { used } = next.windows(id, OPEN).day;
      const isCounted = (request: Request) => request.charge !== null || leaves(request) === "record";
      const saved = this.#counted.filter(
        (request) => isCounted(request) || this.#now - request.since > 2 * SAVED_AFTER_MS,
      );
      assert.ok(used >= saved.length && used <= this.#counted.length, `${used} counted`);
    } finally {
      next.close();
    }
  }
}

function serve(file: string): SqliteStore {
  const store = sqliteStore(openFile(file, true), () => START);
  store.recover();
  return store;
}

test(
  "a file beside its process: what is told, what a command sees, and what a kill or a shutdown leaves",
  { timeout: PATIENCE },
  async () => {
    const all = fc.assert(
      fc.asyncProperty(fc.array(COMMAND, { minLength: 1, maxLength: 25, size: "max" }), (commands) =>
        new Run().play(commands),
      ),
      { numRuns: FEW_RUNS },
    );
    await expect(all).resolves.toBeUndefined();
  },
);
