import type { KeyObject } from "node:crypto";
import { type CompactJWEHeaderParameters, EncryptJWT, errors, jwtDecrypt } from "jose";
import type { Awaitable } from "../../kit/index.ts";
import { deriveKey, type Keyring } from "../keyring.ts";

const LABEL = "sign-in state";

/** Kept in a cookie while the browser is at the identity provider. */
export interface SignInState {
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  /** PKCE's. */
  readonly verifier: string;
  readonly redirectUri: string;
  /** Where the browser goes in the end: a path on this host. */
  readonly redirectTo: string;
}

interface StateSeal {
  /** Encrypts it for a cookie: only this gateway can read or make it. */
  close(state: SignInState): Promise<string>;
  /** @returns null for anything that `close` did not make, or made longer than `lifeSeconds` ago. */
  open(sealed: string): Promise<SignInState | null>;
}

interface StateSealOptions {
  readonly keyring: () => Awaitable<Keyring>;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly lifeSeconds: number;
}

export function createStateSeal({ keyring, now, lifeSeconds }: StateSealOptions): StateSeal {
  return {
    async close(state) {
      const { kid, key } = await keyring();
      return new EncryptJWT({ ...state })
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid })
        .setExpirationTime(Math.floor(now() / 1000) + lifeSeconds)
        .encrypt(deriveKey(key, LABEL));
    },

    async open(sealed) {
      const { keys } = await keyring();
      const options = {
        keyManagementAlgorithms: ["dir"],
        contentEncryptionAlgorithms: ["A256GCM"],
        requiredClaims: ["exp"],
        currentDate: new Date(now()),
      };
      try {
        const { payload } = await jwtDecrypt<SignInState>(
          sealed,
          (header: CompactJWEHeaderParameters) => keyOf(header, keys),
          options,
        );
        return payload;
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}

function keyOf({ kid }: CompactJWEHeaderParameters, keys: ReadonlyMap<string, KeyObject>): KeyObject {
  const key = typeof kid === "string" ? keys.get(kid) : undefined;
  if (!key) throw new errors.JWEInvalid("unknown kid");
  return deriveKey(key, LABEL);
}

/** Percent-encoded, as it is stored in a cookie. */
const MAX_REDIRECT_CHARACTERS = 1024;
/** Any host: only paths relative to it are accepted. */
const OWN_ORIGIN = "http://here.invalid";
/** Browsers drop control characters and read `\` as `/`: the path could turn into another host. */
const UNSAFE = /[\p{Cc}\\]/u;
/** A second slash, or one that a proxy may decode: the path would name another host. */
const ANOTHER_HOST = /^\/(?:\/|%2f|%5c)/i;

/**
 * Where to go after signing in: a path on this host with its query and fragment, percent-encoded; `/` for anything
 * else.
 */
export function safeRedirect(value: unknown): string {
  if (typeof value !== "string" || value.length > MAX_REDIRECT_CHARACTERS) return "/";
  if (!value.startsWith("/") || UNSAFE.test(value) || !URL.canParse(value, OWN_ORIGIN)) return "/";
  const url = new URL(value, OWN_ORIGIN);
  // Checked as a browser resolves it: `/..//host` begins with two slashes only then.
  const path = url.pathname + url.search + url.hash;
  const bad = url.origin !== OWN_ORIGIN || ANOTHER_HOST.test(path) || path.length > MAX_REDIRECT_CHARACTERS;
  return bad ? "/" : path;
}
