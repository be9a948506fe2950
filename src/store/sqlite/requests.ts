import type { DatabaseSync } from "node:sqlite";
import {
  type Admission,
  type AdmissionResult,
  type Awaitable,
  type LedgerRecord,
  type Limits,
  type Refusal,
  type Settlement,
  type Windows,
} from "../../kit/index.ts";
import {
  counted,
  type Counts,
  countsAt,
  exceeded,
  movedBack,
  uncounted,
  windowIdsOf,
  windowStates,
} from "../windows.ts";
import { effectiveHold, exceedsBudget, type KnownBudget, KnownBudgets } from "./budgets.ts";
import { CommitQueue, type Transactions } from "./commits.ts";
import { ledgerMethods, ledgerTable } from "./ledger.ts";
import { type KnownUser, KnownUsers, stopMethods } from "./users.ts";

/** What a killed process loses of what was counted and is not settled. */
const SAVE_INTERVAL_MS = 100;
/** Between tries of a file that does not take writes: while another process has it, each one blocks the event loop. */
const SAVE_RETRY_MS = 1_000;
/** What has run for so long leaves a record when the process is killed. */
const RECORDED_AFTER_MS = 1_000;

interface RunningRequest {
  /** Its hold is what it holds now. */
  admission: Admission;
  readonly user: KnownUser;
  /** null: its key has none. */
  readonly budget: KnownBudget | null;
  /** The user's at admission. */
  readonly stopToken: number;
  /** As they were with it, by which the windows that it was counted in are known. */
  readonly counts: Counts;
  /** Unix milliseconds. */
  readonly admittedAt: number;
  /** `performance.now()` at admission: the clock may be set. */
  readonly since: number;
  /** Whether the file may have a row of it. */
  isRecorded: boolean;
  /** Whether the commit under way ends it. */
  isReleased: boolean;
}

/**
 * Running requests, what they count, and the ledger. An admission is decided in memory, for one process serves a file;
 * the file has it with the next commit that changes its user, at the latest with the next save.
 * @param now Unix milliseconds.
 * @param maxKnown users, and budgets, that are kept although nothing of them runs.
 */
