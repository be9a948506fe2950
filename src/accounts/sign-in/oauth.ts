import type { KeyObject } from "node:crypto";
import type { CompactJWEHeaderParameters } from "jose";
import type { ClientAuth, Configuration, CustomFetch } from "openid-client";
import {
  type AuthSettings,
  type Awaitable,
  GatewayError,
  isLoopback,
  type Log,
  type OAuthProvider,
  type ProxyRules,
} from "../../kit/index.ts";
import { proxiedFetch } from "../../network/agents.ts";
import { deriveKey, type Keyring } from "../tokens.ts";
import { type Identity, parseEmail } from "../users.ts";

const STATE_TTL_SECONDS = 10 * 60;

interface OAuthOptions {
  readonly settings: () => AuthSettings["oauth"];
  readonly keyring: () => Awaitable<Keyring>;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
  /** The proxies of the environment. */
  readonly proxies: ProxyRules;
}

export interface Beginning {
  /** Where the browser is sent: the provider's own address. */
  readonly location: string;
  /** For a cookie of the browser; only this gateway can read it. */
  readonly state: string;
  /** Seconds for which `state` is good. */
  readonly maxAge: number;
}

export interface BeginRequest {
  readonly provider: string;
  /** As it came; anything but a path on this host counts as `/`. */
  readonly redirectTo: unknown;
  /** The gateway's own, as the browser sees it: `https://host`. */
  readonly origin: string;
}

export interface CompleteRequest {
  readonly provider: string;
  /** Of the callback, or its path with the query. */
  readonly url: string;
  /** From the cookie. */
  readonly state: unknown;
}

interface OAuth {
  /** @throws GatewayError UNKNOWN_PATH for a provider that is not configured, PROVIDER_ERROR for one that is away. */
  begin(request: BeginRequest): Promise<Beginning>;
  /** @throws GatewayError UNKNOWN_PATH, SIGN_IN_FAILED */
  complete(request: CompleteRequest): Promise<{ readonly identity: Identity; readonly redirectTo: string }>;
}

/** OpenID Connect: the code flow with PKCE, `state` and `nonce`. */
export function createOAuth({ settings, keyring, now, log, proxies }: OAuthOptions): OAuth {
  const discover = createDiscovery(now, proxiedFetch(proxies));
  const seal = createStateSeal({ keyring, now, lifeSeconds: STATE_TTL_SECONDS });

  function providerOf(name: string): OAuthProvider {
    const providers = settings();
    const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
    if (!provider) throw new GatewayError("UNKNOWN_PATH", "Not found");
    return provider;
  }

  /** The URL of the provider's sign-in page. Any error is the provider's. */
  async function locate(
    provider: OAuthProvider,
    { redirectUri, state, nonce, verifier }: SignInState,
  ): Promise<string> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await openidClient();
    const url = buildAuthorizationUrl(await discover(provider), {
      redirect_uri: redirectUri,
      scope: [...new Set(["openid", ...provider.scopes])].join(" "),
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    return url.href;
  }

  /** The identity that the provider vouches for. Any error is a failed sign-in. */
  async function identify(provider: OAuthProvider, url: string, sealed: SignInState): Promise<Identity> {
    const { authorizationCodeGrant, fetchUserInfo } = await openidClient();
    const configuration = await discover(provider);
    const callback = new URL(sealed.redirectUri);
    callback.search = new URL(url, callback).search;
    const answer = await authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: sealed.verifier,
      expectedState: sealed.state,
      expectedNonce: sealed.nonce,
      idTokenExpected: true,
    });
    const claims = answer.claims();
    if (!claims) throw new Error("no ID token");
    const { iss: issuer, sub: subject } = claims;
    // Some providers give the address, or whether it is verified, at the UserInfo endpoint only.
    const complete = claims.email !== undefined && claims.email_verified !== undefined;
    const ask = !complete && configuration.serverMetadata().userinfo_endpoint !== undefined;
    const { email, email_verified } = ask ? await fetchUserInfo(configuration, answer.access_token, subject) : claims;
    return { issuer, subject, email: email_verified === true ? parseEmail(email) : null };
  }

  return {
    async begin({ provider: name, redirectTo, origin }) {
      const provider = providerOf(name);
      const { randomState, randomNonce, randomPKCECodeVerifier } = await openidClient();
      const sealed: SignInState = {
        provider: name,
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
        redirectUri: `${origin}/auth/oauth/${name}/callback`,
        redirectTo: safeRedirect(redirectTo),
      };
      const location = await locate(provider, sealed).catch((error: unknown) => {
        log.error({ provider: name, reason: reasonOf(error) }, "identity provider is not usable");
        throw new GatewayError("PROVIDER_ERROR", "Identity provider unavailable", { retryAfter: 1 });
      });
      return { location, state: await seal.close(sealed), maxAge: STATE_TTL_SECONDS };
    },

    async complete({ provider: name, url, state }) {
      const provider = providerOf(name);
      const sealed = typeof state === "string" ? await seal.open(state) : null;
      if (sealed?.provider !== name) throw signInFailed();
      const identity = await identify(provider, url, sealed).catch((error: unknown) => {
        log.warn({ provider: name, reason: reasonOf(error) }, "sign-in through an identity provider failed");
        throw signInFailed();
      });
      return { identity, redirectTo: sealed.redirectTo };
    },
  };
}

