import {
  ClientSecretBasic,
  ClientSecretPost,
  None,
  allowInsecureRequests,
  discovery,
  enableNonRepudiationChecks,
} from "openid-client";
import type { ClientAuth, Configuration } from "openid-client";
import type { OAuthProvider } from "../../kit/index.ts";
import { isLoopback } from "./loopback.ts";

const TTL_MS = 60 * 60_000;
const TIMEOUT_SECONDS = 5;

/**
 * What identity providers publish about themselves, asked for at most once an hour; a failure is asked again at once.
 * @param now Unix milliseconds
 */
export function createDiscovery(now: () => number): (provider: OAuthProvider) => Promise<Configuration> {
  // By the provider as linked: a reload makes another one, and another look-up.
  const known = new WeakMap<OAuthProvider, { readonly until: number; readonly found: Promise<Configuration> }>();
  return (provider) => {
    const entry = known.get(provider);
    if (entry && now() < entry.until) return entry.found;
    const found = discover(provider).catch((error: unknown) => {
      known.delete(provider);
      throw error;
    });
    known.set(provider, { until: now() + TTL_MS, found });
    return found;
  };
}

async function discover({ issuer, clientId, clientSecret }: OAuthProvider): Promise<Configuration> {
  const url = new URL(issuer);
  const insecure = url.protocol === "http:" && isLoopback(url.hostname);
  return discovery(url, clientId, undefined, authentication(clientSecret.reveal()), {
    timeout: TIMEOUT_SECONDS,
    // Signatures are verified too: openid-client trusts TLS alone, which a loopback issuer has not got.
    execute: [enableNonRepudiationChecks, ...(insecure ? [allowInsecureRequests] : [])],
  });
}

/**
 * The secret goes into the form where the provider takes it there: providers differ in how they decode the header, which
 * is what all others must understand.
 */
function authentication(secret: string): ClientAuth {
  if (secret === "") return None();
  const header = ClientSecretBasic(secret);
  const form = ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const inForm = server.token_endpoint_auth_methods_supported?.includes("client_secret_post") ?? false;
    return (inForm ? form : header)(server, client, body, headers);
  };
}