export function requestsOf(db: DatabaseSync, transactions: Transactions, now: () => number, maxKnown: number) {
  const { read, write } = transactions;
  const ledger = ledgerTable(db, now);
  const users = new KnownUsers(db, maxKnown);
  const budgets = new KnownBudgets(db, maxKnown);
  /** What runs and has no row in the file, by id, the oldest first. */
  const unrecorded = new Map<string, RunningRequest>();
  /** What runs and has one. */
  const longRunning = new Map<string, RunningRequest>();
  /** What the commit under way ends, or writes a row of. */
  const released: RunningRequest[] = [];
  const recorded: RunningRequest[] = [];
  let saving: NodeJS.Timeout | null = null;

  const queue = new CommitQueue(db, {
    expected: () => unrecorded.size + longRunning.size,
    begun: () => users.look(),
    write() {
      users.write();
      budgets.write();
    },
    committed() {
      users.committed();
      budgets.committed();
      for (const { admission } of released) if (!unrecorded.delete(admission.id)) longRunning.delete(admission.id);
      for (const request of recorded) {
        // Settled in the same commit.
        if (request.isReleased) continue;
        unrecorded.delete(request.admission.id);
        longRunning.set(request.admission.id, request);
      }
      forgetCommit();
    },
    rolledBack() {
      users.rolledBack();
      budgets.rolledBack();
      for (const request of released) request.isReleased = false;
      forgetCommit();
    },
  });

  const { tidyLedger, ...ledgerRole } = ledgerMethods(ledger, queue, now);

  function forgetCommit(): void {
    released.length = 0;
    recorded.length = 0;
  }
  const reserve = db.prepare(
    "INSERT INTO reservations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const freeRow = db.prepare("UPDATE reservations SET stream = 0, hold = 0 WHERE id = ?");
  const deleteRow = db.prepare("DELETE FROM reservations WHERE id = ?");
  const running = (id: string) => unrecorded.get(id) ?? longRunning.get(id);

  function admit(admission: Admission): Awaitable<AdmissionResult> {
    if (!queue.refused) return decide(admission);
    // What is not written down is not paid for: nobody is admitted before the file takes a write.
    return queue.add(() => touch(admission.userId)).then(() => decide(admission));
  }

  const decide = read((admission: Admission): AdmissionResult => {
    const { id, userId, limits, units, stream } = admission;
    const user = users.current(userId);
    if (user === null) throw new Error(`cannot admit a request of an unknown user: ${userId}`);
    const at = now();
    const before = countsAt(user.counts, at);
    // An admission that is repeated has been counted already, perhaps as the last one that fitted. Its token is the one it
    // was admitted under: a stop since then is meant for it.
    const known = running(id);
    if (known !== undefined) return { ok: true, windows: windowStates(before, limits), stopToken: known.stopToken };
    const after = counted(before, units);
    const budget = budgets.ofRequest(admission.budget, at);
    const refusal = refusalOf(admission, user, after, budget);
    if (refusal !== null) {
      // Kept: the clock was set back, and the window of before lies in the future, where the count would stay full.
      if (movedBack(before, user.counts)) keep(user, before);
      return { ok: false, refusal, windows: windowStates(before, limits) };
    }
    const { stopToken } = user;
    const hold = effectiveHold(admission, user.balance - user.held, budget);
    user.requests += 1;
    user.streams += Number(stream);
    user.held += hold;
    keep(user, after);
    budgets.hold(budget, hold);
    unrecorded.set(id, {
      admission: hold === admission.hold ? admission : { ...admission, hold },
      user,
      budget,
      stopToken,
      counts: after,
      admittedAt: at,
      since: performance.now(),
      isRecorded: false,
      isReleased: false,
    });
    return { ok: true, windows: windowStates(after, limits), stopToken };
  });

  function refusalOf(admission: Admission, user: KnownUser, after: Counts, budget: KnownBudget | null): Refusal | null {
    if (lacksCredits(admission, user)) {
      // A command may have granted some this very moment.
      users.look();
      users.of(user.id);
      if (lacksCredits(admission, user)) return "credits";
    }
    if (budget !== null && exceedsBudget(admission, budget)) return "budget";
    const { limits, stream } = admission;
    // What was looked up before; what is replayed costs nothing.
    if (user.isDisabled && (stream || admission.hold > 0n)) return "principal";
    const window = exceeded(after, limits);
    if (window) return window;
    return stream && limits.streams !== null && user.streams >= limits.streams ? "streams" : null;
  }

  function keep(user: KnownUser, counts: Counts): void {
    user.counts = counts;
    users.save(user);
    saving ??= setTimeout(save, SAVE_INTERVAL_MS).unref();
  }

  /** Decided in memory as an admission is; a row in the file follows with the commit. */
  const release = read(({ id, userId }: Pick<Admission, "id" | "userId">): Awaitable<void> => {
    const request = running(id);
    if (request === undefined || request.user.id !== userId || request.isReleased) return;
    const { admission, user, budget, isRecorded } = request;
    if (!admission.stream && admission.hold === 0n) return;
    user.streams -= Number(admission.stream);
    user.held -= admission.hold;
    if (admission.hold > 0n) budgets.hold(budget, -admission.hold);
    request.admission = { ...admission, stream: false, hold: 0n };
    keep(user, user.counts);
    if (isRecorded) return queue.add(() => freeRow.run(id)).then(ignore);
  });

  /**
   * In a commit. An id that is not running changes nothing: it was settled or given back before. One that was abandoned is
   * charged all the same; its slot and hold are free already. @returns whether it changed something.
   */
  function settle(settlement: Settlement): boolean {
    const { id, userId, giveBack, charge, record } = settlement;
    if (charge < 0n || (charge > 0n && !record)) {
      throw new RangeError(`settlement ${id}: a charge is not negative and needs a record`);
    }
    const found = running(id);
    const request = found?.user.id === userId && !found.isReleased ? found : null;
    if (request === null) return record !== null && settleAbandoned(settlement, record);
    const { admission, counts, user } = request;
    users.change(user);
    if (record !== null) {
      user.lastEntry = ledger.append(user.lastEntry, userId, id, charge, record);
      pay(user, charge);
    }
    if (request.budget !== null) budgets.settle(request.budget, charge, admission.hold);
    else if (record !== null) budgets.spend(settlement.budget, charge, record.receivedAt);
    if (request.isRecorded) deleteRow.run(id);
    request.isReleased = true;
    released.push(request);
    user.requests -= 1;
    user.streams -= Number(admission.stream);
    user.held -= admission.hold;
    if (giveBack) user.counts = uncounted(user.counts, windowIdsOf(counts), admission.units);
    return true;
  }

  function settleAbandoned({ id, userId, charge, budget }: Settlement, record: LedgerRecord): boolean {
    const user = users.of(userId);
    if (user === null || !ledger.replaceAbandoned(id, userId, charge, record)) return false;
    users.change(user);
    pay(user, charge);
    budgets.spend(budget, charge, record.receivedAt);
    return true;
  }

  /** In a commit: writes the user, changed or not. */
  function touch(userId: string): void {
    const user = users.of(userId);
    if (user !== null) users.change(user);
  }

  /** In a commit: writes what is counted, and a row of each request that has run since then. */
  function writeRunning(since: number): void {
    users.changeUnsaved();
    budgets.changeUnsaved();
    for (const request of unrecorded.values()) {
      if (request.since > since) return;
      if (!request.isReleased) record(request);
    }
  }

  function record(request: RunningRequest): void {
    const { admission, counts, stopToken, admittedAt } = request;
    const { id, userId, units, stream, hold, model } = admission;
    const windowIds = [counts.day.window, counts.hour.window, counts.minute.window] as const;
    reserve.run(id, userId, units, Number(stream), hold, ...windowIds, model, admittedAt, stopToken);
    request.isRecorded = true;
    recorded.push(request);
  }

  /** Goes on as long as something is unsaved, or too young to be recorded; an idle process does nothing. */
  function save(): void {
    saving = null;
    const since = performance.now() - RECORDED_AFTER_MS;
    const [oldest] = unrecorded.values();
    const isDue = users.hasUnsaved || (oldest !== undefined && oldest.since <= since);
    if (!isDue) return saveIn(SAVE_INTERVAL_MS);
    queue
      .add(() => writeRunning(since))
      .then(
        () => saveIn(SAVE_INTERVAL_MS),
        () => saveIn(SAVE_RETRY_MS),
      );
  }

  function saveIn(wait: number): void {
    if (!db.isOpen || (!users.hasUnsaved && unrecorded.size === 0)) return;
    saving ??= setTimeout(save, wait).unref();
  }

  return {
    /** The store's role of admission. */
    methods: {
      admit,
      settle: (settlement: Settlement) => queue.add(() => settle(settlement)),
      release,
      windows: read((userId: string, limits: Limits): Windows =>
        windowStates(countsAt(users.counts(userId), now()), limits),
      ),
      running: read((userId: string) => users.running(userId)),
      ledger: read((userId: string) => ledger.of(userId)),
      ...ledgerRole,
      ...stopMethods(db, transactions, users, () => unrecorded.values()),
    },

    users,
    budgets,
    /** Shared by what belongs into the commit of a settlement. */
    queue,

    /**
     * For the start of a serving process, which holds the file's lock: whatever the file says is running ran in a dead one.
     * Slots and holds are released, what was counted stays counted, and each request leaves a record without a charge.
     */
    abandonAll: write((): void => {
      ledger.appendAbandoned(now());
      db.exec(
        `DELETE FROM reservations;
         UPDATE users SET held = 0, streams = 0, requests = 0 WHERE held <> 0 OR streams <> 0 OR requests <> 0;
         UPDATE key_budgets SET held = 0 WHERE held <> 0`,
      );
    }),

    tidyLedger,

    /** Commits what waits, and writes down all that runs: before the database is closed. Nothing is answered afterwards. */
    end(): void {
      if (saving !== null) clearTimeout(saving);
      queue.flush();
      if (users.hasUnsaved || unrecorded.size > 0) {
        queue.add(() => writeRunning(Infinity)).catch(() => {});
        queue.flush();
      }
      users.clear();
      budgets.clear();
    },
  };
}

function pay(user: KnownUser, charge: bigint): void {
  user.balance -= charge;
  user.charge += charge;
}

function lacksCredits({ hold, enforceCredits }: Admission, user: KnownUser): boolean {
  return enforceCredits && hold > 0n && user.balance - user.held < hold;
}

function ignore(): void {}
