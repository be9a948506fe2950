import { createHmac, randomBytes } from "node:crypto";
import { inBackground, type Log, type Store } from "../kit/index.ts";

const DIGEST_CHARACTERS = 22;
const RETRY_MS = 1_000;
/** Digests that are kept: a request's line needs two, which take a quarter of its time. */
const MAX_KEPT_DIGESTS = 10_000;

export interface DigestOptions {
  readonly remember: Store["remember"];
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

/**
 * Keyed digests of ids, for logs that must not name anybody. The key is made once and kept in the store, so that they are
 * the same in all its processes; it is asked for when it is first needed, and a store that is away leaves digests out.
 */
export class Digests {
  readonly #options: DigestOptions;
  #key: string | null = null;
  #askAgainAt = -Infinity;
  readonly #kept = new Map<string, string>();

  constructor(options: DigestOptions) {
    this.#options = options;
  }

  /** @returns null while the key is not known. */
  of(id: string): string | null {
    if (this.#key === null) {
      this.#ask();
      return null;
    }
    const kept = this.#kept.get(id);
    if (kept !== undefined) return kept;
    const made = createHmac("sha256", this.#key).update(id).digest("base64url").slice(0, DIGEST_CHARACTERS);
    if (this.#kept.size >= MAX_KEPT_DIGESTS) this.#kept.clear();
    this.#kept.set(id, made);
    return made;
  }

  /** Gets the key, so that the first digest is there. Never rejects. */
  async prepare(): Promise<void> {
    if (this.#key !== null) return;
    this.#askAgainAt = this.#options.now() + RETRY_MS;
    try {
      this.#key ??= await this.#options.remember("telemetry-digest-key", randomBytes(32).toString("base64url"));
    } catch (err) {
      this.#options.log.debug({ err }, "digest key could not be read");
    }
  }

  #ask(): void {
    if (this.#options.now() < this.#askAgainAt) return;
    inBackground(this.#options.log, "reading the key of digests", this.prepare());
  }
}
