import { hash, randomBytes } from "node:crypto";
import { isLoopback } from "../../kit/index.ts";

const LINK_TTL_MS = 10 * 60_000;
const CODE = /^link_[A-Za-z0-9_-]{22}$/;

/** Whom a link signs in: a user of the dashboard by email address, or the holder of an admin token. */
export type LinkFor = "user" | "operator";

/**
 * Codes of the sign-in links that `gateway dev` prints. They are in the memory of this process alone, as digests: another
 * start knows none of them. Each is good once, within ten minutes, and only from this machine.
 */
export class SignInLinks {
  readonly #now: () => number;
  readonly #codes = new Map<string, { readonly who: string; readonly kind: LinkFor; readonly expiresAt: number }>();

  /** @param now Unix milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param who the user's email address, or the admin token. @returns the code: 128 bits, beginning with `link_`. */
  issue(kind: LinkFor, who: string): string {
    const code = `link_${randomBytes(16).toString("base64url")}`;
    this.#codes.set(hash("sha256", code), { who, kind, expiresAt: this.#now() + LINK_TTL_MS });
    return code;
  }

  /**
   * Uses a code up.
   * @param address the client's: a code that comes from elsewhere is refused, and stays good here.
   * @returns who is signed in; null for a code that is not good, and for any other text.
   */
  redeem(kind: LinkFor, code: unknown, address: string): string | null {
    if (typeof code !== "string" || !CODE.test(code) || !isLoopback(address.replace(/^::ffff:/, ""))) return null;
    const key = hash("sha256", code);
    const found = this.#codes.get(key);
    if (found === undefined || found.kind !== kind) return null;
    this.#codes.delete(key);
    return found.expiresAt > this.#now() ? found.who : null;
  }
}
