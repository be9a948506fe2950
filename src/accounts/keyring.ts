import { createSecretKey, hkdfSync, randomBytes } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { AuthSettings, Awaitable } from "../kit/index.ts";
import { memoizeBySettings } from "./memoize.ts";

const GENERATED_SECRET_NAME = "jwt-secret";

/** The secrets of `auth.tokens` as keys. */
export interface Keyring {
  /** The first secret and its `kid`: it signs and encrypts. */
  readonly kid: string;
  readonly key: KeyObject;
  /** All secrets by `kid`: each of them verifies. */
  readonly keys: ReadonlyMap<string, KeyObject>;
}

export interface KeyringOptions {
  readonly settings: () => AuthSettings["tokens"];
  /** `Store.remember`: keeps the secret that is generated when the configuration has none. */
  readonly remember: (name: string, value: string) => Awaitable<string>;
}

/** The keyring of the settings in force. A generated secret outlives reloads. */
export function createKeyring({ settings, remember }: KeyringOptions): () => Awaitable<Keyring> {
  let generated: string | null = null;
  const generatedSecret = async () =>
    (generated ??= await remember(GENERATED_SECRET_NAME, randomBytes(32).toString("base64url")));

  return memoizeBySettings(settings, async ({ secrets }) => {
    const keys = new Map<string, KeyObject>();
    for (const { kid, value } of secrets) {
      keys.set(kid, createSecretKey(value.empty ? await generatedSecret() : value.reveal(), "utf8"));
    }
    const [first] = keys;
    if (!first) throw new Error("auth.tokens.secrets is empty: name at least one");
    const [kid, key] = first;
    return { kid, key, keys };
  });
}

/** A key of 256 bits for one purpose (HKDF): it discloses neither the secret nor the keys of other labels. */
export function deriveKey(secret: KeyObject, label: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", label, 32)));
}
