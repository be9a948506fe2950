import * as fc from "fast-check";
import { expect, test } from "vitest";
import type {
  Admission,
  AdmissionResult,
  Awaitable,
  Limits,
  Refusal,
  Store,
  WindowName,
} from "../../../src/kit/index.ts";
import { DAY, HOUR, MINUTE, RECORD, unique } from "../support.ts";
import { PATIENCE } from "../../properties/runs.ts";

type Command =
  | {
      readonly do: "admit";
      readonly units: number;
      readonly stream: boolean;
      readonly hold: bigint;
      readonly enforce: boolean;
    }
  | { readonly do: "settle"; readonly which: number; readonly charge: bigint }
  | { readonly do: "giveBack"; readonly which: number }
  | { readonly do: "grant"; readonly amount: bigint }
  | { readonly do: "pass"; readonly time: number };

/** Nothing more often than by chance: what is counted and free. */
const amount = (max: bigint) => fc.oneof({ weight: 3, arbitrary: fc.bigInt({ min: 0n, max }) }, fc.constant(0n));

const COMMAND: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("admit" as const),
      units: fc.integer({ min: 1, max: 5 }),
      stream: fc.boolean(),
      hold: amount(30n),
      enforce: fc.boolean(),
    }),
  },
  // `which` also names requests that were refused or have been settled already.
  { weight: 3, arbitrary: fc.record({ do: fc.constant("settle" as const), which: fc.nat(20), charge: amount(40n) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("giveBack" as const), which: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("grant" as const), amount: fc.bigInt({ min: -20n, max: 50n }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      time: fc.constantFrom(1, 999, MINUTE - 1, MINUTE, HOUR, DAY - 1, DAY),
    }),
  },
);

const limit = (max: number) => fc.option(fc.integer({ min: 0, max }), { nil: null, freq: 4 });
const LIMITS: fc.Arbitrary<Limits> = fc.record({ day: limit(12), hour: limit(6), minute: limit(4), streams: limit(3) });

const LENGTHS: readonly (readonly [WindowName, number])[] = [
  ["day", DAY],
  ["hour", HOUR],
  ["minute", MINUTE],
];

/** The store as one would explain it: a map of counted windows, a map of running requests, two sums. */
class Model {
  readonly counts = new Map<string, number>();
  readonly running = new Map<string, { readonly admission: Admission; readonly places: readonly string[] }>();
  charges: bigint[] = [];
  granted: bigint;
  readonly limits: Limits;

  constructor(limits: Limits, granted: bigint) {
    this.limits = limits;
    this.granted = granted;
  }

  get balance(): bigint {
    return this.granted - this.charges.reduce((sum, charge) => sum + charge, 0n);
  }

  get held(): bigint {
    return [...this.running.values()].reduce((sum, { admission }) => sum + admission.hold, 0n);
  }

  get streams(): number {
    return [...this.running.values()].filter(({ admission }) => admission.stream).length;
  }

  places(now: number): string[] {
    return LENGTHS.map(([name, length]) => `${name} ${Math.floor(now / length)}`);
  }

  used(now: number): number[] {
    return this.places(now).map((place) => this.counts.get(place) ?? 0);
  }

  admit(admission: Admission, now: number): Refusal | null {
    const { hold, enforceCredits, units, stream } = admission;
    if (enforceCredits && hold > 0n && this.balance - this.held < hold) return "credits";
    const places = this.places(now);
    for (const [index, [name]] of LENGTHS.entries()) {
      const wanted = this.used(now)[index]! + (name === "day" ? units : 1);
      if (this.limits[name] !== null && wanted > this.limits[name]) return name;
    }
    if (stream && this.limits.streams !== null && this.streams >= this.limits.streams) return "streams";
    for (const place of places) this.count(place, place.startsWith("day") ? units : 1);
    this.running.set(admission.id, { admission, places });
    return null;
  }

  settle(id: string, charge: bigint, giveBack: boolean): boolean {
    const request = this.running.get(id);
    if (!request) return false;
    this.running.delete(id);
    if (!giveBack) this.charges.push(charge);
    else for (const place of request.places) this.count(place, place.startsWith("day") ? -request.admission.units : -1);
    return true;
  }

