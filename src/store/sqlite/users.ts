import type { DatabaseSync } from "node:sqlite";
import type { Admission } from "../../kit/index.ts";
import { type Counts, NO_COUNTS } from "../windows.ts";
import type { Transactions } from "./commits.ts";

/** Looked at for one to drop when another one comes: more than one, so that a crowd shrinks again. */
const LOOKED_AT_COUNT = 2;
/** For how long nobody else is taken to have changed the file: less than a command takes to end after its change. */
const UNCHANGED_MS = 2;

/** What a user's requests count and cost. Changed by whoever admits and settles, and told to `KnownUsers`. */
export interface KnownUser {
  readonly id: string;
  balance: bigint;
  /** Nano-units of the commit under way, which the file does not have yet. */
  charge: bigint;
  stopToken: number;
  /** Nothing of them is admitted that costs anything. */
  isDisabled: boolean;
  /** What runs. */
  requests: number;
  streams: number;
  held: bigint;
  counts: Counts;
  /** The number of the user's latest entry in the ledger; 0 without any. */
  lastEntry: number;
  /** Of the file when balance and stop token were read. */
  version: number;
}

type Running = Readonly<Pick<KnownUser, "requests" | "streams" | "held">>;
type CountColumn = "day" | "day_used" | "hour" | "hour_used" | "minute" | "minute_used";
type UserRow = Record<
  "balance" | "stop_token" | "disabled" | "requests" | "streams" | "held" | "last_entry" | CountColumn,
  bigint
>;

/**
 * The users of this process. What they run and have counted is decided here and written to the file afterwards; balances
 * and stop tokens are the file's, which commands change too, and are read again after such a change.
 */
export class KnownUsers {
  readonly #select;
  readonly #selectChanging;
  readonly #update;
  readonly #dataVersion;
  readonly #known = new Map<string, KnownUser>();
  /** Goes round all of them: a new iterator would first pass all that was deleted at the beginning. */
  #round = this.#known.values();
  /** Who counts something that the file does not have. */
  readonly #unsaved = new Set<KnownUser>();
  /** Who the commit under way changes, with what they were before it. */
  readonly #changed = new Map<KnownUser, KnownUser>();
  /** Rises with each change that somebody else makes in the file. */
  #version: number;
  #lookedAt: number;
  readonly #maxKnown: number;

