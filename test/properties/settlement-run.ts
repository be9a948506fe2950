import assert from "node:assert/strict";
import * as fc from "fast-check";
import { type Admission, type Settlement, storeUnavailable } from "../../src/kit/index.ts";
import type { Connection } from "../../src/store/redis/connection.ts";
import { Unanswered } from "../../src/store/redis/client.ts";
import { createKeys } from "../../src/store/redis/scripts.ts";
import { LEASE_MS } from "../../src/store/redis/leases.ts";
import type { RedisStore } from "../../src/store/redis/store.ts";
import { type ResilientStore, withResilience } from "../../src/store/resilient/store.ts";
import { collectingLog } from "../store/resilient/flaky.ts";
import { OPEN, RECORD, START, admission, unique } from "../store/support.ts";
import { digestOf, instanceOn, withClock } from "./instances.ts";
import { type Fate, Wire } from "./wire.ts";

type Command =
  | { readonly do: "admit"; readonly at: number; readonly stream: boolean; readonly charge: bigint | null }
  | { readonly do: "settle"; readonly which: number }
  | { readonly do: "renew" | "crash"; readonly at: number }
  | { readonly do: "forget" };

const at = fc.nat(1);
const COMMAND: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("admit" as const),
      at,
      stream: fc.boolean(),
      charge: fc.option(fc.bigInt({ min: 0n, max: 30n }), { nil: null, freq: 4 }),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("settle" as const), which: fc.nat(6) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("renew" as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const), at }) },
  { weight: 1, arbitrary: fc.constant({ do: "forget" as const }) },
);

/** Each command, and how much happens before the next one comes. */
export const STEPS = fc.array(fc.record({ command: COMMAND, steps: fc.nat(12) }), { minLength: 1, maxLength: 12 });

const unknown = (): Error => storeUnavailable(new Unanswered("no answer"));
const FATES = {
  answered: () => ({ executed: true, failure: null }),
  lost: () => ({ executed: true, failure: unknown() }),
  dropped: () => ({ executed: false, failure: unknown() }),
  refused: () => ({ executed: false, failure: storeUnavailable(new Error("not connected")) }),
} as const satisfies Record<string, () => Fate>;

