import { hash, randomBytes } from "node:crypto";
import type { AuditEntry, AuditVerdict, BadAuditEntry, Json, NewAuditEntry } from "../kit/index.ts";

/** The place of an entry that has begun: behind everything that is in the chain. */
export const BEGUN_SEQ = Number.MAX_SAFE_INTEGER;

/** Milliseconds after which an entry that has begun joins the chain without its end: its process has died. */
export const BEGUN_TIMEOUT_MS = 3_600_000;

/** A place in the chain. `digest` is null before the first entry. */
export interface ChainPlace {
  readonly seq: number;
  readonly digest: string | null;
}

export const CHAIN_START: ChainPlace = { seq: 0, digest: null };

/**
 * The digest of an entry covers this in place of the data itself. Without its salt nobody can find out what the data was,
 * so removing data and salt leaves a chain that still verifies.
 */
type Seal = { readonly salt: string } | { readonly digest: string };

/** An entry of the chain as it is kept. `seq` and `digest` come first: scripts of the store read them there. */
interface ChainedEntry extends NewAuditEntry {
  readonly seq: number;
  readonly digest: string;
  readonly previous: string | null;
  /** Of target and details. */
  readonly subject: Seal;
  /** Of the client's address. */
  readonly origin: Seal;
}

/** An entry at the end of the chain. @param head the end so far. */
export function linkAfter(head: ChainPlace, entry: NewAuditEntry): ChainPlace & { readonly text: string } {
  const { id, at, name, role, action, target, outcome, status, address } = entry;
  // As it is read again: what JSON does not have is left out, and integer keys come first.
  const details = JSON.parse(JSON.stringify(entry.details)) as Json;
  const fields = { id, at, name, role, action, target, details, outcome, status, address };
  const seals = { subject: newSeal(), origin: newSeal() };
  const seq = head.seq + 1;
  const unsigned = { ...fields, ...seals, seq, previous: head.digest };
  const digest = digestOf(unsigned);
  const kept = { seq, digest, previous: head.digest, ...fields, ...seals } satisfies ChainedEntry;
  return { seq, digest, text: JSON.stringify(kept) };
}

/** An entry that has begun, as it is kept. */
export function begunText(entry: NewAuditEntry): string {
  return JSON.stringify(entry);
}

/** Entries of a former version have no address. */
type Unaddressed = Omit<NewAuditEntry, "address">;

/** An entry as it is shown; also one that a former version has written. */
export function shownAudit(text: string): AuditEntry {
  const kept = JSON.parse(text) as Partial<ChainedEntry> & Unaddressed & { readonly erased?: true };
  const { seq: _seq, subject, origin: _origin, address = null, digest = null, previous = null, ...entry } = kept;
  const isErased = kept.erased === true || (subject !== undefined && "digest" in subject);
  return { ...entry, address, digest, previous, ...(isErased && { erased: true as const }) };
}

/** As it was written before it was in the chain. */
export function newEntryOf(text: string): NewAuditEntry {
  return JSON.parse(text) as NewAuditEntry;
}

function newSeal(): Seal {
  return { salt: randomBytes(16).toString("hex") };
}

function sealed(seal: Seal, value: unknown): string {
  return "digest" in seal ? seal.digest : hash("sha256", JSON.stringify([seal.salt, value]));
}

function subjectOf({ target, details }: Pick<ChainedEntry, "target" | "details">): unknown {
  return [target, details];
}

function digestOf(entry: Omit<ChainedEntry, "digest">): string {
  const { seq, previous, id, at, name, role, action, outcome, status, subject, origin, address } = entry;
  const personal = [sealed(subject, subjectOf(entry)), sealed(origin, address)];
  return hash("sha256", JSON.stringify([1, seq, previous, id, at, name, role, action, outcome, status, ...personal]));
}

/** The text of an entry without the personal data of who has these names; null for an entry that names none of them. */
export function erasedText(text: string, names: readonly string[]): string | null {
  const entry = JSON.parse(text) as Partial<ChainedEntry> & NewAuditEntry;
  const { target, details, address, role, subject, origin } = entry;
  const isNamed = names.some((name) => mentions(target, name) || mentions(details, name));
  if (!isNamed) return null;
  const without = { ...entry, target: null, details: {}, ...(role === "user" && { address: null }) };
  if (subject === undefined || origin === undefined) return JSON.stringify({ ...without, erased: true });
  return JSON.stringify({
    ...without,
    subject: { digest: sealed(subject, subjectOf(entry)) },
    ...(role === "user" && { origin: { digest: sealed(origin, address) } }),
  });
}

