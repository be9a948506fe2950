import { createHmac, type KeyObject, randomInt } from "node:crypto";
import { type Awaitable, type Counter, GatewayError, invalidRequest, type Store } from "../../kit/index.ts";
import { deriveKey, type Keyring } from "../tokens.ts";
import { parseEmail } from "../users.ts";
import type { Devices } from "./devices.ts";

const HOUR_MS = 3_600_000;
const CODE_TTL_MS = 10 * 60_000;
const MAX_TRIES = 5;
/** Of a code's tries, those that other clients may use up: guesses of strangers do not invalidate a code. */
const MAX_TRIES_OF_OTHERS = 3;
/** For one client and address: the requests of a stranger take nothing from the owner's. */
const CODES_PER_CLIENT_AND_ADDRESS = 5;
/** From all clients together: bounds the mails to an address, and with MAX_TRIES the guesses. */
const CODES_PER_ADDRESS = 20;
/** How many of those may be second or later codes of a client: a few strangers leave room for one of the owner's. */
const FURTHER_CODES_PER_ADDRESS = 12;
/** For a browser from which the address has signed in before, apart from all others. */
const CODES_PER_DEVICE = 5;
const CODES_PER_CLIENT = 20;
/** Tries of codes, right or wrong: two and a half for each code that a client may ask for. */
const MAX_TRIES_PER_CLIENT = 50;
const SIX_DIGITS = /^[0-9]{6}$/;

export interface CodeOptions {
  readonly store: Store;
  readonly keyring: () => Awaitable<Keyring>;
  /** Sends a code on its way; must neither wait nor throw. */
  readonly send: (email: string, code: string) => void;
  /** What is limited as one client: an IPv4 address, or the /64 of an IPv6 one. */
  readonly limitKey: (ip: string) => string;
  readonly devices: Pick<Devices, "idOf">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface CodeRequest {
  /** As it came. */
  readonly email: unknown;
  readonly ip: string;
  /** The cookie that shows from where users have signed in before; left out without one. */
  readonly device?: string;
}

export interface Codes {
  /**
   * Sends a code, which replaces the last one of this client and address. @throws GatewayError INVALID_REQUEST,
   * TOO_MANY_REQUESTS
   */
  request(request: CodeRequest): Promise<void>;
  /**
   * Uses a code up. @returns the address that it proves, in lower case.
   * @throws GatewayError INVALID_REQUEST, TOO_MANY_REQUESTS, INVALID_CODE
   */
  verify(request: CodeRequest & { readonly code: unknown }): Promise<string>;
}

/** Sign-in codes. Neither answers nor their timing tell whether an address has an account. */
export function createCodes({ store, keyring, send, limitKey, devices, now }: CodeOptions): Codes {
  async function throttle(...counters: readonly Counter[]): Promise<void> {
    const wait = await store.throttle(counters, HOUR_MS);
    if (wait === null) return;
    const seconds = Math.max(1, Math.ceil(wait / 1000));
    throw new GatewayError("TOO_MANY_REQUESTS", "Too many requests", {
      retryAfter: seconds,
      fields: { retry_after: seconds },
    });
  }

  /** Whoever is limited and asks as one: a browser that the address is known from, else a client. */
  async function askerOf({ ip, device }: CodeRequest, address: string): Promise<{ client: string; isKnown: boolean }> {
    const id = await devices.idOf(device, address);
    return id === null ? { client: limitKey(ip), isKnown: false } : { client: `device ${id}`, isKnown: true };
  }

  async function throttleStranger(client: string, address: string): Promise<void> {
    const counters = [
      { name: `codes of client ${client} for ${address}`, limit: CODES_PER_CLIENT_AND_ADDRESS },
      { name: `codes of address ${address}`, limit: CODES_PER_ADDRESS },
      { name: `codes of client ${client}`, limit: CODES_PER_CLIENT },
    ];
    const first = { name: `first code of client ${client} for ${address}`, limit: 1 };
    if ((await store.throttle([first, ...counters], HOUR_MS)) === null) return;
    await throttle(...counters, { name: `further codes of address ${address}`, limit: FURTHER_CODES_PER_ADDRESS });
  }

  return {
    async request(request) {
      const address = parseEmail(request.email);
      const { client, isKnown } = await askerOf(request, address);
      if (isKnown) await throttle({ name: `codes of ${client}`, limit: CODES_PER_DEVICE });
      else await throttleStranger(client, address);
      const code = randomInt(1_000_000).toString().padStart(6, "0");
      const digest = digestOf(address, code, (await keyring()).key);
      await store.putCode({
        email: address,
        client,
        digest,
        expiresAt: now() + CODE_TTL_MS,
        tries: MAX_TRIES,
        triesOfOthers: MAX_TRIES_OF_OTHERS,
      });
      send(address, code);
    },

    async verify({ code, ...request }) {
      const address = parseEmail(request.email);
      if (typeof code !== "string") throw invalidRequest("/code", "must be a string of 6 digits");
      const { client } = await askerOf(request, address);
      await throttle({ name: `tries of client ${client}`, limit: MAX_TRIES_PER_CLIENT });
      // By every secret, as tokens are verified: a code on its way outlives a rotation. What cannot be a code costs the
      // address none of its tries.
      const digests = [...(await keyring()).keys.values()].map((secret) => digestOf(address, code, secret));
      const good = SIX_DIGITS.test(code) && (await store.takeCode(address, client, digests));
      if (!good) throw new GatewayError("INVALID_CODE", "Invalid or expired code");
      return address;
    },
  };
}

/** Keyed: a plain hash of six digits is reversed in a moment. */
function digestOf(email: string, code: string, secret: KeyObject): Uint8Array {
  return createHmac("sha256", deriveKey(secret, "sign-in code")).update(`${email} ${code}`).digest();
}
