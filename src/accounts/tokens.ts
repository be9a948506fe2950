import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { SignJWT, errors, jwtVerify } from "jose";
import type { JWTHeaderParameters } from "jose";
import { LRUCache } from "lru-cache";
import type { AuthSettings, Awaitable } from "../kit/index.ts";

const MAXIMUM_LENGTH = 8 * 1024;
const MADE_SECRET = "jwt-secret";
/** Longest time for which a verified token is believed without verifying it again. */
const CACHE_MS = 60_000;
/** Header parameters that would change how a token is read, or name a key of the sender's choice. */
const REFUSED_PARAMETERS = ["crit", "b64", "jku", "jwk", "x5u", "x5c"];

export interface AccessToken {
  readonly access_token: string;
  /** Seconds. */
  readonly expires_in: number;
}

export interface Tokens {
  issue(user: { readonly id: string; readonly tier: string }): Promise<AccessToken>;
  /** The user a valid access token names; null for anything else. */
  verify(token: string): Awaitable<{ readonly userId: string } | null>;
  /** `kid`s of configured secrets below the 32 bytes that HS256 asks for. */
  readonly weakSecrets: readonly string[];
}

export interface TokenOptions {
  readonly settings: AuthSettings["tokens"];
  /** Unix milliseconds. */
  readonly now: () => number;
  /** `Store.remember`: keeps the secret that is made when the configuration names none. */
  readonly remember: (name: string, value: string) => Awaitable<string>;
}

/** HS256 access tokens (decisions 2.6): the first secret signs, all verify. */
export async function createTokens({ settings, now, remember }: TokenOptions): Promise<Tokens> {
  const { issuer, audience, accessTtl, secrets } = settings;
  const keys = new Map<string, KeyObject>();
  const weakSecrets: string[] = [];
  for (const { kid, value } of secrets) {
    const secret = value.empty ? await remember(MADE_SECRET, randomBytes(32).toString("base64url")) : value.reveal();
    if (Buffer.byteLength(secret) < 32) weakSecrets.push(kid);
    keys.set(kid, createSecretKey(secret, "utf8"));
  }
  const [signing] = keys;
  if (!signing) throw new Error("auth.tokens.secrets is empty: name at least one");
  const [kid, signingKey] = signing;

  /** Whole tokens only: two tokens may share any part of themselves. */
  const verified = new LRUCache<string, { readonly userId: string; readonly exp: number }>({
    max: 10_000,
    ttl: CACHE_MS,
    ttlResolution: 0,
  });
  const alive = (exp: number) => Math.floor(now() / 1000) < exp;

  async function check(token: string): Promise<{ readonly userId: string } | null> {
    const claims = await claimsOf(token, (header) => keyOf(header, keys), {
      algorithms: ["HS256"],
      issuer,
      audience,
      currentDate: new Date(now()),
    });
    // jose takes tokens without `exp` or `sub`, and checks the type of `exp` alone.
    if (typeof claims?.sub !== "string" || claims.sub === "" || claims.exp === undefined) return null;
    const known = { userId: claims.sub, exp: claims.exp };
    verified.set(token, known);
    return known;
  }

  return {
    weakSecrets,

    async issue(user) {
      const issuedAt = Math.floor(now() / 1000);
      const expires_in = Math.max(1, Math.floor(accessTtl / 1000));
      const access_token = await new SignJWT({ plan: user.tier })
        .setProtectedHeader({ alg: "HS256", typ: "JWT", kid })
        .setSubject(user.id)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + expires_in)
        .setJti(randomUUID())
        .sign(signingKey);
      return { access_token, expires_in };
    },

    verify(token) {
      if (token.length > MAXIMUM_LENGTH) return null;
      const known = verified.get(token);
      if (known) return alive(known.exp) ? known : null;
      return check(token);
    },
  };
}

/** @returns null for a token that jose refuses; other errors are faults and are thrown. */
async function claimsOf(
  token: string,
  key: (header: JWTHeaderParameters) => KeyObject,
  options: Parameters<typeof jwtVerify>[2],
) {
  try {
    return (await jwtVerify(token, key, options)).payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

function keyOf(header: JWTHeaderParameters, keys: ReadonlyMap<string, KeyObject>): KeyObject {
  const key = typeof header.kid === "string" ? keys.get(header.kid) : undefined;
  if (!key || REFUSED_PARAMETERS.some((name) => Object.hasOwn(header, name))) {
    throw new errors.JWSInvalid("unknown kid, or a header parameter that is not accepted");
  }
  return key;
}