export function signInFailed(): GatewayError {
  return new GatewayError("SIGN_IN_FAILED", "Sign-in failed");
}

/** Loaded by the first sign-in through a provider: most gateways have none when they listen. */
const openidClient = () => import("openid-client");

const DISCOVERY_TTL_MS = 60 * 60_000;
const DISCOVERY_TIMEOUT_SECONDS = 5;

/**
 * What identity providers publish about themselves, asked for at most once an hour; a failure is asked again at once.
 * @param now Unix milliseconds
 */
function createDiscovery(now: () => number, fetch: CustomFetch): (provider: OAuthProvider) => Promise<Configuration> {
  // Keyed by the provider object of the snapshot: a reload makes a new object, and a new look-up.
  const known = new WeakMap<OAuthProvider, { readonly until: number; readonly found: Promise<Configuration> }>();
  return (provider) => {
    const entry = known.get(provider);
    if (entry && now() < entry.until) return entry.found;
    const found = discover(provider, fetch).catch((error: unknown) => {
      known.delete(provider);
      throw error;
    });
    known.set(provider, { until: now() + DISCOVERY_TTL_MS, found });
    return found;
  };
}

async function discover({ issuer, clientId, clientSecret }: OAuthProvider, fetch: CustomFetch): Promise<Configuration> {
  const url = new URL(issuer);
  const insecure = url.protocol === "http:" && isLoopback(url.hostname);
  const { allowInsecureRequests, customFetch, discovery, enableNonRepudiationChecks } = await openidClient();
  return discovery(url, clientId, undefined, await authentication(clientSecret.reveal()), {
    timeout: DISCOVERY_TIMEOUT_SECONDS,
    [customFetch]: fetch,
    // Also verifies signatures: openid-client relies on TLS alone, which a loopback issuer does not have.
    execute: [enableNonRepudiationChecks, ...(insecure ? [allowInsecureRequests] : [])],
  });
}

/**
 * Sends the secret in the form where the provider supports it, because providers differ in how they decode the header;
 * the header, which all must support, otherwise.
 */
async function authentication(secret: string): Promise<ClientAuth> {
  const { ClientSecretBasic, ClientSecretPost, None } = await openidClient();
  if (secret === "") return None();
  const header = ClientSecretBasic(secret);
  const form = ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const inForm = server.token_endpoint_auth_methods_supported?.includes("client_secret_post") ?? false;
    return (inForm ? form : header)(server, client, body, headers);
  };
}

/** The form of OAuth's error codes; no other text of a provider or a browser is logged. */
const ERROR_CODE = /^[A-Za-z0-9_]{1,64}$/;
const MAX_CAUSE_DEPTH = 4;

/** The error code of a failed conversation with a provider, for the log: no text, token or address from outside. */
function reasonOf(error: unknown): string {
  let reason = "unknown";
  for (let depth = 0, at = error; depth < MAX_CAUSE_DEPTH && at instanceof Error; depth += 1, at = at.cause) {
    const { error: named, code } = at as { readonly error?: unknown; readonly code?: unknown };
    const word = [named, code].find((value) => typeof value === "string" && ERROR_CODE.test(value));
    // The innermost cause says most: ECONNREFUSED below "fetch failed".
    if (typeof word === "string") reason = word;
  }
  return reason;
}

const STATE_KEY_LABEL = "sign-in state";

/** Kept in a cookie while the browser is at the identity provider. */
interface SignInState {
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

function createStateSeal({ keyring, now, lifeSeconds }: StateSealOptions): StateSeal {
  return {
    async close(state) {
      const { kid, key } = await keyring();
      const { EncryptJWT } = await import("jose/jwt/encrypt");
      return new EncryptJWT({ ...state })
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid })
        .setExpirationTime(Math.floor(now() / 1000) + lifeSeconds)
        .encrypt(deriveKey(key, STATE_KEY_LABEL));
    },

    async open(sealed) {
      const { keys } = await keyring();
      const [{ jwtDecrypt }, { JOSEError, JWEInvalid }] = await Promise.all([
        import("jose/jwt/decrypt"),
        import("jose/errors"),
      ]);
      const keyOf = ({ kid }: CompactJWEHeaderParameters): KeyObject => {
        const key = typeof kid === "string" ? keys.get(kid) : undefined;
        if (!key) throw new JWEInvalid("unknown kid");
        return deriveKey(key, STATE_KEY_LABEL);
      };
      const options = {
        keyManagementAlgorithms: ["dir"],
        contentEncryptionAlgorithms: ["A256GCM"],
        requiredClaims: ["exp"],
        currentDate: new Date(now()),
      };
      try {
        const { payload } = await jwtDecrypt<SignInState>(sealed, keyOf, options);
        return payload;
      } catch (error) {
        if (error instanceof JOSEError) return null;
        throw error;
      }
    },
  };
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