/** Stretches of answers and of absence, as outages are. */
export const OUTAGES = fc
  .array(
    fc.tuple(fc.constantFrom("answered", "answered", "lost", "dropped", "refused"), fc.integer({ min: 1, max: 9 })),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((stretches) => stretches.flatMap(([fate, length]) => Array<typeof fate>(length).fill(fate)));

interface Request {
  readonly admission: Admission;
  readonly settlement: Settlement;
  readonly process: Process;
  isAdmitted: boolean;
  isAsked: boolean;
  /** Its settlement was acknowledged. */
  isSettled: boolean;
}

interface Process {
  readonly store: ResilientStore;
  readonly inner: RedisStore;
  readonly way: { cut(): void };
  /** Calls that have not ended. */
  under: number;
  isDead: boolean;
}

export interface Setting {
  readonly scheduler: fc.Scheduler;
  readonly outages: readonly (keyof typeof FATES)[];
  readonly onFailure: "closed" | "open";
  readonly connection: Connection;
  /** Of the processes' common journal. */
  readonly journal: string;
}

/** Two processes that share a server and a journal; both come and go, and so does what the server remembers. */
export class Run {
  readonly #setting: Setting;
  readonly #wire: Wire;
  readonly #server: Connection;
  readonly #prefix = `${unique("settlement")}:`;
  readonly #userId = unique("user");
  /** Of the key with which everything is asked. */
  readonly #budget = { keyId: unique("key"), amount: 2n ** 60n, per: "total" } as const;
  readonly #time = { now: START };
  readonly #requests: Request[] = [];
  readonly #all: Process[] = [];
  readonly #processes: Process[] = [];
  #ticks = 0;
  #asked = 0;
  #isWell = true;
  #rejected = 0;

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#wire = new Wire(setting.scheduler);
    this.#wire.fate = (command) => this.#fate(command);
    this.#server = withClock(setting.connection, () => this.#time.now);
  }

  async play(steps: readonly { readonly command: Command; readonly steps: number }[]): Promise<void> {
    const direct = instanceOn(this.#server, { prefix: this.#prefix, instance: "direct" });
    try {
      await direct.addUser({ id: this.#userId, email: `${this.#userId}@example.com`, tier: "Free", credits: 1_000n });
      const { keyId, ...budget } = this.#budget;
      const key = { id: keyId, userId: this.#userId, name: "n", prefix: "rk_", digest: digestOf(keyId) };
      await direct.addKey({ ...key, limits: { budget } }, 1);
      this.#processes.push(this.#start(), this.#start());
      await this.#quiet();
      this.#isWell = false;
      for (const { command, steps: count } of steps) {
        this.#do(command);
        for (let step = 0; step < count; step++) await this.#wire.step();
      }
      this.#isWell = true;
      await this.#quiet();
      for (const request of this.#requests) if (!request.isAsked) this.#settle(request);
      await this.#quiet();
      // What the dead have left behind is the next one's.
      const next = this.#start();
      await this.#quiet();
      const under = this.#all.filter(({ isDead }) => !isDead).map(({ under }) => under);
      assert.equal(Math.max(...under), 0, "everything has ended");
      assert.deepEqual([next.store.pending, this.#rejected], [0, 0]);
      await this.#verify(direct);
    } finally {
      for (const process of this.#all) if (!process.isDead) await process.store.close();
      await direct.close();
    }
  }

  #fate(command: string): Fate {
    // In life every admission tells the time again; a process that has never been told it believes nothing.
    if (this.#isWell || command === "TIME") return FATES.answered();
    const { outages } = this.#setting;
    return FATES[outages[this.#asked++ % outages.length]!]();
  }

  #do(command: Command): void {
    switch (command.do) {
      case "admit":
        this.#admit(this.#processes[command.at]!, command.stream, command.charge);
        break;
      case "settle": {
        const request = this.#requests[command.which];
        if (request) this.#settle(request);
        break;
      }
      case "renew": {
        const { inner } = this.#processes[command.at]!;
        inner.renew().catch(() => {});
        break;
      }
      case "crash":
        this.#crash(command.at);
        break;
      case "forget":
        void this.#wire.act("forget", () => this.#forget());
        break;
    }
  }

  #admit(process: Process, stream: boolean, charge: bigint | null): void {
    const budget = this.#budget;
    const asked = admission(this.#userId, { limits: OPEN, stream, hold: 3n, enforceCredits: false, budget });
    const { id, userId } = asked;
    const giveBack = charge === null;
    const settled = { id, userId, giveBack, charge: charge ?? 0n, record: giveBack ? null : RECORD };
    const settlement = { ...settled, budget: { keyId: budget.keyId, per: budget.per } };
    const begun = { isAdmitted: false, isAsked: false, isSettled: false };
    const request: Request = { admission: asked, settlement, process, ...begun };
    this.#requests.push(request);
    this.#watch(process, async () => {
      const { ok } = await process.store.admit(asked);
      request.isAdmitted = ok;
    });
  }

  /** Perhaps again. */
  #settle(request: Request): void {
    const { process, settlement } = request;
    if (!request.isAdmitted || process.isDead) return;
    request.isAsked = true;
    this.#watch(process, async () => {
      await process.store.settle(settlement);
      request.isSettled = true;
    });
  }

  /** What it has sent may arrive or not; what it would have heard it does not hear. */
  #crash(at: number): void {
    const process = this.#processes[at]!;
    process.isDead = true;
    process.way.cut();
    void process.store.close();
    this.#processes[at] = this.#start();
  }

  #start(): Process {
    const { onFailure, scheduler, journal } = this.#setting;
    const way = this.#wire.connection(`process ${this.#all.length}`, this.#server);
    const inner = instanceOn(way, { prefix: this.#prefix, instance: unique("process"), asks: true });
    const store = withResilience(inner, {
      onFailure: () => onFailure,
      journal,
      log: collectingLog().log,
      now: () => START + 17 * ++this.#ticks,
      onState: ({ rejected }) => {
        this.#rejected = Math.max(this.#rejected, rejected);
      },
      sleep: async () => {
        await scheduler.schedule(Promise.resolve(), "sleep");
      },
    });
    const process: Process = { store, inner, way, under: 0, isDead: false };
    this.#all.push(process);
    return process;
  }

  /** The server loses what is not durable. */
  async #forget(): Promise<void> {
    const { windows, reservations, leases, streams, abandoned } = createKeys(this.#prefix);
    const keys = [windows, reservations, leases, streams, abandoned].map((key) => key(this.#userId));
    await this.#server.call("DEL", ...keys);
  }

  /** A refusal is an answer too. */
  #watch(process: Process, work: () => Promise<void>): void {
    process.under++;
    void work()
      .catch(() => {})
      .finally(() => process.under--);
  }

  /** Until nothing is under way: a commit takes some turns of the event loop. */
  async #quiet(): Promise<void> {
    for (let idle = 0; idle < 30; idle++) if (await this.#wire.step()) idle = 0;
  }

  async #verify(direct: RedisStore): Promise<void> {
    const entries = await direct.ledger(this.#userId);
    const charges = new Map(entries.map(({ id, charge }) => [id, charge]));
    assert.equal(charges.size, entries.length, "each once");
    for (const { settlement, process, isSettled, isAsked } of this.#requests) {
      const charge = charges.get(settlement.id);
      const owed = isAsked && !settlement.giveBack ? settlement.charge : undefined;
      // What a dead process had not acknowledged may have been lost with it.
      if (charge !== undefined || isSettled || !process.isDead) assert.equal(charge, owed);
    }
    // What the dead ran goes with its lease.
    this.#time.now += LEASE_MS;
    const last = admission(this.#userId);
    await direct.admit(last);
    await direct.settle({ id: last.id, userId: last.userId, giveBack: true, charge: 0n, record: null });
    const { balance, held, granted } = (await direct.findUser(this.#userId))!;
    const sum = [...charges.values()].reduce((all, charge) => all + charge, 0n);
    assert.deepEqual([balance, held], [granted - sum, 0n]);
    const [key] = await direct.listKeys(this.#userId);
    assert.deepEqual(key!.budget, { spent: sum, held: 0n, resetsAt: null });
  }
}
