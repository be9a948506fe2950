import { createHmac, randomInt } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { GatewayError, invalidRequest } from "../../kit/index.ts";
import type { Awaitable, Counter, Store } from "../../kit/index.ts";
import { deriveKey } from "../keyring.ts";
import type { Keyring } from "../keyring.ts";
import { parseEmail } from "../users.ts";

const HOUR_MS = 3_600_000;
const LIFE_MS = 10 * 60_000;
const TRIES = 5;
/** Of a code's tries, those that clients which did not ask for it may use up: guesses of strangers kill no code. */
const TRIES_OF_OTHERS = 3;
/** For one client and address: what a stranger asks for takes nothing from the owner. */
const CODES_PER_CLIENT_AND_ADDRESS = 5;
/** However many clients ask: bounds the mail that an address gets, and with TRIES the guesses at it. */
const CODES_PER_ADDRESS = 20;
const CODES_PER_CLIENT = 20;
/** Tries of codes, right or wrong: two and a half for each code that a client may ask for. */
const TRIES_PER_CLIENT = 50;
const SHAPE = /^[0-9]{6}$/;

export interface CodeOptions {
  readonly store: Store;
  readonly keyring: () => Awaitable<Keyring>;
  /** Sends a code on its way; must neither wait nor throw. */
  readonly send: (email: string, code: string) => void;
  /** What is limited as one client: an IPv4 address, or the /64 of an IPv6 one. */
  readonly limitKey: (ip: string) => string;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface CodeRequest {
  /** As it came. */
  readonly email: unknown;
  readonly ip: string;
}

export interface Codes {
  /** Sends a code, which replaces the last one of this client and address. @throws GatewayError INVALID_REQUEST, TOO_MANY_REQUESTS */
  request(request: CodeRequest): Promise<void>;
  /**
   * Uses a code up. @returns the address that it proves, in lower case.
   * @throws GatewayError INVALID_REQUEST, TOO_MANY_REQUESTS, INVALID_CODE
   */
  verify(request: CodeRequest & { readonly code: unknown }): Promise<string>;
}

/** Sign-in codes (decisions 3). Neither answers nor their timing tell whether an address has an account. */
export function createCodes({ store, keyring, send, limitKey, now }: CodeOptions): Codes {
  async function throttle(...counters: readonly Counter[]): Promise<void> {
    const wait = await store.throttle(counters, HOUR_MS);
    if (wait === null) return;
    const seconds = Math.max(1, Math.ceil(wait / 1000));
    throw new GatewayError("TOO_MANY_REQUESTS", "Too many requests", {
      retryAfter: seconds,
      fields: { retry_after: seconds },
    });
  }

  return {
    async request({ email, ip }) {
      const address = parseEmail(email);
      const client = limitKey(ip);
      await throttle(
        { name: `codes of client ${client} for ${address}`, limit: CODES_PER_CLIENT_AND_ADDRESS },
        { name: `codes of address ${address}`, limit: CODES_PER_ADDRESS },
        { name: `codes of client ${client}`, limit: CODES_PER_CLIENT },
      );
      const code = randomInt(1_000_000).toString().padStart(6, "0");
      const digest = digestOf(address, code, (await keyring()).key);
      await store.putCode({
        email: address,
        client,
        digest,
        expiresAt: now() + LIFE_MS,
        tries: TRIES,
        triesOfOthers: TRIES_OF_OTHERS,
      });
      send(address, code);
    },

    async verify({ email, code, ip }) {
      const address = parseEmail(email);
      if (typeof code !== "string") throw invalidRequest("/code", "must be a string of 6 digits");
      const client = limitKey(ip);
      await throttle({ name: `tries of client ${client}`, limit: TRIES_PER_CLIENT });
      // By every secret, as tokens are verified: a code on its way outlives a rotation. What cannot be a code costs the
      // address none of its tries.
      const digests = [...(await keyring()).keys.values()].map((secret) => digestOf(address, code, secret));
      const good = SHAPE.test(code) && (await store.takeCode(address, client, digests));
      if (!good) throw new GatewayError("INVALID_CODE", "Invalid or expired code");
      return address;
    },
  };
}

/** Keyed: six digits under a plain hash would be found in a moment. */
function digestOf(email: string, code: string, secret: KeyObject): Uint8Array {
  return createHmac("sha256", deriveKey(secret, "sign-in code")).update(`${email} ${code}`).digest();
}
