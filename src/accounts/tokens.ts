import { createSecretKey, hkdfSync, type KeyObject, randomBytes, randomUUID } from "node:crypto";
import type { JWTHeaderParameters, JWTVerifyOptions } from "jose";
import { LRUCache } from "lru-cache";
import { type AuthSettings, type Awaitable, isStoreUnavailable, type User } from "../kit/index.ts";

const MAX_TOKEN_CHARACTERS = 8 * 1024;
/** HS256 needs a key as long as its digest. */
const MIN_SECRET_BYTES = 32;
/** So long a verified token is accepted without verifying its signature again. */
const CACHE_MS = 60_000;
const MAX_TOKENS_COUNT = 10_000;
/** Header parameters that would change how a token is read, or name a key of the sender's choice. */
const REFUSED_PARAMETERS = ["crit", "b64", "jku", "jwk", "x5u", "x5c"];

export interface AccessToken {
  readonly access_token: string;
  /** Seconds. */
  readonly expires_in: number;
}

export interface TokenClaims {
  readonly userId: string;
  /** Left out: never. */
  readonly sessions?: number;
}

export interface Tokens {
  issue(user: Pick<User, "id" | "tier" | "sessions">): Promise<AccessToken>;
  /** The user that a valid access token names, and how often the user's sessions had been ended; null for anything else. */
  verify(token: string): Awaitable<TokenClaims | null>;
  /** `kid`s of configured secrets that are too short for HS256. */
  readonly weakSecrets: readonly string[];
}

export interface TokenOptions extends KeyringOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * HS256 access tokens by the settings in force: the first secret signs, all verify.
 * @throws Error when the settings name no secret.
 */
export async function createTokens({ settings, now, remember }: TokenOptions): Promise<Tokens> {
  const keyring = createKeyring({ settings, remember });
  // The cache of verified tokens goes with its settings: a secret that is removed ends its tokens at once.
  const inForce = memoizeBySettings(settings, async (from) => tokensOf(from, await keyring(), now));
  try {
    await inForce();
  } catch (error) {
    // A secret kept in the store is read again when it is needed: the start does not wait for the store.
    if (!isStoreUnavailable(error)) throw error;
  }

  return {
    get weakSecrets() {
      const weak = settings().secrets.filter(
        ({ value }) => !value.empty && Buffer.byteLength(value.reveal()) < MIN_SECRET_BYTES,
      );
      return weak.map(({ kid }) => kid);
    },

    issue: async (user) => (await inForce()).issue(user),

    verify(token) {
      if (token.length > MAX_TOKEN_CHARACTERS) return null;
      const current = inForce();
      return current instanceof Promise ? current.then(({ verify }) => verify(token)) : current.verify(token);
    },
  };
}

/** The tokens of one set of settings. */
function tokensOf(
  { issuer, audience, accessTtl }: AuthSettings["tokens"],
  { kid, key, keys }: Keyring,
  now: () => number,
): Pick<Tokens, "issue" | "verify"> {
  /** Keyed by the whole token: two tokens may share any part. */
  const verified = new LRUCache<string, TokenClaims & { readonly exp: number }>({
    // With `max` the cache would take room for all of them at once.
    maxSize: MAX_TOKENS_COUNT,
    sizeCalculation: () => 1,
    ttl: CACHE_MS,
    ttlResolution: 0,
  });
  const alive = (exp: number) => Math.floor(now() / 1000) < exp;

  async function check(token: string): Promise<TokenClaims | null> {
    const claims = await claimsOf(token, keys, {
      algorithms: ["HS256"],
      issuer,
      audience,
      currentDate: new Date(now()),
    });
    // jose takes tokens without `exp` or `sub`, and checks the type of `exp` alone.
    if (typeof claims?.sub !== "string" || claims.sub === "" || claims.exp === undefined) return null;
    // Tokens of a user whose sessions were never ended, and of a former version, have no number.
    const { sessions = 0 } = claims;
    if (typeof sessions !== "number") return null;
    const known = { userId: claims.sub, sessions, exp: claims.exp };
    verified.set(token, known);
    return known;
  }

  return {
    async issue(user) {
      const issuedAt = Math.floor(now() / 1000);
      const expires_in = Math.max(1, Math.floor(accessTtl / 1000));
      const { SignJWT } = await import("jose/jwt/sign");
      const access_token = await new SignJWT({
        plan: user.tier,
        ...(user.sessions !== undefined && { sessions: user.sessions }),
      })
        .setProtectedHeader({ alg: "HS256", typ: "JWT", kid })
        .setSubject(user.id)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + expires_in)
        .setJti(randomUUID())
        .sign(key);
      return { access_token, expires_in };
    },

    verify(token) {
      const known = verified.get(token);
      if (known) return alive(known.exp) ? known : null;
      return check(token);
    },
  };
}

/** @returns null for a token that jose refuses; throws any other error. */
async function claimsOf(token: string, keys: ReadonlyMap<string, KeyObject>, options: JWTVerifyOptions) {
  // Few clients come with tokens, and each is verified once a minute.
  const [{ jwtVerify }, { JOSEError, JWSInvalid }] = await Promise.all([
    import("jose/jwt/verify"),
    import("jose/errors"),
  ]);
  const keyOf = (header: JWTHeaderParameters): KeyObject => {
    const key = typeof header.kid === "string" ? keys.get(header.kid) : undefined;
    if (key && !REFUSED_PARAMETERS.some((name) => Object.hasOwn(header, name))) return key;
    throw new JWSInvalid("unknown kid, or a header parameter that is not accepted");
  };
  try {
    return (await jwtVerify(token, keyOf, options)).payload;
  } catch (error) {
    if (error instanceof JOSEError) return null;
    throw error;
  }
}

const GENERATED_SECRET_NAME = "jwt-secret";

/** The secrets of `auth.tokens` as keys. */
export interface Keyring {
  /** The first secret and its `kid`: it signs and encrypts. */
  readonly kid: string;
  readonly key: KeyObject;
  /** All secrets by `kid`: each of them verifies. */
  readonly keys: ReadonlyMap<string, KeyObject>;
}

interface KeyringOptions {
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

/**
 * Memoizes `make` by the settings in force; it runs again after a reload has replaced them. Concurrent callers share
 * one run; a failure is not cached.
 */
function memoizeBySettings<Settings, Made>(
  settings: () => Settings,
  make: (settings: Settings) => Promise<Made>,
): () => Awaitable<Made> {
  let made: { readonly from: Settings; readonly value: Made } | null = null;
  let making: { readonly from: Settings; readonly value: Promise<Made> } | null = null;

  async function remake(from: Settings): Promise<Made> {
    try {
      const value = await make(from);
      made = { from, value };
      return value;
    } finally {
      if (making?.from === from) making = null;
    }
  }

  return () => {
    const from = settings();
    if (made?.from === from) return made.value;
    if (making?.from !== from) making = { from, value: remake(from) };
    return making.value;
  };
}
