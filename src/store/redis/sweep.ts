import { setTimeout as sleep } from "node:timers/promises";
import { isStoreUnavailable } from "../../kit/index.ts";
import { FAILED_OUTCOMES, type HourRow, USAGE_RETENTION_MS, type UsageSource } from "../usage.ts";
import { WINDOW_MS } from "../windows.ts";
import type { Argument } from "./pipeline.ts";
import type { Connection } from "./connection.ts";
import { readSummed, type Summed } from "./ledger.ts";
import { inBatches, type Keys, loadScript } from "./scripts.ts";

/** Milliseconds between sweeps of the users that this process has settled requests of. */
const SWEEP_INTERVAL_MS = 5_000;
/** Users that are remembered for it: whoever is beyond is swept with everybody. */
const MAX_NOTED_USER_COUNT = 100_000;
/** Everybody is swept as often: what a process that died has left, and what there was before there were sweeps. */
const PASS_INTERVAL_MS = 3_600_000;
/** Between looks whether it is time, and between the steps of a pass, in which others get their turn. */
const PASS_CHECK_MS = 60_000;
const PASS_PAUSE_MS = 250;
const USERS_PER_STEP = 200;
/** Milliseconds that closing waits for the last sweep. */
const CLOSE_TIMEOUT_MS = 250;
/** Entries of a user that are swept at once, and those that one script takes. */
const ENTRIES_PER_TAKE = 200;
const ENTRIES_PER_SCRIPT = 200;
/** Users whose sums are read at once. */
const USERS_PER_READ = 100;

const TAKE = loadScript("sweep-take");
const APPLY = loadScript("sweep-apply", "sums");
const COMMIT = loadScript("sweep-commit", "sums");

const FAILED: ReadonlySet<string> = new Set(FAILED_OUTCOMES);
/** Decimal digits of a charge's lower half: a number holds the sum of many. */
const LOW_DIGITS = 12;
const HIGH_NANO_UNITS = 10n ** BigInt(LOW_DIGITS);
/** An entry, or one that is taken back. */
interface Noted {
  readonly userId: string;
  readonly number: number;
  readonly text: string;
  readonly day: number;
  /** Unix milliseconds of its recording; of the entry before it, if that is later. */
  readonly at: number;
  /** Of the sums of all users, and of the user's own. */
  readonly field: string;
  readonly ownField: string;
  /** As sums.lua has them. */
  readonly sums: readonly number[];
}

interface Taken {
  readonly userId: string;
  readonly swept: number;
  readonly noted: readonly Noted[];
}

/**
 * Brings what settlements note for each user into the lists and sums of all: settlements write the user's own slot of a
 * Cluster alone. An entry goes to the list and the sums of its day, which know the number of the user's last one, and is
 * then taken off the user's notes in one step with the user's own sums. So it may break off anywhere, and several
 * processes may sweep the same user: each entry counts once.
 */
export class LedgerSweep {
  readonly #connection: Connection;
  readonly #keys: Keys;
  readonly #retention: number;
  readonly #failed: (error: unknown) => void;
  readonly #timers: NodeJS.Timeout[];
  #users = new Set<string>();
  /** The one under way, or the last one. */
  #sweeping: Promise<void> = Promise.resolve();
  /** The one after it. */
  #next: Promise<void> | null = null;
  #closed = false;

