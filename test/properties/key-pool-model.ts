import type { AttemptError } from "../../src/kit/index.ts";

/** What happened to a key, as it would be written in a book. */
type Entry =
  | {
      readonly what: "limit";
      readonly model: string;
      readonly until: number;
      readonly whole: boolean;
    }
  | {
      readonly what: "refusal";
      readonly model: string;
      readonly user: string;
      readonly status: number;
      readonly at: number;
    }
  | { readonly what: "rest"; readonly model: string | null; readonly until: number };

const TEN_MINUTES = 600_000;

/** One key of a pool, with every event kept; what rests is found by reading the book. */
export class KeyModel {
  #book: readonly Entry[] = [];
  /** Refusals in a row, by model; null: of the whole key. */
  readonly #inARow = new Map<string | null, number>();
  /** The models whose refusals rested the key, until the key serves again. */
  #restedBy: readonly string[] = [];
  readonly #apart = new Map<string, number>();

  /** Unix milliseconds until which it rests for the model. */
  until(model: string): number {
    const ends = this.#book.map((entry) => {
      if (entry.what === "refusal") return -Infinity;
      const isAll = entry.what === "rest" ? entry.model === null : entry.whole;
      return isAll || entry.model === model ? entry.until : -Infinity;
    });
    return Math.max(-Infinity, ...ends);
  }

  /** @returns whether only one user has met it so far */
  failed(model: string, error: AttemptError, user: string, now: number, isOnlyKey: boolean): boolean {
    const { failure, status, retryAfter, ofAccount } = error;
    if (failure === "rate_limited") {
      const until = now + Math.min(300_000, retryAfter ?? 1_000);
      const others = this.#book.some((entry) => {
        return entry.what === "limit" && !entry.whole && entry.model !== model && entry.until > now;
      });
      if (!ofAccount) this.#add({ what: "limit", model, until, whole: false });
      if (ofAccount || others) this.#add({ what: "limit", model, until, whole: true });
      return false;
    }
    if (failure === "quota") this.#rest(null, retryAfter, now);
    if (failure !== "credentials") return false;
    if (status === 0) {
      if (!isOnlyKey) this.#rest(null, retryAfter, now);
      return false;
    }
    const known = this.#book.filter((entry) => entry.what === "refusal" && now - entry.at < TEN_MINUTES);
    const others = known.filter((entry) => entry.what === "refusal" && entry.user !== user && entry.status === status);
    this.#book = this.#book.filter((entry) => {
      return entry.what !== "refusal" || entry.user !== user || entry.status !== status || entry.model !== model;
    });
    this.#add({ what: "refusal", model, user, status, at: now });
    if (status !== 403) {
      if (others.length === 0) return true;
      this.#rest(null, retryAfter, now);
      this.#forget(() => true);
      return false;
    }
    const elsewhere = others.find(({ model: other }) => other !== model && !this.#isApart(other!, now));
    if (elsewhere && !this.#isApart(model, now)) this.#restAll([model, elsewhere.model!], retryAfter, now);
    else if (others.some(({ model: other }) => other === model)) this.#refuse(model, retryAfter, now);
    else return true;
    return false;
  }

  served(model: string, now: number): void {
    this.#inARow.delete(null);
    this.#inARow.delete(model);
    this.#forget((status, of) => status !== 403 || of === model);
    if (this.#restedBy.length === 0 || this.#wholeUntil > now) return;
    const rested = this.#restedBy;
    this.#restedBy = [];
    if (!rested.includes(model)) for (const one of rested) this.#apart.set(one, now + TEN_MINUTES);
  }

  /** Another key served the request that this one was refused. */
  wasTheReason(model: string, { status, retryAfter }: AttemptError, now: number): void {
    if (status === 403) return this.#refuse(model, retryAfter, now);
    this.#rest(null, retryAfter, now);
    this.#forget(() => true);
  }

  clear(): void {
    this.#book = [];
    this.#inARow.clear();
    this.#restedBy = [];
    this.#apart.clear();
  }

  get #wholeUntil(): number {
    return this.until("");
  }

  /** For the model, or for all when another model rests for the same reason. */
  #refuse(model: string, told: number | null, now: number): void {
    const other = this.#book.find((entry) => {
      if (entry.what !== "rest" || entry.model === null || entry.model === model) return false;
      return entry.until > now && !this.#isApart(entry.model, now) && this.#isNewest(entry);
    });
    if (other?.what === "rest" && !this.#isApart(model, now)) return this.#restAll([model, other.model!], told, now);
    if (this.#apart.has(model)) this.#apart.set(model, now + TEN_MINUTES);
    this.#rest(model, told, now);
  }

  /** A limit that ends later than the refusal of the same model hides it. */
  #isNewest(rest: Extract<Entry, { what: "rest" }>): boolean {
    const after = this.#book.slice(this.#book.indexOf(rest) + 1);
    return !after.some((entry) => {
      return entry.what === "limit" && !entry.whole && entry.model === rest.model && entry.until >= rest.until;
    });
  }

  #restAll(models: readonly string[], told: number | null, now: number): void {
    this.#restedBy = models;
    this.#rest(null, told, now);
  }

  #rest(model: string | null, told: number | null, now: number): void {
    const before = this.#inARow.get(model) ?? 0;
    const wait = told === null ? Math.min(600_000, 60_000 * 2 ** before) : Math.min(300_000, told);
    this.#inARow.set(model, before + 1);
    this.#add({ what: "rest", model, until: now + wait });
  }

  #isApart(model: string, now: number): boolean {
    return (this.#apart.get(model) ?? -Infinity) > now;
  }

  #forget(which: (status: number, model: string) => boolean): void {
    this.#book = this.#book.filter((entry) => entry.what !== "refusal" || !which(entry.status, entry.model));
  }

  #add(entry: Entry): void {
    this.#book = [...this.#book, entry];
  }
}
