import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { GatewayError } from "../../kit/index.ts";
import type { AuthSettings, Awaitable, Log, OAuthProvider } from "../../kit/index.ts";
import type { Keyring } from "../keyring.ts";
import { parseEmail } from "../users.ts";
import { createDiscovery } from "./providers.ts";
import { reasonOf } from "./reason.ts";
import { safeRedirect } from "./redirect.ts";
import type { Identity } from "./sign-up.ts";
import { createStateSeal } from "./state.ts";
import type { SignInState } from "./state.ts";

const STATE_SECONDS = 10 * 60;

export interface OAuthOptions {
  readonly settings: () => AuthSettings["oauth"];
  readonly keyring: () => Awaitable<Keyring>;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
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
  /** Ours as the browser sees it, `https://host`. */
  readonly origin: string;
}

export interface CompleteRequest {
  readonly provider: string;
  /** Of the callback, or its path with the query. */
  readonly url: string;
  /** From the cookie. */
  readonly state: unknown;
}

export interface OAuth {
  /** @throws GatewayError UNKNOWN_PATH for a provider that is not configured, PROVIDER_ERROR for one that is away. */
  begin(request: BeginRequest): Promise<Beginning>;
  /** @throws GatewayError UNKNOWN_PATH, SIGN_IN_FAILED */
  complete(request: CompleteRequest): Promise<{ readonly identity: Identity; readonly redirectTo: string }>;
}

/** OpenID Connect: the code flow with PKCE, `state` and `nonce`. */
export function createOAuth({ settings, keyring, now, log }: OAuthOptions): OAuth {
  const discover = createDiscovery(now);
  const seal = createStateSeal({ keyring, now, life: STATE_SECONDS });

  function providerOf(name: string): OAuthProvider {
    const providers = settings();
    const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
    if (!provider) throw new GatewayError("UNKNOWN_PATH", "Not found");
    return provider;
  }

  /** The provider's own page that signs people in. Any error is the provider's. */
  async function locate(
    provider: OAuthProvider,
    { redirectUri, state, nonce, verifier }: SignInState,
  ): Promise<string> {
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

  /** What the provider says of who came back. Any error is a failed sign-in. */
  async function identify(provider: OAuthProvider, url: string, sealed: SignInState): Promise<Identity> {
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
    // Some providers keep the address, or their word about it, for the UserInfo endpoint.
    const told = claims.email !== undefined && claims.email_verified !== undefined;
    const ask = !told && configuration.serverMetadata().userinfo_endpoint !== undefined;
    const { email, email_verified } = ask ? await fetchUserInfo(configuration, answer.access_token, subject) : claims;
    return { issuer, subject, email: email_verified === true ? parseEmail(email) : null };
  }

  return {
    async begin({ provider: name, redirectTo, origin }) {
      const provider = providerOf(name);
      const sealed: SignInState = {
        provider: name,
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
        redirectUri: `${origin}/auth/oauth/${name}/callback`,
        redirectTo: safeRedirect(redirectTo),
      };
      const location = await locate(provider, sealed).catch((error: unknown) => {
        log.error({ provider: name, reason: reasonOf(error) }, "an identity provider is not usable");
        throw new GatewayError("PROVIDER_ERROR", "Identity provider unavailable");
      });
      return { location, state: await seal.close(sealed), maxAge: STATE_SECONDS };
    },

    async complete({ provider: name, url, state }) {
      const provider = providerOf(name);
      const sealed = typeof state === "string" ? await seal.open(state) : null;
      if (sealed?.provider !== name) throw signInFailed();
      const identity = await identify(provider, url, sealed).catch((error: unknown) => {
        log.warn({ provider: name, reason: reasonOf(error) }, "a sign-in through an identity provider failed");
        throw signInFailed();
      });
      return { identity, redirectTo: sealed.redirectTo };
    },
  };
}

export function signInFailed(): GatewayError {
  return new GatewayError("SIGN_IN_FAILED", "Sign-in failed");
}
