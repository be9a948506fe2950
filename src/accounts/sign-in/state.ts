import { EncryptJWT, errors, jwtDecrypt } from "jose";
import type { CompactJWEHeaderParameters } from "jose";
import type { KeyObject } from "node:crypto";
import type { Awaitable } from "../../kit/index.ts";
import { deriveKey } from "../keyring.ts";
import type { Keyring } from "../keyring.ts";

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

export interface StateSeal {
  /** As text that only this gateway can read or make, for a cookie. */
  close(state: SignInState): Promise<string>;
  /** @returns null for anything that `close` did not make, or made longer than `life` ago. */
  open(sealed: string): Promise<SignInState | null>;
}

export interface StateSealOptions {
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
