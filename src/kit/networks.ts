import { BlockList, isIPv4, isIPv6 } from "node:net";

/** An address literal with IPv4-mapped IPv6 unmapped; null for anything else, ports and zones included. */
export function parseAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  if (!isIPv6(text) || text.includes("%")) return null;
  const groups = groupsOf(text);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!mapped) return text.toLowerCase();
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The eight groups of an IPv6 address without a zone. */
export function groupsOf(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const left = readGroups(head);
  if (tail === undefined) return left;
  const right = readGroups(tail);
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

function readGroups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** The ranges of addresses that are no person's own on the internet, loopback left out. */
export const PRIVATE_RANGES = Object.freeze([
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "fc00::/7",
  // The half of it that is in use.
  "fd00::/8",
  "fe80::/10",
] as const);

/** An address is the network of itself alone. */
export interface Network {
  readonly address: string;
  readonly family: "ipv4" | "ipv6";
  /** Leading bits that are the network's. */
  readonly bits: number;
}

/** @returns the network of a CIDR or address, or what is wrong with it. */
export function parseNetwork(text: string): Network | "no address or CIDR" | "no valid prefix length" {
  const [written = "", prefix, ...more] = text.split("/");
  const address = parseAddress(written);
  if (address === null || more.length > 0) return "no address or CIDR";
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  const size = family === "ipv6" ? 128 : 32;
  if (prefix === undefined) return { address, family, bits: size };
  // A mapped /n counts from 128 bits: taken as it stands, ::ffff:10.0.0.0/104 would not be 10.0.0.0/8.
  const bits = isIPv6(written) && family === "ipv4" ? Number(prefix) - 96 : Number(prefix);
  return /^\d{1,3}$/.test(prefix) && bits >= 0 && bits <= size ? { address, family, bits } : "no valid prefix length";
}

/** Networks as one list to look addresses up in. */
export function listNetworks(networks: readonly Network[]): (address: string) => boolean {
  const list = new BlockList();
  for (const { address, family, bits } of networks) list.addSubnet(address, bits, family);
  return (address) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

/**
 * Whether an address is in one of these networks. An IPv4 address is in none of IPv6, not even in `::/0`. False for what is
 * no address; entries that cannot be read hold nobody.
 */
export function isInNetworks(ip: string, entries: readonly string[]): boolean {
  const address = parseAddress(ip);
  if (address === null) return false;
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  const networks = entries.map(parseNetwork).filter((entry) => typeof entry !== "string");
  return listNetworks(networks.filter((network) => network.family === family))(address);
}

const LOOPBACK_IPV4 = /^127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;

/** Whether a host name or address is this machine only. @param host an IPv6 address with or without brackets */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || LOOPBACK_IPV4.test(host);
}
