import { BlockList } from "node:net";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressFault } from "../../../src/dialects/references/address.ts";
import { NOT_PUBLIC, PUBLIC } from "./cases.ts";

/** The networks of decision 10.7a, told by Node's own code. */
const PRIVATE = new BlockList();
for (const [net, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  // Beyond the decision: nobody serves content there.
  ["192.0.0.0", 24],
  ["198.18.0.0", 15],
  ["168.63.129.16", 32],
  ["224.0.0.0", 3],
] as const) {
  PRIVATE.addSubnet(net, bits);
}

type Bytes = readonly [number, number, number, number];
const dotted = (bytes: Bytes): string => bytes.join(".");
const isPrivate = (bytes: Bytes): boolean => PRIVATE.check(dotted(bytes));
const number = ([a, b, c, d]: Bytes): number => a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
const group = (high: number, low: number): string => ((high << 8) | low).toString(16);
const pair = ([a, b, c, d]: Bytes): string => `${group(a, b)}:${group(c, d)}`;

const byte = fc.nat(255);
const PREFIXES: readonly (readonly number[])[] = [
  [0],
  [10],
  [100, 64],
  [127, 0, 0],
  [169, 254, 169],
  [172, 16],
  [192, 168],
  [203, 0, 113],
  [8, 8],
];
/** Addresses of which most are near the edge of a network. */
const address: fc.Arbitrary<Bytes> = fc
  .tuple(fc.constantFrom(...PREFIXES, []), fc.tuple(byte, byte, byte, byte))
  .map(([prefix, rest]) => [...prefix, ...rest].slice(0, 4) as unknown as Bytes);

/** Every way to write an IPv4 address that a URL parser takes for it. */
const NOTATIONS: Readonly<Record<string, (bytes: Bytes) => string>> = {
  dotted,
  decimal: (bytes) => String(number(bytes)),
  hex: (bytes) => `0x${number(bytes).toString(16)}`,
  "hex in capitals": (bytes) => `0X${number(bytes).toString(16).toUpperCase()}`,
  octal: (bytes) => `0${number(bytes).toString(8)}`,
  "dotted hex": (bytes) => bytes.map((one) => `0x${one.toString(16)}`).join("."),
  "three parts": ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  "two parts": ([a, b, c, d]) => `${a}.${b * 65_536 + c * 256 + d}`,
  mixed: ([a, b, c, d]) => `${a}.0x${b.toString(16)}.${c * 256 + d}`,
  "with a dot at the end": (bytes) => `${dotted(bytes)}.`,
  "percent-encoded": (bytes) => dotted(bytes).replaceAll(/\d/g, (digit) => `%3${digit}`),
  "full-width digits": (bytes) =>
    dotted(bytes).replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  "ideographic dots": (bytes) => bytes.join("。"),
  mapped: (bytes) => `[::ffff:${dotted(bytes)}]`,
  "mapped in hex": (bytes) => `[0:0:0:0:0:FFFF:${pair(bytes)}]`,
  compatible: (bytes) => `[::${dotted(bytes)}]`,
  translated: (bytes) => `[::ffff:0:${pair(bytes)}]`,
  NAT64: (bytes) => `[64:ff9b::${pair(bytes)}]`,
  "6to4": (bytes) => `[2002:${pair(bytes)}::1]`,
  Teredo: ([a, b, c, d]) => `[2001:0:808:808:0:0:${pair([255 - a, 255 - b, 255 - c, 255 - d])}]`,
};

const around = fc.record({
  scheme: fc.constantFrom("http", "https", "HTTP", "hTTps"),
  user: fc.constantFrom("", "user@", "user:word@"),
  port: fc.constantFrom("", ":80", ":8443", ":"),
  path: fc.constantFrom("", "/", "/a.png", "?a=b", "#c", "/latest/meta-data/?x=@y"),
});

