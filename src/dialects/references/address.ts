import { isDataUrl, type ReferenceKind } from "../../kit/index.ts";

/*
 * Which addresses a client may name by itself: `data:` URLs, and `https:` and `http:` URLs of public hosts. The provider
 * fetches them, often from inside a network or with the identity of the account, so every notation of a private host counts.
 * No name is resolved.
 */

/** What parsers strip, skip or take for a slash. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const UNCLEAR = /[\u0000-\u001f\u007f-\u009f\\]/;
/** `https:host` and `https:///host` are `https://host` to browsers, and something else to others. */
const WEB = /^https?:\/\/(?![/?#])([^/?#]+)/i;
const UNFINISHED = /^(?:https?:|[a-z][a-z\d+.-]*:(?!\/\/))/i;
/** A user or password that could be read as the host. */
const LIKE_A_HOST = /[.%@[\]]/;
/** Files of Google's account, which Gemini reads as its own: https://ai.google.dev/api/files. */
const GEMINI = /(?:^|[.-])generativelanguage(?:\.[\w-]+)*\.googleapis\.com$/;

/** No server takes a longer one, and to look through megabytes takes time. */
const MAX_ADDRESS_CHARACTERS = 16_384;

/** Why an address needs permission; null: a client may name it. */
export function addressFault(address: string): ReferenceKind | null {
  if (isDataUrl(address)) return null;
  if (address.length > MAX_ADDRESS_CHARACTERS) return "unclear";
  const web = WEB.exec(address);
  if (UNCLEAR.test(address) || address !== address.trimStart()) return "unclear";
  if (web === null) return UNFINISHED.test(address) ? "unclear" : "scheme";
  const [, authority = ""] = web;
  const url = URL.parse(address);
  const at = authority.lastIndexOf("@");
  if (url === null || LIKE_A_HOST.test(authority.slice(0, Math.max(0, at)))) return "unclear";
  const host = url.hostname.replace(/\.+$/, "");
  if (isPrivateHost(host) || isPrivateDecimal(authority.slice(at + 1))) return "host";
  return GEMINI.test(host) ? "stored" : null;
}

/** Names that only a network of its own resolves. */
const PRIVATE_NAMES = /\.(?:localhost|local|localdomain|internal|svc)$/;
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/** @param host as a URL parser gives it: an address in its one form, a name in lower case. */
function isPrivateHost(host: string): boolean {
  if (host.startsWith("[")) return isPrivateIpv6(groupsOf(host.slice(1, -1)));
  if (IPV4.test(host)) return isPrivateIpv4(host.split(".").map(Number));
  return !host.includes(".") || PRIVATE_NAMES.test(host);
}

/** Numbers that begin with 0 are octal to a URL parser, and decimal to others: both may be meant. */
function isPrivateDecimal(written: string): boolean {
  const host = written.replace(/:\d*$/, "");
  const numbers = IPV4.test(host) ? host.split(".").map(Number) : [];
  return numbers.length > 0 && numbers.every((number) => number < 256) && isPrivateIpv4(numbers);
}

/** https://www.iana.org/assignments/iana-ipv4-special-registry, without the blocks for documentation. */
function isPrivateIpv4([a = 0, b = 0, c = 0, d = 0]: readonly number[]): boolean {
  switch (a) {
    case 0:
    case 10:
    case 127:
      return true;
    case 100:
      return b >= 64 && b < 128;
    case 168:
      // https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
      return b === 63 && c === 129 && d === 16;
    case 169:
      return b === 254;
    case 172:
      return b >= 16 && b < 32;
    case 192:
      return b === 168 || (b === 0 && c === 0);
    case 198:
      return b === 18 || b === 19;
    default:
      return a >= 224;
  }
}

/** The eight groups of an address in the form that a URL parser writes: hexadecimal, `::` for the longest run of zeros. */
function groupsOf(address: string): readonly number[] {
  const [before = [], after = []] = address.split("::").map(hexadecimals);
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}

function hexadecimals(groups: string): readonly number[] {
  return groups === "" ? [] : groups.split(":").map((group) => Number.parseInt(group, 16));
}

/** https://www.iana.org/assignments/iana-ipv6-special-registry, and what stands for an IPv4 address. */
function isPrivateIpv6(groups: readonly number[]): boolean {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  // Unique local, link-local, the former site-local, multicast.
  if ((a & 0xfe00) === 0xfc00 || (a & 0xffc0) === 0xfe80 || (a & 0xffc0) === 0xfec0 || a >= 0xff00) return true;
  // 6to4 (RFC 3056), and Teredo (RFC 4380) with its server and the inverted client.
  if (a === 0x2002) return isPrivatePair(b, c);
  if (a === 0x2001 && b === 0) return isPrivatePair(c, d) || isPrivatePair(g ^ 0xffff, h ^ 0xffff);
  // NAT64 for anybody (RFC 6052), and for one network alone (RFC 8215).
  if (a === 0x64 && b === 0xff9b) return (c | d | e | f) === 0 ? isPrivatePair(g, h) : c === 1;
  // Compatible, ::1 and :: among them; mapped; translated (RFC 2765).
  const isZero = (a | b | c | d) === 0;
  const isEmbedded = isZero && ((e === 0 && (f === 0 || f === 0xffff)) || (e === 0xffff && f === 0));
  return isEmbedded && isPrivatePair(g, h);
}

/** The IPv4 address in two groups. */
function isPrivatePair(high: number, low: number): boolean {
  return isPrivateIpv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
