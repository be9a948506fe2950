import { createHash } from "node:crypto";

/*
 * Gemini wants the signature of a function call back, and most clients drop fields that they do not know. Ids travel
 * verbatim in every client format, so the signature rides in the id:
 *
 *   <id>__ts1_<check>_<signature in base64url, without padding>
 *
 * `ts1` is the version of the form; `check` is the beginning of the signature's SHA-256, so that an id which a client cut
 * short loses its signature instead of bringing back a wrong one. Only letters, digits, `_` and `-` occur: ids of other
 * providers allow nothing else.
 */
const MARK = "__ts1_";
const CHECK = 8;

export interface CallId {
  /** As the upstream knows it. */
  readonly id: string;
  /** null when the id carries none. */
  readonly signature: string | null;
}

/** @param signature standard base64, as Google's JSON has it; any other is left out. */
export function withSignature(id: string, signature: string | null): string {
  if (signature === null || signature === "" || id.includes(MARK)) return id;
  const bytes = Buffer.from(signature, "base64");
  if (bytes.toString("base64") !== signature) return id;
  const text = bytes.toString("base64url");
  return `${id}${MARK}${check(text)}_${text}`;
}

/** For any upstream that is to see the id: the others refuse long ones. */
export function readCallId(carried: string): CallId {
  const at = carried.indexOf(MARK);
  if (at < 0) return { id: carried, signature: null };
  const id = carried.slice(0, at);
  const sum = carried.slice(at + MARK.length, at + MARK.length + CHECK);
  const text = carried.slice(at + MARK.length + CHECK + 1);
  const good = text !== "" && carried[at + MARK.length + CHECK] === "_" && check(text) === sum;
  return { id, signature: good ? Buffer.from(text, "base64url").toString("base64") : null };
}

const USABLE = /^[\w-]{1,64}$/;

/** Gives each call of one answer an id: the upstream's own where it is usable and new, else one made of `seed`. */
export class CallIds {
  readonly #seed: string;
  readonly #used = new Set<string>();

  /** @param seed names the answer: equal seeds give equal ids. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  next(own: unknown): string {
    const usable = typeof own === "string" && USABLE.test(own) && !own.includes(MARK) && !this.#used.has(own);
    const id = usable ? own : `call_${sha256(`${this.#seed}/${this.#used.size}`).slice(0, 24)}`;
    this.#used.add(id);
    return id;
  }
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function check(text: string): string {
  return sha256(text).slice(0, CHECK);
}
