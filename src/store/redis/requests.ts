import {
  type Admission,
  type AdmissionResult,
  budgetPeriodOf,
  type Limits,
  type Settlement,
  storeUnavailable,
  type Windows,
} from "../../kit/index.ts";
import { windowStates } from "../windows.ts";
import { ServerClock, unanswered } from "./client.ts";
import { type Argument, EncodedWords } from "./pipeline.ts";
import type { Connection } from "./connection.ts";
import { type Leases, unlessUnavailable } from "./leases.ts";
import { findRecorded, packEntry, readLedger } from "./ledger.ts";
import { countsOf, isLate, readAdmitReply, type SettleReply, sumReservations, type Verdict } from "./replies.ts";
import { type Keys, loadScript } from "./scripts.ts";
import { UnconfirmedAdmissions, UnconfirmedByOthers } from "./unconfirmed.ts";

interface RequestOptions {
  readonly instance: string;
  /** Milliseconds. */
  readonly lease: number;
  /** Of the connection, in milliseconds. */
  readonly timeout: number;
  /** Milliseconds for which entries of the ledger are kept. */
  readonly retention: number;
  /** As of `UnconfirmedOptions`; the timeout unless given. */
  readonly confirmationTimeout?: number;
  /** A test's clock; without, time is the server's. */
  readonly clock?: () => number;
}

/** Refusals by what other requests have taken. */
const LIMITED: ReadonlySet<Verdict> = new Set(["credits", "budget", "day", "hour", "minute", "streams"]);

/** Times that an admission is asked because the server says that it came too late, and a settlement. */
const MAX_LATE_REPEATS = 5;
const MAX_SETTLE_TRIES = 2;

/** HINCRBY has 64 bits; this leaves room for sums. */
const AMOUNT_LIMIT_NANO_UNITS = 2n ** 62n;

const ADMIT = loadScript("admit", "clock", "counts", "reservations");
const SETTLE = loadScript("settle", "clock", "counts", "reservations");
const RELEASE = loadScript("release", "clock", "reservations");
const RUNNING = loadScript("running", "clock", "reservations");
const WINDOWS = loadScript("windows", "clock", "counts");