  /** @param retention milliseconds for which entries are kept. @param failed hears why a sweep in the background failed. */
  constructor(connection: Connection, keys: Keys, retention: number, failed: (error: unknown) => void) {
    this.#connection = connection;
    this.#keys = keys;
    this.#retention = retention;
    this.#failed = failed;
    this.#timers = [
      setInterval(() => this.#inBackground(this.sweep()), SWEEP_INTERVAL_MS).unref(),
      setInterval(() => this.#inBackground(this.#passIfDue()), PASS_CHECK_MS).unref(),
    ];
  }

  /** Something of this user was recorded. */
  note(userId: string): void {
    if (this.#users.size < MAX_NOTED_USER_COUNT) this.#users.add(userId);
  }

  /** Brings along what this process has recorded, if the server answers soon: others see it sooner than by their pass. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#closed = true;
    const waited = new AbortController();
    const swept = this.sweep().catch(() => {});
    await Promise.race([swept, sleep(CLOSE_TIMEOUT_MS, undefined, { signal: waited.signal }).catch(() => {})]);
    waited.abort();
  }

  /** What this process has recorded: what is taken by one that is under way may not be in the lists yet. */
  sweep(): Promise<void> {
    return (this.#next ??= this.#sweepNext());
  }

  async #sweepNext(): Promise<void> {
    await this.#sweeping.catch(() => {});
    this.#next = null;
    this.#sweeping = this.#sweepNoted();
    await this.#sweeping;
  }

  async #sweepNoted(): Promise<void> {
    const users = this.#users;
    this.#users = new Set();
    try {
      for (const some of chunks([...users], USERS_PER_STEP)) await this.sweepUsers(some);
    } catch (error) {
      for (const userId of users) this.note(userId);
      throw error;
    }
  }

  async sweepUsers(userIds: readonly string[]): Promise<void> {
    for (let left = userIds; left.length > 0;) {
      const taken = (await inBatches(left, (userId) => this.#take(userId))).filter(({ noted }) => noted.length > 0);
      const days = Map.groupBy(inOrder(taken), ({ day }) => day);
      await Promise.all(Array.from(days, ([day, noted]) => this.#apply(day, noted)));
      await inBatches(taken, (one) => this.#commit(one));
      left = taken.filter(({ noted }) => noted.length === ENTRIES_PER_TAKE).map(({ userId }) => userId);
    }
  }

  /** Everybody, in steps. */
  async pass(pause = PASS_PAUSE_MS): Promise<void> {
    let cursor = "0";
    do {
      const asked = await this.#connection.call("SSCAN", this.#keys.users, cursor, "COUNT", USERS_PER_STEP);
      const [next, userIds] = asked as [string, string[]];
      cursor = next;
      await this.sweepUsers(userIds);
      await sleep(pause, undefined, { ref: false });
    } while (cursor !== "0" && !this.#closed);
  }

  /** One process at a time, but for one that takes long. */
  async #passIfDue(): Promise<void> {
    const lock = [this.#keys.sweeping, "1", "NX", "PX", PASS_INTERVAL_MS] as const;
    if ((await this.#connection.call("SET", ...lock)) !== null) await this.pass();
  }

  #inBackground(work: Promise<void>): void {
    // Tried again with the next one. That the store is away is said elsewhere.
    work.catch((error: unknown) => {
      if (!this.#closed && !isStoreUnavailable(error)) this.#failed(error);
    });
  }

  async #take(userId: string): Promise<Taken> {
    const { user, ledger, unswept } = this.#keys;
    const own = [user(userId), ledger(userId), unswept(userId)];
    const taken = await this.#connection.run(TAKE, own, [ENTRIES_PER_TAKE, this.#retention]);
    const [swept, texts] = taken as [string, string[]];
    return { userId, swept: Number(swept), noted: notedOf(userId, Number(swept), texts) };
  }

  async #apply(day: number, all: readonly Noted[]): Promise<void> {
    const ttls = [USAGE_RETENTION_MS, this.#retention + WINDOW_MS.day];
    // One after the other: the numbers of a user's entries have to rise.
    for (const some of chunks(all, ENTRIES_PER_SCRIPT))
      for (let left = some; left.length > 0;) {
        const reply = await this.#connection.run(APPLY, this.#keys.ledgerDay(day), [...ttls, ...toApply(left)]);
        // Of these somebody else has applied some.
        const partly = reply as (string | number)[];
        left = left.filter(({ userId, number }) => {
          const at = partly.indexOf(userId);
          return at >= 0 && number > Number(partly[at + 1]);
        });
      }
  }

  async #commit({ userId, swept, noted }: Taken): Promise<void> {
    const { user, unswept, usageOf } = this.#keys;
    const days = [...Map.groupBy(noted, ({ day }) => day)];
    const own = [user(userId), unswept(userId), ...days.map(([day]) => usageOf(userId, day))];
    const sums = days.flatMap(([, some], index) =>
      totalsOf(some, "ownField").flatMap((total): Argument[] => [index + 3, ...total]),
    );
    await this.#connection.run(COMMIT, own, [swept, noted.length, this.#retention + WINDOW_MS.day, ...sums]);
  }
}

/** By time, as far as each user's entries keep their order: a day's list is about in the order of recording. */
function inOrder(taken: readonly Taken[]): Noted[] {
  return taken.flatMap(({ noted }) => noted).toSorted((a, b) => a.at - b.at);
}

/** @param swept the number of the entry before the first. */
function notedOf(userId: string, swept: number, texts: readonly string[]): Noted[] {
  /** Of all users by that of the user: most entries share theirs with others. */
  const fields = new Map<string, string>();
  let at = 0;
  return texts.map((text, index) => {
    const isTakenBack = text.startsWith("-");
    const entry = readSummed(isTakenBack ? text.slice(1) : text);
    const { recordedAt, model, upstream, tier, keyId } = entry;
    at = Math.max(at, recordedAt);
    const hour = Math.floor(recordedAt / WINDOW_MS.hour);
    const ownField = JSON.stringify([hour, model, upstream, tier, keyId]);
    let field = fields.get(ownField);
    if (field === undefined) fields.set(ownField, (field = JSON.stringify([hour, model, upstream, tier])));
    return {
      userId,
      number: swept + index + 1,
      text,
      day: Math.floor(recordedAt / WINDOW_MS.day),
      at,
      field,
      ownField,
      sums: sumsOf(entry, isTakenBack ? -1 : 1),
    };
  });
}

function sumsOf({ outcome, counts: [prompt, completion, cached, reasoning], charge }: Summed, times: 1 | -1): number[] {
  const count = (item: unknown): number => (typeof item === "number" ? item * times : 0);
  const failed = FAILED.has(outcome) ? times : 0;
  // The upper half of the charge, and the lower.
  const halves = [Number(charge.slice(0, -LOW_DIGITS)) * times, Number(charge.slice(-LOW_DIGITS)) * times] as const;
  return [times, failed, count(prompt), count(completion), count(cached), count(reasoning), halves[0], halves[1]];
}

/** The script's arguments behind the times (sweep-apply.lua). */
function toApply(noted: readonly Noted[]): Argument[] {
  const byUser = [...Map.groupBy(noted, ({ userId }) => userId)];
  const args: Argument[] = [byUser.length];
  for (const [userId, own] of byUser) {
    const totals = totalsOf(own, "field");
    args.push(userId, own[0]!.number, own.at(-1)!.number, totals.length, ...totals.flat());
  }
  const places = new Map(byUser.map(([userId], index) => [userId, index + 1]));
  for (let at = 0, end = 0; at < noted.length; at = end) {
    const { userId } = noted[at]!;
    while (noted[end]?.userId === userId) end++;
    args.push(places.get(userId) ?? 0, end - at);
    for (let index = at; index < end; index++) args.push(noted[index]!.text);
  }
  return args;
}

/** What the entries add up to by one of their fields, as text. */
function totalsOf(noted: readonly Noted[], of: "field" | "ownField"): [field: string, sums: string][] {
  const totals = new Map<string, number[]>();
  for (const { [of]: field, sums } of noted) {
    const total = totals.get(field);
    if (total === undefined) totals.set(field, [...sums]);
    else for (let index = 0; index < sums.length; index++) total[index]! += sums[index]!;
  }
  return Array.from(totals, ([field, sums]) => [field, sums.join(" ")]);
}

/** What the sweep has written. */
export function usageSource(connection: Connection, keys: Keys): UsageSource {
  const rowsOf = async (key: string, userId: string): Promise<HourRow[]> => {
    const flat = (await connection.call("HGETALL", key)) as readonly string[];
    return flat.flatMap((field, index) => (index % 2 === 0 ? [rowOf(field, flat[index + 1] ?? "", userId)] : []));
  };
  return {
    ofAll: (day) => rowsOf(keys.ledgerDay(day)[2], ""),
    ofUser: (userId, day) => rowsOf(keys.usageOf(userId, day), userId),
    async byUser(day, first) {
      const users = keys.ledgerDay(day)[3];
      const limit = ["LIMIT", 0, USERS_PER_READ + 1] as const;
      const found = (await connection.call("ZRANGEBYLEX", users, `[${first}`, "+", ...limit)) as string[];
      const read = await inBatches(found.slice(0, USERS_PER_READ), (id) => rowsOf(keys.usageOf(id, day), id));
      return { rows: read.flat(), next: found[USERS_PER_READ] ?? null };
    },
  };
}

function rowOf(field: string, sums: string, userId: string): HourRow {
  const [hour, model, upstream, tier, keyId = ""] = JSON.parse(field) as [number, string, string, string, string?];
  const [requests = 0, failed = 0, prompt = 0, completion = 0, cached = 0, reasoning = 0, high = 0, low = 0] = sums
    .split(" ")
    .map(Number);
  const counts = { requests, failed, prompt, completion, cached, reasoning };
  return {
    hour,
    model,
    upstream,
    tier,
    userId,
    keyId,
    ...counts,
    charge: BigInt(high) * HIGH_NANO_UNITS + BigInt(low),
  };
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
