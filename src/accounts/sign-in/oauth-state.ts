import type { KeyObject } from "node:crypto";
import { type CompactJWEHeaderParameters, EncryptJWT, errors, jwtDecrypt } from "jose";
import type { Awaitable } from "../../kit/index.ts";
import { deriveKey, type Keyring } from "../keyring.ts";

const LABEL = "sign-in state";

/** What must be known again when the browser comes back from an identity provider. */
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
  /** As text that only this gateway can read or make, for a cookie. */
  close(state: SignInState): Promise<string>;
  /** @returns null for anything that `close` did not make, or made longer than `life` ago. */
  open(sealed: string): Promise<SignInState | null>;
}

interface StateSealOptions {
  readonly keyring: () => Awaitable<Keyring>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Seconds. */
  readonly life: number;
}

export function createStateSeal({ keyring, now, life }: StateSealOptions): StateSeal {
  return {
    async close(state) {
      const { kid, key } = await keyring();
      return new EncryptJWT({ ...state })
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid })
        .setExpirationTime(Math.floor(now() / 1000) + life)
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

/** Percent-encoded: it travels in a cookie. */
const MAX_REDIRECT_CHARACTERS = 1024;
/** Stands for whatever host the answer comes from. */
const HERE = "http://here.invalid";
/** Browsers drop control characters and read `\` as `/`: a path would turn into another host. */
const UNSAFE = /[\p{Cc}\\]/u;
/** Nor may a proxy that decodes what begins a path make a second slash of it. */
const ANOTHER_HOST = /^\/(?:\/|%2f|%5c)/i;

/** Where to go after signing in: a path on this host with its query and fragment, percent-encoded; `/` for anything else. */
export function safeRedirect(value: unknown): string {
  if (typeof value !== "string" || value.length > MAX_REDIRECT_CHARACTERS) return "/";
  if (!value.startsWith("/") || UNSAFE.test(value) || !URL.canParse(value, HERE)) return "/";
  const url = new URL(value, HERE);
  // Looked at as a browser resolves it: `/..//host` begins with two slashes only then.
  const path = url.pathname + url.search + url.hash;
  const bad = url.origin !== HERE || ANOTHER_HOST.test(path) || path.length > MAX_REDIRECT_CHARACTERS;
  return bad ? "/" : path;
}