describe("an address is refused exactly where its host is private", () => {
  test.each(Object.keys(NOTATIONS))("IPv4 written as %s", (name) => {
    fc.assert(
      fc.property(address, around, (bytes, { scheme, user, port, path }) => {
        const fault = addressFault(`${scheme}://${user}${NOTATIONS[name]!(bytes)}${port}${path}`);
        expect(fault).toBe(isPrivate(bytes) ? "host" : null);
      }),
    );
  });

  test("IPv4 in octal, which others read as decimal: where either is private", () => {
    fc.assert(
      fc.property(address, around, (bytes, { scheme, path }) => {
        const octal = bytes.map((one) => `0${one.toString(8)}`);
        const read = octal.map(Number) as unknown as Bytes;
        const isEither = isPrivate(bytes) || (read.every((one) => one < 256) && isPrivate(read));
        expect(addressFault(`${scheme}://${octal.join(".")}${path}`)).toBe(isEither ? "host" : null);
      }),
    );
  });

  test("IPv6", () => {
    const groups = fc.array(fc.nat(0xffff), { minLength: 7, maxLength: 7 });
    const first = fc.constantFrom(0xfc00, 0xfdff, 0xfe80, 0xfebf, 0xfec0, 0xff02, 0x2606, 0x2a00, 0x2400, 0x3fff);
    fc.assert(
      fc.property(first, groups, around, (head, rest, { scheme, port, path }) => {
        const host = [head, ...rest].map((one) => one.toString(16)).join(":");
        expect(addressFault(`${scheme}://[${host}]${port}${path}`)).toBe(head >= 0xfc00 ? "host" : null);
      }),
    );
    for (const host of ["::", "::1", "0:0:0:0:0:0:0:1", "fd00:ec2::254", "64:ff9b:1::8.8.8.8"]) {
      expect([host, addressFault(`http://[${host}]/`)]).toEqual([host, "host"]);
    }
  });

  const label = fc.stringMatching(/^[a-z](?:[a-z0-9-]{0,8}[a-z0-9])?$/).filter((one) => !one.startsWith("xn--"));
  const CLOSED = ["localhost", "local", "localdomain", "internal", "svc", "cluster.local", "svc.cluster.local"];

  test("names", () => {
    const cased = fc.constantFrom(
      (name: string) => name,
      (name: string) => name.toUpperCase(),
    );
    const dot = fc.constantFrom("", ".");
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 3 }), around, cased, dot, (labels, parts, write, end) => {
        const at = (host: string) =>
          addressFault(`${parts.scheme}://${parts.user}${write(host)}${end}${parts.port}${parts.path}`);
        expect(at(labels[0]!)).toBe("host");
        expect(at(`${labels.join(".")}.example`)).toBe(null);
        for (const closed of CLOSED) expect([closed, at(`${labels.join(".")}.${closed}`)]).toEqual([closed, "host"]);
        // Only whole labels count.
        expect(at(`${labels.join(".")}internal.example`)).toBe(null);
        expect(at(`internal.${labels.join(".")}.example`)).toBe(null);
      }),
    );
  });
});

describe("what two parsers read differently is refused", () => {
  const CONTROLS = ["\t", "\n", "\r", "\u0000", "\u001f", "\u007f", "\u0085", "\\"];

  test("control characters and backslashes, wherever they stand", () => {
    fc.assert(
      fc.property(fc.constantFrom(...CONTROLS), fc.constantFrom(...PUBLIC.slice(0, 3)), fc.nat(40), (odd, url, at) => {
        const place = Math.min(at, url.length);
        const fault = addressFault(url.slice(0, place) + odd + url.slice(place));
        expect(fault).toBe("unclear");
      }),
    );
  });

  test.each([
    "https:media.example/a.png",
    "https:/media.example/a.png",
    "https:///media.example/a.png",
    "https://",
    "https://?a",
    "http:\\\\media.example",
    " https://media.example/",
    "\u00a0https://media.example/",
    "https://media.example@evil.example@media.example/",
    "http://10.0.0.1@media.example/",
    "http://10.0.0.1:80@media.example/",
    "http://media.example%40evil/",
    "http://256.1.1.1/",
    "http://1.2.3.4.5/",
    "http://[::1/",
    "http://[fe80::1%25eth0]/",
    "http://media.example:99999/",
    "http://a b.example/",
    "file:etc/passwd",
    "s3:bucket/key",
  ])("%s", (url) => {
    expect(addressFault(url)).toBe("unclear");
  });

  test.each([
    ["http://media.example@10.0.0.1/", "unclear"],
    ["http://user@10.0.0.1/", "host"],
    ["http://user:word@localhost/", "host"],
    ["http://user:word@media.example/", null],
    ["http://media.example#@10.0.0.1/", null],
    ["http://media.example?@10.0.0.1/", null],
    ["http://ｌocalhost/", "host"],
    ["http://local\u00adhost/", "host"],
    ["http://bücher.example/a b.png", null],
  ] as const)("%s: %s", (url, fault) => {
    expect(addressFault(url)).toBe(fault);
  });
});

test("other schemes, addresses without one, and ids", () => {
  for (const scheme of ["s3", "gs", "file", "ftp", "ftps", "sftp", "oss", "az", "abfss", "hdfs", "ws", "gopher", "x"]) {
    expect([scheme, addressFault(`${scheme}://bucket/a.png`)]).toEqual([scheme, "scheme"]);
  }
  for (const address of ["/etc/passwd", "a.png", "file-abc", "files/abc", "//media.example/a.png", "iVBORw0KGgo="]) {
    expect([address, addressFault(address)]).toEqual([address, "scheme"]);
  }
});

test("files of Gemini are stored, whatever their address looks like", () => {
  for (const host of [
    "generativelanguage.googleapis.com",
    "GENERATIVELANGUAGE.googleapis.com.",
    "generativelanguage.googleapis.com:443",
    "generativelanguage.mtls.googleapis.com",
    "us-generativelanguage.googleapis.com",
    "%67enerativelanguage.googleapis.com",
    "user@generativelanguage.googleapis.com",
  ]) {
    expect([host, addressFault(`https://${host}/v1beta/files/abc-123`)]).toEqual([host, "stored"]);
  }
  expect(addressFault("https://storage.googleapis.com/public/a.png")).toBe(null);
  expect(addressFault("https://notgenerativelanguage.example/files/a")).toBe(null);
});

test("the samples that every field is tried with", () => {
  expect(NOT_PUBLIC.filter((address) => addressFault(address) === null)).toEqual([]);
  expect(PUBLIC.filter((address) => addressFault(address) !== null)).toEqual([]);
  expect(addressFault("DATA:text/plain,s3://bucket")).toBe(null);
});
