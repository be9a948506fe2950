import { createSecretKey, hkdfSync, randomBytes } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { AuthSettings, Awaitable } from "../kit/index.ts";
import { memoizeBySettings } from "./memoize.ts";

const GENERATED_SECRET_NAME = "jwt-secret";

/** The secrets of `auth.tokens` as keys. */
export interface Keyring {
  /** The first secret and its `kid`: what is made now is made with it. */
  readonly kid: string;
  readonly key: KeyObject;
  /** All of them by `kid`: what was made with any of them is good. */
  readonly keys: ReadonlyMap<string, KeyObject>;
}

export interface KeyringOptions {
  readonly settings: () => AuthSettings["tokens"];
  /** `Store.remember`: keeps the secret that is made when the configuration names none. */
  readonly remember: (name: string, value: string) => Awaitable<string>;
}

/** The keyring of the settings in force. A made secret stays the same, whatever is reloaded. */
export function createKeyring({ settings, remember }: KeyringOptions): () => Awaitable<Keyring> {
  let made: string | null = null;
  const madeSecret = async () =>
    (made ??= await remember(GENERATED_SECRET_NAME, randomBytes(32).toString("base64url")));

  return memoizeBySettings(settings, async ({ secrets }) => {
    const keys = new Map<string, KeyObject>();
    for (const { kid, value } of secrets) {
      keys.set(kid, createSecretKey(value.empty ? await madeSecret() : value.reveal(), "utf8"));
    }
    const [first] = keys;
    if (!first) throw new Error("auth.tokens.secrets is empty: name at least one");
    const [kid, key] = first;
    return { kid, key, keys };
  });
}

/** A key of 256 bits for one purpose: who has it learns nothing about the secret or the keys of other labels (RFC 5869). */
export function deriveKey(secret: KeyObject, label: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", label, 32)));
}
