import {
  auditStamps,
  type AuditStamp,
  type AuditStore,
  inBackground,
  type Log,
  type NewAuditEntry,
  type SignInStore,
} from "../kit/index.ts";

const HOUR_MS = 3_600_000;
/**
 * Entries an hour, in all processes of the store together. Beyond them sign-ins are counted and told in one entry: whoever
 * fails a million times must not push the changes of operators out of the log.
 */
const BOUNDS = {
  signInFailed: { each: 3, all: 20 },
  userSignIn: { each: 5, all: 300 },
} as const;
/** Between the entries that tell how many there were beyond the bounds. */
const SUMMARY_MS = 30 * 60_000;
/** Addresses or users that are told apart; further ones are counted as one. */
const MAX_SOURCES = 1_000;

type Bounded = keyof typeof BOUNDS;

/** Sign-ins of operators that failed from one address. */
export interface FailedSignIns {
  /** null: from many. */
  readonly address: string | null;
  readonly count: number;
  /** Refused before the token was looked at: too many wrong ones had come from there. */
  readonly isLimited: boolean;
}

export type SignInResult = "ok" | "failed" | "limited";

/** Counts sign-ins, for metrics. */
export type CountSignIns = (who: "operator" | "user", result: SignInResult, count: number) => void;

export interface AccessTrailOptions {
  readonly store: Pick<AuditStore & SignInStore, "writeAudit" | "throttle">;
  /** What is limited as one client: an IPv4 address, or the /64 of an IPv6 one. */
  readonly limitKey: (ip: string) => string;
  readonly count: CountSignIns;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Log, "error" | "warn">;
}

/** What was not written one by one. */
interface Summary {
  count: number;
  readonly sources: Set<string>;
  readonly from: number;
  to: number;
}

/** Writes sign-ins into the audit log and counts them. No method rejects: what cannot be written is kept and logged. */
export class AccessTrail {
  readonly #options: AccessTrailOptions;
  readonly #stamp: AuditStamp;
  readonly #summaries = new Map<Bounded, Summary>();
  /** Sources that have had their entries of the hour, and until when. */
  readonly #quiet = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #isAway = false;

  constructor(options: AccessTrailOptions) {
    this.#options = options;
    this.#stamp = auditStamps(options.now);
  }

  /** Sign-ins at the admin listener that failed. */
  async operatorsFailed(failures: readonly FailedSignIns[]): Promise<void> {
    for (const { address, count, isLimited } of failures) {
      this.#options.count("operator", isLimited ? "limited" : "failed", count);
      const source = address === null ? "many" : this.#options.limitKey(address);
      const details = { ...(count > 1 && { count }), ...(isLimited && { limited: true }) };
      await this.#note("signInFailed", source, count, { ...FAILED, details, address, ...this.#stamp() });
    }
  }

  /** @param address the client's. */
  async userSignedIn(userId: string, method: "code" | "link" | "oauth", address: string): Promise<void> {
    this.#options.count("user", "ok", 1);
    const entry = { ...SIGNED_IN, target: userId, details: { method }, address, ...this.#stamp() };
    await this.#note("userSignIn", userId, 1, entry);
  }

  /** A user's sign-in that failed is counted and not written: nobody is known. */
  userFailed(result: "failed" | "limited"): void {
    this.#options.count("user", result, 1);
  }

  /** Writes how many sign-ins there were beyond the bounds. */
  async flush(): Promise<void> {
    for (const [kind, { count, sources, from, to }] of this.#taken()) {
      const [name, entry] = kind === "userSignIn" ? (["users", SIGNED_IN] as const) : (["addresses", FAILED] as const);
      const times = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
      const details = { count, [name]: sources.size, ...times };
      const isWritten = await this.#write({ ...entry, details, ...this.#stamp() });
      if (!isWritten) this.#addTo(kind, { count, sources, from, to });
    }
    if (this.#summaries.size > 0) this.#flushLater();
  }

  #taken(): readonly (readonly [Bounded, Summary])[] {
    const all = [...this.#summaries];
    this.#summaries.clear();
    return all;
  }

  async close(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    await this.flush();
    if (this.#timer) clearTimeout(this.#timer);
    const lost = [...this.#summaries.values()].reduce((sum, { count }) => sum + count, 0);
    if (lost > 0) this.#options.log.warn({ sign_ins: lost }, "sign-ins are missing from the audit log");
  }

  async #note(kind: Bounded, source: string, count: number, entry: NewAuditEntry): Promise<void> {
    const at = this.#options.now();
    const name = `${kind} ${source}`;
    if ((this.#quiet.get(name) ?? 0) > at || !(await this.#mayWrite(kind, name)) || !(await this.#write(entry)))
      this.#addTo(kind, { count, sources: new Set([source]), from: at, to: at });
  }

  async #mayWrite(kind: Bounded, name: string): Promise<boolean> {
    const { each, all } = BOUNDS[kind];
    const { store, now } = this.#options;
    try {
      const counters = [
        { name: `audit ${name}`, limit: each },
        { name: `audit ${kind}`, limit: all },
      ];
      const wait = await store.throttle(counters, HOUR_MS);
      if (wait === null) return true;
      for (const oldest of this.#quiet.keys()) if (this.#quiet.size >= MAX_SOURCES) this.#quiet.delete(oldest);
      this.#quiet.set(name, now() + wait);
      return false;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  async #write(entry: NewAuditEntry): Promise<boolean> {
    try {
      await this.#options.store.writeAudit(entry);
      this.#isAway = false;
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  #failed(err: unknown): void {
    if (!this.#isAway) this.#options.log.warn({ err }, "sign-ins could not be written to the audit log yet");
    this.#isAway = true;
  }

  #addTo(kind: Bounded, { count, sources, from, to }: Summary): void {
    const summary = this.#summaries.get(kind) ?? { count: 0, sources: new Set<string>(), from, to };
    this.#summaries.set(kind, summary);
    summary.count += count;
    summary.to = Math.max(summary.to, to);
    for (const source of sources) if (summary.sources.size < MAX_SOURCES) summary.sources.add(source);
    this.#flushLater();
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      // Never rejects.
      inBackground(this.#options.log, "telling of sign-ins", this.flush());
    }, SUMMARY_MS).unref();
  }
}

type Fixed = Omit<NewAuditEntry, "id" | "at" | "details">;

const FAILED: Fixed = {
  name: "",
  role: "none",
  action: "signInFailed",
  target: null,
  outcome: "refused",
  status: 401,
  address: null,
};
const SIGNED_IN: Fixed = {
  name: "user",
  role: "user",
  action: "userSignIn",
  target: null,
  outcome: "done",
  status: 200,
  address: null,
};
