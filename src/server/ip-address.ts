import { isIPv4, isIPv6 } from "node:net";

/** The eight groups of an IPv6 address without a zone. */
function groupsOf(address: string): number[] {
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

/** IPv4, or IPv6 in brackets, with the port that some proxies (Azure Application Gateway, IIS) write behind it. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\])(?::\d{1,5})?$/;

/** As `parseAddress`, also with a port or in brackets: one entry of `X-Forwarded-For`. */
export function parseHop(text: string): string | null {
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