/** Running requests and what they count. */
export class Requests {
  readonly #connection: Connection;
  readonly #keys: Keys;
  readonly #leases: Leases;
  readonly #options: RequestOptions;
  readonly #serverClock = new ServerClock();
  /** As they are sent. */
  readonly #limits = new WeakMap<Limits, EncodedWords>();
  /** The store's role of admission, but for stop tokens. */
  readonly methods = {
    admit: (admission: Admission) => this.admit(admission),
    settle: (settlement: Settlement) => this.settle(settlement),
    release: (running: Pick<Admission, "id" | "userId">) => this.#release(running),
    windows: (userId: string, limits: Limits) => this.#windows(userId, limits),
    running: (userId: string) => this.#running(userId),
    ledger: (userId: string) => readLedger(this.#connection, this.#keys, userId),
    recorded: (userId: string, ids: readonly string[]) => findRecorded(this.#connection, this.#keys, userId, ids),
  };
  readonly #unconfirmed: UnconfirmedAdmissions;
  readonly #others: UnconfirmedByOthers;

  constructor(connection: Connection, keys: Keys, leases: Leases, options: RequestOptions) {
    this.#connection = connection;
    this.#keys = keys;
    this.#leases = leases;
    this.#options = options;
    this.#others = new UnconfirmedByOthers(connection, keys, leases, {
      confirmationTimeout: options.timeout,
      ...options,
    });
    this.#unconfirmed = new UnconfirmedAdmissions(async (id, userId) => {
      await this.#askToSettle({ id, userId, giveBack: true, charge: 0n, record: null }, 0);
    });
  }

  async admit(admission: Admission): Promise<AdmissionResult> {
    const { id, userId, limits, units, hold, fullHold = 0n } = admission;
    if (!Number.isSafeInteger(units) || units < 0) throw new RangeError(`admission ${id}: units are whole numbers`);
    if (hold < 0n || hold >= AMOUNT_LIMIT_NANO_UNITS || fullHold >= AMOUNT_LIMIT_NANO_UNITS)
      throw new RangeError(`admission ${id}: a hold is from 0 to 2^62`);
    const lease = this.#leases.expect(id, userId);
    const keys = this.#leases.requestKeys.of(userId);
    let sentAt = 0;
    const args = (): readonly Argument[] => this.#argsOf(admission, (sentAt = performance.now()));
    let isAsked = false;
    try {
      // A repeated admission: the pending give-back of its unconfirmed first try is cancelled.
      this.#unconfirmed.forget(id);
      let mayClear = true;
      // Repeated while the server answers `late`: this process was busy before it sent, or clocks were moved.
      for (let lateCount = 0; lateCount < MAX_LATE_REPEATS;) {
        isAsked = true;
        const reply = readAdmitReply(String(await this.#connection.run(ADMIT, keys, args(), args)));
        isAsked = false;
        const { verdict, packed } = reply;
        this.#learn(verdict === "late", reply.now, sentAt);
        if (verdict === "late") {
          lateCount++;
          continue;
        }
        // Not before what was taken without a use is given back, by this process and by the others.
        if (mayClear && LIMITED.has(verdict)) {
          mayClear = false;
          lateCount = 0;
          if (await this.#cleared(userId)) continue;
        }
        if (verdict === "unknown") throw new Error(`cannot admit a request of an unknown user: ${userId}`);
        const windows = windowStates(reply.counts, limits);
        if (verdict !== "ok") return { ok: false, refusal: verdict, windows };
        lease.packed = packed;
        this.#unconfirmed.forget(id);
        return { ok: true, windows, stopToken: reply.stopToken };
      }
      throw clockMoves();
    } catch (error) {
      const cause = isAsked ? unanswered(error) : null;
      // On one connection what is sent later is executed later. Of another one it is known when the time is over.
      if (cause) this.#unconfirmed.add(id, userId, cause.stands ? 0 : 2 * this.#options.timeout);
      throw error;
    } finally {
      this.#leases.drop(id, lease);
    }
  }

  /** Of the script that admits. */
  #argsOf(admission: Admission, sentAt: number): readonly Argument[] {
    const { id, limits, units, stream, hold, enforceCredits, model, version = "", budget, fullHold } = admission;
    const args: Argument[] = [
      this.time(),
      this.#options.clock ? 0 : this.#latestAt(sentAt),
      id,
      this.#wordsOf(limits),
      units,
      Number(stream),
      String(hold),
      Number(enforceCredits),
      version,
      this.#leases.words,
      model,
      fullHold === undefined ? "" : String(fullHold),
    ];
    if (budget) args.push(budget.keyId, budget.per, String(budget.amount));
    args.push(this.#options.retention);
    return args;
  }

  /** @returns whether asking again may come to something else. */
  async #cleared(userId: string): Promise<boolean> {
    const own = await this.#unconfirmed.giveBackOf(userId);
    const others = await this.#others.clear(userId);
    return own || others;
  }

  /** Other processes are about to refuse a user: gives back unconfirmed admissions, and renews what runs, so that they see it. */
  onAsked(failed: (error: unknown) => void): void {
    this.#others.onAsked((userId) => {
      const answered = this.#unconfirmed
        .giveBackOf(userId)
        .then(() => this.#leases.renew(this.time(), this.#notAfter(), userId));
      unlessUnavailable(answered).catch(failed);
    });
  }

  #wordsOf(limits: Limits): EncodedWords {
    const known = this.#limits.get(limits);
    if (known) return known;
    const { day, hour, minute, streams } = limits;
    const words = new EncodedWords([day ?? "", hour ?? "", minute ?? "", streams ?? ""]);
    this.#limits.set(limits, words);
    return words;
  }

  async settle(settlement: Settlement): Promise<boolean> {
    const { id, charge, record } = settlement;
    if (charge < 0n || (charge > 0n && !record)) {
      throw new RangeError(`settlement ${id}: a charge is not negative and needs a record`);
    }
    if (charge >= AMOUNT_LIMIT_NANO_UNITS) throw new RangeError(`settlement ${id}: a charge is below 2^62`);
    // Admitted here and settled for the first time: charged also when the server has lost the reservation. A second
    // execution, after a pause of the server, comes too late for that.
    const lease = this.#leases.release(id);
    try {
      for (let tries = 0; tries < MAX_SETTLE_TRIES; tries++) {
        const sentAt = performance.now();
        const isFirst = lease !== null || tries > 0;
        const asked = this.#askToSettle(settlement, isFirst ? this.#latestAt(sentAt) : 0);
        const reply = (await asked) as SettleReply;
        if (!isLate(reply)) return reply === 1;
        // As in an admission: it changed nothing, and somebody waits. Judged by the server's time also with a test's clock.
        this.#serverClock.correct(reply[1], sentAt);
      }
      throw clockMoves();
    } catch (error) {
      // Nothing was executed: the next one is the first.
      if (lease && !unanswered(error)) this.#leases.keep(id, lease);
      throw error;
    }
  }

  async #release({ id, userId }: Pick<Admission, "id" | "userId">): Promise<void> {
    // First, so that no renewal restores slot and hold on a server that has lost the request.
    this.#leases.free(id);
    await this.#connection.run(RELEASE, this.#leases.requestKeys.of(userId), [id, this.#options.retention]);
  }

  /** @param latest server's milliseconds until which it is charged also when the server has lost the reservation. */
  #askToSettle(settlement: Settlement, latest: number): Promise<unknown> {
    const { id, userId, giveBack, charge, record, budget } = settlement;
    const args: Argument[] = [id, Number(giveBack), String(charge), packEntry(settlement), latest];
    // Of an admission that the server has lost: what is there says itself what it takes from.
    if (budget && record) args.push(`${budget.keyId}:${budgetPeriodOf(budget.per, record.receivedAt)}`);
    args.push(this.#options.retention);
    return this.#connection.run(SETTLE, this.#leases.requestKeys.of(userId), args);
  }

  async #windows(userId: string, limits: Limits): Promise<Windows> {
    const key = this.#keys.windows(userId);
    const counts = (await this.#connection.run(WINDOWS, [key], [this.time()])) as readonly number[];
    return windowStates(countsOf(counts), limits);
  }

  async #running(userId: string) {
    const keys = this.#leases.requestKeys.of(userId);
    const found = (await this.#connection.run(RUNNING, keys, [this.time(), this.#options.retention])) as string[];
    return sumReservations(found, this.#leases.dead);
  }

  async renew(): Promise<void> {
    await this.#leases.renew(this.time(), this.#notAfter());
  }

  /** Forgets what it would have done later. */
  close(): void {
    this.#unconfirmed.close();
  }

  /** The scripts' argument: a test's clock, or 0 for the server's. */
  time(): number {
    return this.#options.clock?.() ?? 0;
  }

  /** Asks the server for its time. Until it has answered, nothing that is executed late is known to be. */
  async setClock(): Promise<void> {
    const sentAt = performance.now();
    const [seconds, micros] = (await this.#connection.call("TIME")) as [string, string];
    this.#serverClock.learn(Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000), sentAt);
  }

  /** Server's milliseconds after which nobody waits for the answer to what is sent now; 0 when they are not known. */
  latest(): number {
    return this.#latestAt(performance.now());
  }

  #latestAt(sentAt: number): number {
    const now = this.#serverClock.at(sentAt);
    return now === null ? 0 : now + this.#options.timeout;
  }

  /** As `latest`; 0 with a test's clock, which stands still. */
  #notAfter(): number {
    return this.#options.clock ? 0 : this.latest();
  }

  #learn(late: boolean, time: number, sentAt: number): void {
    if (this.#options.clock) return;
    if (late) this.#serverClock.correct(time, sentAt);
    else this.#serverClock.learn(time, sentAt);
  }
}

function clockMoves(): Error {
  return storeUnavailable(new Error("redis: the server's clock does not keep still"));
}
