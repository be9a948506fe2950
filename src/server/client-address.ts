import { BlockList, isIPv6 } from "node:net";
import { parseAddress, parseHop } from "./ip-address.ts";

const MAX_HOPS = 20;
const MAX_HEADER_CHARACTERS = 1024;

/** Whether a proxy's `X-Forwarded-For` is believed. */
export type TrustedProxies = (address: string) => boolean;
export const TRUST_NOBODY: TrustedProxies = () => false;

/** @throws Error naming the entry that is no address or CIDR. */
export function trustProxies(entries: readonly string[]): TrustedProxies {
  if (entries.length === 0) return TRUST_NOBODY;
  const list = new BlockList();
  for (const entry of entries) addEntry(list, entry);
  return (address) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

function addEntry(list: BlockList, entry: string): void {
  const [text = "", prefix] = entry.split("/");
  const address = parseAddress(text);
  if (address === null) throw new Error(`server.trusted_proxies: ${entry} is no address or CIDR`);
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  if (prefix === undefined) return list.addAddress(address, family);
  // A mapped /n counts from 128 bits: taken as it stands, ::ffff:10.0.0.0/104 would not be 10.0.0.0/8.
  const bits = isIPv6(text) && family === "ipv4" ? Number(prefix) - 96 : Number(prefix);
  const size = family === "ipv6" ? 128 : 32;
  if (!/^\d{1,3}$/.test(prefix) || bits < 0 || bits > size) {
    throw new Error(`server.trusted_proxies: ${entry} has no valid prefix length`);
  }
  list.addSubnet(address, bits, family);
}

/** Whether a connection comes from a trusted proxy. */
export function isFrom(socketAddress: string, trusted: TrustedProxies): boolean {
  return trusted(parseAddress(socketAddress) ?? socketAddress);
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
  if (forwardedFor === undefined || forwardedFor.length > MAX_HEADER_CHARACTERS) return address;
  const hops = forwardedFor.split(",");
  for (let hop = 0; hop < MAX_HOPS && hops.length > 0 && trusted(address); hop += 1) {
    const next = parseHop(hops.pop()!.trim());
    if (next === null) return address;
    address = next;
  }
  return address;
}