  /** @param maxKnown users that are kept although nothing of them runs. */
  constructor(db: DatabaseSync, maxKnown: number) {
    this.#maxKnown = maxKnown;
    this.#select = db.prepare(
      `SELECT balance, stop_token, disabled_at IS NOT NULL AS disabled, requests, streams, held, day, day_used, hour, hour_used, minute, minute_used, last_entry
       FROM users WHERE id = ?`,
    );
    this.#selectChanging = db.prepare(
      "SELECT balance, stop_token, disabled_at IS NOT NULL AS disabled FROM users WHERE id = ?",
    );
    this.#update = db.prepare(
      `UPDATE users SET balance = balance - ?, charged = charged + ?, requests = ?, streams = ?, held = ?,
         day = ?, day_used = ?, hour = ?, hour_used = ?, minute = ?, minute_used = ?, last_entry = ? WHERE id = ?`,
    );
    this.#dataVersion = db.prepare("PRAGMA data_version");
    this.#dataVersion.setReadBigInts(false);
    this.#dataVersion.setReturnArrays(true);
    this.#version = this.#versionOfFile();
    this.#lookedAt = performance.now();
  }

  /** null for a user that is not there. */
  of(userId: string): KnownUser | null {
    const known = this.#known.get(userId);
    if (known !== undefined) return known.version === this.#version ? known : this.#readAgain(known);
    const row = this.#select.get(userId) as UserRow | undefined;
    if (row === undefined) return null;
    this.#makeRoom();
    const user = userOf(userId, row, this.#version);
    this.#known.set(userId, user);
    return user;
  }

  /** As `of`, with what commands have changed by now. */
  current(userId: string): KnownUser | null {
    this.version();
    return this.of(userId);
  }

  /** Rises with each change that somebody else has made in the file. */
  version(): number {
    if (performance.now() - this.#lookedAt >= UNCHANGED_MS) this.look();
    return this.#version;
  }

  /** Finds out whether somebody else has changed the file: each user is read again before the next use. */
  look(): void {
    this.#version = this.#versionOfFile();
    this.#lookedAt = performance.now();
  }

  /** This process has changed the user in the file. */
  expire(userId: string): void {
    const known = this.#known.get(userId);
    if (known !== undefined) known.version = NaN;
  }

  /** What the user runs: here, or as whoever serves the file last wrote it. */
  running(userId: string): Running {
    const { requests, streams, held } = this.#seen(userId) ?? { requests: 0, streams: 0, held: 0n };
    return { requests, streams, held };
  }

  counts(userId: string): Counts {
    return this.#seen(userId)?.counts ?? NO_COUNTS;
  }

  /** Nano-units that the user's running requests hold. @param stored what the file says. */
  held(userId: string, stored: bigint): bigint {
    return this.#known.get(userId)?.held ?? stored;
  }

  /** The user has been changed, without a commit: the file has to follow. */
  save(user: KnownUser): void {
    this.#unsaved.add(user);
  }

  get hasUnsaved(): boolean {
    return this.#unsaved.size > 0;
  }

  /** Call it in a commit, before changing the user. */
  change(user: KnownUser): void {
    if (this.#changed.has(user)) return;
    // Not afterwards: it would take the place of what the commit changes.
    if (user.version !== this.#version) this.#readAgain(user);
    this.#changed.set(user, { ...user });
  }

  /** Lets the commit under way write everybody who is unsaved. */
  changeUnsaved(): void {
    for (const user of this.#unsaved) this.change(user);
  }

  /** In a commit, at its end. */
  write(): void {
    for (const { id, charge, requests, streams, held, counts, lastEntry } of this.#changed.keys()) {
      const { day, hour, minute } = counts;
      const windows = [day.window, day.used, hour.window, hour.used, minute.window, minute.used] as const;
      this.#update.get(charge, charge, requests, streams, held, ...windows, lastEntry, id);
    }
  }

  committed(): void {
    for (const user of this.#changed.keys()) {
      user.charge = 0n;
      this.#unsaved.delete(user);
    }
    this.#changed.clear();
  }

  rolledBack(): void {
    for (const [user, before] of this.#changed) Object.assign(user, before);
    this.#changed.clear();
  }

  /** From now on the file is asked, which may be closed. */
  clear(): void {
    this.#known.clear();
    this.#unsaved.clear();
  }

  #versionOfFile(): number {
    const [version] = this.#dataVersion.get() as unknown as [number];
    return version;
  }

  /** Not kept: looking at users makes nobody known. */
  #seen(userId: string): KnownUser | null {
    const known = this.#known.get(userId);
    if (known !== undefined) return known;
    const row = this.#select.get(userId) as UserRow | undefined;
    return row === undefined ? null : userOf(userId, row, this.#version);
  }

  #readAgain(user: KnownUser): KnownUser | null {
    const row = this.#selectChanging.get(user.id) as Pick<UserRow, "balance" | "stop_token" | "disabled"> | undefined;
    if (row === undefined) return null;
    user.balance = row.balance;
    user.stopToken = Number(row.stop_token);
    user.isDisabled = row.disabled === 1n;
    user.version = this.#version;
    return user;
  }

  #makeRoom(): void {
    if (this.#known.size < this.#maxKnown) return;
    for (let count = 0; count < LOOKED_AT_COUNT; count += 1) {
      const { value: user, done } = this.#round.next();
      if (done === true) this.#round = this.#known.values();
      // Only here are what it runs and what is not written yet.
      else if (user.requests === 0 && !this.#unsaved.has(user) && !this.#changed.has(user)) this.#known.delete(user.id);
    }
  }
}

function userOf(id: string, row: UserRow, version: number): KnownUser {
  return {
    id,
    balance: row.balance,
    charge: 0n,
    stopToken: Number(row.stop_token),
    isDisabled: row.disabled === 1n,
    requests: Number(row.requests),
    streams: Number(row.streams),
    held: row.held,
    counts: {
      day: { window: Number(row.day), used: Number(row.day_used) },
      hour: { window: Number(row.hour), used: Number(row.hour_used) },
      minute: { window: Number(row.minute), used: Number(row.minute_used) },
    },
    lastEntry: Number(row.last_entry),
    version,
  };
}

interface StoppableRequest {
  readonly admission: Pick<Admission, "id" | "stream">;
  readonly user: KnownUser;
  readonly stopToken: number;
}

/** Stop tokens: what ends a user's streams. @param unrecorded what runs and has no row in the file. */
export function stopMethods(
  db: DatabaseSync,
  { read, write }: Transactions,
  users: KnownUsers,
  unrecorded: () => Iterable<StoppableRequest>,
) {
  const raise = db.prepare("UPDATE users SET stop_token = stop_token + 1 WHERE id = ? RETURNING stop_token");
  const streamsUnder = db.prepare("SELECT id FROM reservations WHERE user_id = ? AND stream = 1 AND stop_token = ?");
  const select = db.prepare("SELECT id, stop_token FROM users WHERE id IN (SELECT value FROM json_each(?))");

  const raised = write((userId: string) => {
    const token = Number(raise.get(userId)?.["stop_token"] ?? 0);
    // Tokens rise by 1: streams under still lower ones have been stopped before.
    const ids = new Set(streamsUnder.all(userId, token - 1).map((row) => String(row["id"])));
    for (const { admission, user, stopToken } of unrecorded()) {
      if (user.id === userId && admission.stream && stopToken === token - 1) ids.add(admission.id);
    }
    return { token, streams: ids.size };
  });

  return {
    /** Counts each stream once, however often it is stopped. A user who is not there has none. */
    stopStreams(userId: string) {
      const stopped = raised(userId);
      users.expire(userId);
      return stopped;
    },

    stopTokens: read((userIds: readonly string[]): Map<string, number> => {
      const tokens = new Map(userIds.map((id) => [id, 0]));
      for (const row of select.all(JSON.stringify(userIds))) tokens.set(String(row["id"]), Number(row["stop_token"]));
      return tokens;
    }),

    /** One process serves a file: nobody else stops its streams. */
    onStop: () => () => {},
  };
}
