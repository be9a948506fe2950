import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import {
  groupsOf,
  listNetworks,
  type Log,
  type Network,
  parseAddress,
  parseNetwork,
  PRIVATE_RANGES,
} from "../kit/index.ts";

const MAX_HOPS = 20;
const MAX_HEADER_CHARACTERS = 1024;

/** Whether a proxy's `X-Forwarded-For` is believed. */
export type TrustedProxies = (address: string) => boolean;
export const TRUST_NOBODY: TrustedProxies = () => false;

/** @throws Error naming the entry that is no address or CIDR. */
export function trustProxies(entries: readonly string[]): TrustedProxies {
  if (entries.length === 0) return TRUST_NOBODY;
  return listNetworks(entries.map(networkOf));
}

function networkOf(entry: string): Network {
  const network = parseNetwork(entry);
  if (typeof network === "string") throw new Error(`server.trusted_proxies: ${entry} is ${network}`);
  return network;
}

/** The address at the other end of a connection, read once for all of its requests. */
export function rememberPeers(): (socket: Socket) => string {
  const peers = new WeakMap<Socket, string>();
  return (socket) => {
    let peer = peers.get(socket);
    if (peer === undefined) {
      const { remoteAddress = "" } = socket;
      peer = parseAddress(remoteAddress) ?? remoteAddress;
      peers.set(socket, peer);
    }
    return peer;
  };
}

/** Compiles a configuration's list once; a list that should not have passed the linker trusts nobody, loudly. */
export function rememberProxies(log: Log): (entries: readonly string[]) => TrustedProxies {
  let compiledFrom: readonly string[] | null = null;
  let compiled = TRUST_NOBODY;
  return (entries) => {
    if (entries === compiledFrom) return compiled;
    compiledFrom = entries;
    try {
      compiled = trustProxies(entries);
    } catch (error) {
      log.error({ err: error }, "proxy check failed; no proxy is trusted");
      compiled = TRUST_NOBODY;
    }
    return compiled;
  };
}

/**
 * The nearest hop that is no trusted proxy: the header is walked from the right and never believed beyond the first
 * address that nobody trusted has written (the left-most one is the client's own invention).
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string {
  let address = parseAddress(socketAddress) ?? socketAddress;
  if (forwardedFor === undefined) return address;
  const hops = endOf(forwardedFor).split(",");
  for (let hop = 0; hop < MAX_HOPS && hops.length > 0 && trusted(address); hop += 1) {
    const next = parseHop(hops.pop()!.trim());
    if (next === null) return address;
    address = next;
  }
  return address;
}

/** The end of a long list: what is before it the walk would hardly reach. The entry that the cut goes through goes with it. */
function endOf(forwardedFor: string): string {
  if (forwardedFor.length <= MAX_HEADER_CHARACTERS) return forwardedFor;
  const end = forwardedFor.slice(-MAX_HEADER_CHARACTERS - 1);
  const comma = end.indexOf(",");
  return comma < 0 ? "" : end.slice(comma + 1);
}

/** IPv4, or IPv6 in brackets, with the port that some proxies (Azure Application Gateway, IIS) write behind it. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\])(?::\d{1,5})?$/;

/** As `parseAddress`, also with a port or in brackets: one entry of `X-Forwarded-For`. */
function parseHop(text: string): string | null {
  const [, v4, v6] = WITH_PORT.exec(text) ?? [];
  return parseAddress(v4 ?? v6 ?? text);
}

/** What is limited as one client: an IPv4 address, or the /64 that one IPv6 subscriber has to itself. */
export function limitKey(address: string): string {
  if (!address.includes(":") || parseAddress(address) === null) return address;
  return groupsOf(address)
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":");
}

/** Milliseconds between two warnings of one process. */
const WARN_EVERY_MS = 600_000;
/** Networks in which proxies stand: an address in one of them is no person's. */
const PRIVATE_NETWORKS = [...PRIVATE_RANGES, "127.0.0.0/8", "::1"];

/**
 * Says from time to time that a peer whose `X-Forwarded-For` is not believed sends one: behind a load balancer that nobody
 * trusts, all clients share one address and its limit. Public addresses are not named: they may be a client's own.
 */
export function warnOfUntrusted(log: Pick<Log, "warn">): (peer: string, now: number) => void {
  const isPrivateAddress = trustProxies(PRIVATE_NETWORKS);
  let warnedAt = -Infinity;
  return (peer, now) => {
    if (now - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now;
    const isPrivate = parseAddress(peer) !== null && isPrivateAddress(peer);
    const remedy = isPrivate ? `server.trusted_proxies: [${peer}]` : "server.trusted_proxies";
    log.warn(
      isPrivate ? { peer } : {},
      `X-Forwarded-For of an untrusted peer is ignored: if it is your load balancer, all its clients share one IP limit until you name it in ${remedy}`,
    );
  };
}

interface Client {
  readonly ip: string;
  /** Whether a trusted proxy has sent the request. */
  readonly proxied: boolean;
}

/** Whose request it is, by its connection and its `X-Forwarded-For`. */
export function rememberClients(
  log: Pick<Log, "warn">,
): (req: Pick<IncomingMessage, "socket" | "headers">, trusted: TrustedProxies, now: number) => Client {
  const peerOf = rememberPeers();
  const warn = warnOfUntrusted(log);
  return ({ socket, headers }, trusted, now) => {
    const peer = peerOf(socket);
    const forwardedFor = headers["x-forwarded-for"]?.toString();
    const proxied = trusted(peer);
    if (forwardedFor === undefined) return { ip: peer, proxied };
    if (!proxied) warn(peer, now);
    return { ip: clientAddress(peer, forwardedFor, trusted), proxied };
  };
}