  private count(place: string, by: number): void {
    this.counts.set(place, (this.counts.get(place) ?? 0) + by);
  }
}

/** Random sequences against the model; `clock` is the store's own and only goes forward. */
export function propertySuite(store: () => Store, clock: { now: number }, numRuns: number): void {
  test(
    "random sequences do what the model does",
    async () => {
      const property = fc.asyncProperty(
        LIMITS,
        amount(100n),
        fc.array(COMMAND, { maxLength: 30, size: "max" }),
        (limits, credits, commands) => play(store(), clock, new Model(limits, credits), commands),
      );
      await expect(fc.assert(property, { numRuns })).resolves.toBeUndefined();
    },
    PATIENCE,
  );
}

async function play(store: Store, clock: { now: number }, model: Model, commands: readonly Command[]): Promise<void> {
  clock.now += DAY;
  const userId = unique("user");
  await store.addUser({ id: userId, email: `${userId}@example.com`, tier: "Free", credits: model.granted });
  const admitted: Admission[] = [];
  // Admissions and settlements are not waited for, so that they share commits; their order must hold all the same.
  let waiting: Promise<void>[] = [];
  const settled = async () => {
    await Promise.all(waiting);
    waiting = [];
    await compare(store, userId, model, clock.now);
  };
  const settle = (which: number, charge: bigint, giveBack: boolean) => {
    const id = admitted[which]?.id ?? "ex_unknown";
    const changes = model.settle(id, charge, giveBack);
    const changed = store.settle({
      id,
      userId,
      giveBack,
      charge,
      record: giveBack ? null : { ...RECORD, endedAt: clock.now },
    });
    waiting.push((async () => expect(await changed, "whether it changed something").toBe(changes))());
  };

  for (const command of commands) {
    switch (command.do) {
      case "admit": {
        const { units, stream, hold, enforce } = command;
        const { limits } = model;
        const id = unique("ex");
        const admission: Admission = { id, userId, limits, units, stream, hold, enforceCredits: enforce, model: "m" };
        admitted.push(admission);
        const refusal = model.admit(admission, clock.now);
        waiting.push(expectResult(store.admit(admission), refusal, model.used(clock.now)));
        break;
      }
      case "settle":
        settle(command.which, command.charge, false);
        break;
      case "giveBack":
        settle(command.which, 0n, true);
        break;
      case "grant":
        await settled();
        model.granted += command.amount;
        await store.grant(userId, command.amount);
        break;
      case "pass":
        await settled();
        clock.now += command.time;
        break;
    }
  }
  await settled();
  for (const [index] of admitted.entries()) settle(index, 1n, false);
  await settled();
  expect(await store.running(userId)).toEqual({ requests: 0, streams: 0, held: 0n });
}

async function expectResult(
  admitted: Awaitable<AdmissionResult>,
  refusal: Refusal | null,
  counts: readonly number[],
): Promise<void> {
  const { windows, ...rest } = await admitted;
  expect(rest).toEqual(refusal === null ? { ok: true, stopToken: 0 } : { ok: false, refusal });
  expect([windows.day.used, windows.hour.used, windows.minute.used]).toEqual(counts);
}

async function compare(store: Store, userId: string, model: Model, now: number): Promise<void> {
  const { balance, held, granted } = (await store.findUser(userId))!;
  expect({ balance, held, granted }).toEqual({ balance: model.balance, held: model.held, granted: model.granted });
  const running = await store.running(userId);
  expect(running).toEqual({ requests: model.running.size, streams: model.streams, held: model.held });
  const charges = (await store.ledger(userId)).map((entry) => entry.charge);
  expect(charges.toSorted(byAmount)).toEqual(model.charges.toSorted(byAmount));
  expect(granted, "granted = balance + charges").toBe(balance + charges.reduce((sum, charge) => sum + charge, 0n));
  const windows = await store.windows(userId, model.limits);
  expect([windows.day.used, windows.hour.used, windows.minute.used]).toEqual(model.used(now));
  for (const { used, limit } of Object.values(windows)) expect(used).toBeLessThanOrEqual(limit ?? Infinity);
}

function byAmount(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}
