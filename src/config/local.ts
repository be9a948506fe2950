import type { UpstreamConfig } from "#schema";
import { isInNetworks, isLoopback, LOCAL_VENDORS, parseAddress, PRIVATE_RANGES } from "../kit/index.ts";
import type { Incomplete } from "./validate.ts";

/** Ollama's own service, which asks for a key: https://docs.ollama.com/cloud */
const OLLAMA_CLOUD = /(?:^|\.)ollama\.com$/;

/**
 * Whether an upstream is the operator's own server: it needs no key, and its models cost nothing unless a price is written.
 * Such a server is on loopback, or its vendor is one of `LOCAL_VENDORS`.
 */
export function isLocal(upstream: Pick<Incomplete<UpstreamConfig>, "base_url" | "vendor"> | undefined): boolean {
  const { base_url: url = "", vendor } = upstream ?? {};
  const host = hostOf(url);
  if (vendor !== undefined && LOCAL_VENDORS.has(vendor)) return !OLLAMA_CLOUD.test(host);
  return isThisMachine(host);
}

/** The host of an http(s) URL; empty for everything else. */
function hostOf(url: string): string {
  return /^https?:/i.test(url) && URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") : "";
}

/** As `isLoopback`, with the names that RFC 6761 keeps for loopback and IPv4 addresses written as IPv6. */
function isThisMachine(host: string): boolean {
  return isLoopback(parseAddress(unbracketed(host)) ?? host) || host.endsWith(".localhost");
}

/** Names that only a private network resolves: single words, and these endings (RFC 6762, RFC 9476, Kubernetes). */
const PRIVATE_NAME = /^[^.]+$|\.(?:local|localdomain|localhost|internal|svc|cluster\.local)$/i;

/** Whether only a private network reaches the host. @param host of a URL: an IPv6 address is in brackets. */
export function isPrivateHost(host: string): boolean {
  const address = unbracketed(host);
  return (
    isLoopback(host) || isInNetworks(address, PRIVATE_RANGES) || (!address.includes(":") && PRIVATE_NAME.test(host))
  );
}

function unbracketed(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