/** Characters of ids and addresses: a name is found as a whole word. */
const WORD = /[\w.%+@-]/;

/** Whether a text of the value holds the name, in any case. */
function mentions(value: unknown, name: string): boolean {
  if (typeof value === "string") return holdsWord(value.toLowerCase(), name.toLowerCase());
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, inner]) => mentions(key, name) || mentions(inner, name));
}

function holdsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const [before, after] = [text[at - 1] ?? " ", text[at + word.length] ?? " "];
    // A full stop behind it ends a sentence.
    const isEnd = !WORD.test(after) || (after === "." && !WORD.test(text[at + word.length + 1] ?? " "));
    if (!WORD.test(before) && isEnd) return true;
  }
  return false;
}

/** Follows the chain from what was removed last up to its end, one entry after the other. */
export class ChainCheck {
  readonly #wanted: string | undefined;
  #at: ChainPlace;
  #entries = 0;
  #erased = 0;
  #found = false;
  #bad: BadAuditEntry | null = null;

  /** @param anchor the newest entry that is no longer kept. @param wanted a digest that is to be in the chain. */
  constructor(anchor: ChainPlace, wanted?: string) {
    this.#at = anchor;
    this.#wanted = wanted;
    this.#found = anchor.digest !== null && anchor.digest === wanted;
  }

  /** The place of the last entry that was looked at. */
  get place(): ChainPlace {
    return this.#at;
  }

  get isBroken(): boolean {
    return this.#bad !== null;
  }

  /** Older entries were removed meanwhile. */
  skipTo(anchor: ChainPlace): void {
    if (anchor.seq > this.#at.seq) this.#at = anchor;
  }

  /** @param seq the place under which the store keeps it. */
  add(seq: number, text: string): void {
    if (this.#bad !== null) return;
    const entry = parsed(text);
    const why = entry === null ? "it cannot be read" : this.#problemOf(seq, entry);
    if (why !== null || entry === null) {
      this.#bad = { id: entry?.id ?? `number ${seq}`, at: entry?.at ?? null, action: entry?.action ?? null, why: why! };
      return;
    }
    this.#at = { seq, digest: entry.digest };
    this.#entries += 1;
    if ("digest" in entry.subject) this.#erased += 1;
    if (entry.digest === this.#wanted) this.#found = true;
  }

  #problemOf(seq: number, entry: ChainedEntry): string | null {
    if (seq > this.#at.seq + 1) return "one or more entries before it are missing";
    if (entry.seq !== seq || seq !== this.#at.seq + 1) return "it is not in its place";
    if (entry.previous !== this.#at.digest) return "the entry before it was changed or replaced";
    return digestOf(entry) === entry.digest && isWhole(entry) ? null : "it was changed: its digest does not match";
  }

  /** @param head the end of the chain as the store has noted it. */
  end(head: ChainPlace, counts: Pick<AuditVerdict, "begun" | "unchained">): AuditVerdict {
    const isCut = this.#bad === null && (this.#at.seq !== head.seq || this.#at.digest !== head.digest);
    const bad = isCut ? { id: null, at: null, action: null, why: "the newest entries are missing" } : this.#bad;
    const found = this.#wanted === undefined ? null : this.#found;
    return { entries: this.#entries, erased: this.#erased, ...counts, head: head.digest, bad, found };
  }
}

/** Whether what a digest no longer covers was really removed: anything could be written there. */
function isWhole({ subject, origin, target, details, address }: ChainedEntry): boolean {
  const isSubjectWhole = "salt" in subject || (target === null && Object.keys(details).length === 0);
  return isSubjectWhole && ("salt" in origin || address === null);
}

function parsed(text: string): ChainedEntry | null {
  try {
    const entry = JSON.parse(text) as ChainedEntry;
    return isSeal(entry.subject) && isSeal(entry.origin) ? entry : null;
  } catch {
    return null;
  }
}

function isSeal(value: unknown): value is Seal {
  return typeof value === "object" && value !== null && ("salt" in value || "digest" in value);
}
