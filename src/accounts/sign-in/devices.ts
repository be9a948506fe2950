import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import type { Awaitable } from "../../kit/index.ts";
import { deriveKey, type Keyring } from "../tokens.ts";

const LABEL = "sign-in device";
/** Users who have signed in from one browser; the oldest is forgotten. */
const MAX_USERS_PER_DEVICE = 5;
const MAX_COOKIE_CHARACTERS = 1_024;
/** As long as browsers keep a cookie. */
const LIFE_MS = 400 * 86_400_000;
/** An id, its end in Unix milliseconds, a signature. */
const MARK = /^([\w-]{22})\.(\d{1,15})\.([\w-]{43})$/;

/**
 * Marks of browsers from which a user has signed in before: one for each user, in one cookie. They open nothing. Whoever
 * has one gets a share of sign-in codes that strangers cannot use up.
 * https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
 */
export interface Devices {
  /** The id of the mark that the cookie has for an address in lower case; null without one. */
  idOf(cookie: string | undefined, email: string): Promise<string | null>;
  /** The cookie after a sign-in: with a new mark, in front of those of other users. */
  mark(cookie: string | undefined, email: string): Promise<string>;
}

export function createDevices(keyring: () => Awaitable<Keyring>, now: () => number): Devices {
  async function idIn(mark: string, email: string): Promise<string | null> {
    const [, id = "", ends = "", signature = ""] = MARK.exec(mark) ?? [];
    if (id === "" || Number(ends) <= now()) return null;
    // By every secret, as tokens are verified.
    const { keys } = await keyring();
    const isGood = [...keys.values()].some((key) => isSame(signature, signatureOf(key, email, id, ends)));
    return isGood ? id : null;
  }

  async function idOf(cookie: string | undefined, email: string): Promise<string | null> {
    for (const mark of marksOf(cookie)) {
      const id = await idIn(mark, email);
      if (id !== null) return id;
    }
    return null;
  }

  return {
    idOf,

    async mark(cookie, email) {
      const { key } = await keyring();
      const id = randomBytes(16).toString("base64url");
      const ends = String(now() + LIFE_MS);
      const others: string[] = [];
      for (const mark of marksOf(cookie)) if ((await idIn(mark, email)) === null) others.push(mark);
      const own = `${id}.${ends}.${signatureOf(key, email, id, ends)}`;
      return [own, ...others].slice(0, MAX_USERS_PER_DEVICE).join("~");
    },
  };
}

function marksOf(cookie: string | undefined): readonly string[] {
  if (!cookie || cookie.length > MAX_COOKIE_CHARACTERS) return [];
  return cookie
    .split("~")
    .filter((mark) => MARK.test(mark))
    .slice(0, MAX_USERS_PER_DEVICE);
}

function signatureOf(secret: KeyObject, email: string, id: string, ends: string): string {
  return createHmac("sha256", deriveKey(secret, LABEL)).update(`${email} ${id} ${ends}`).digest("base64url");
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
