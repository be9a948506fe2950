import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clientAddress, limitKey, trustProxies } from "../../src/server/client-address.ts";
import { parseAddress } from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";

describe("addresses", () => {
  test.each([
    ["1.2.3.4", "1.2.3.4"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["::FFFF:0102:0304", "1.2.3.4"],
    ["0:0:0:0:0:ffff:1.2.3.4", "1.2.3.4"],
    ["2001:DB8::1", "2001:db8::1"],
    ["::1", "::1"],
    ["::ffff:0:1.2.3.4", "::ffff:0:1.2.3.4"],
    ["fe80::1%eth0", null],
    ["1.2.3.4:80", null],
    ["[::1]", null],
    ["1.2.3", null],
    ["01.2.3.4", null],
    ["0x1.2.3.4", null],
    [" 1.2.3.4", null],
    ["", null],
    ["unknown", null],
  ])("%j is %j", (text, expected) => {
    expect(parseAddress(text)).toBe(expected);
  });

  test("one client is one IPv4 address or one IPv6 /64, however it is written", () => {
    expect(limitKey("1.2.3.4")).toBe("1.2.3.4");
    expect(limitKey("2001:db8::1")).toBe(limitKey("2001:db8:0:0:ffff::"));
    expect(limitKey("2001:db8::1")).not.toBe(limitKey("2001:db8:0:1::1"));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
        const full = groups.map((group) => group.toString(16).padStart(4, "0")).join(":");
        const short = groups.map((group) => group.toString(16)).join(":");
        const squeezed = new URL(`http://[${short}]`).hostname.slice(1, -1);
        expect(parseAddress(full) === null).toBe(false);
        expect(limitKey(full)).toBe(limitKey(squeezed));
        expect(limitKey(full)).toBe(
          groups
            .slice(0, 4)
            .map((group) => group.toString(16))
            .join(":"),
        );
      }),
    );
  });

  test("a mapped address is its IPv4 address", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(parseAddress(`::ffff:${address}`)).toBe(address);
      }),
    );
  });
});

describe("the client behind proxies", () => {
  const proxies = trustProxies(["10.0.0.0/8", "::ffff:192.168.0.0/112", "2001:db8::/32", "172.16.0.1"]);

  test.each([
    ["203.0.113.1", undefined, "203.0.113.1"],
    ["203.0.113.1", "1.1.1.1", "203.0.113.1"],
    ["10.0.0.1", undefined, "10.0.0.1"],
    ["10.0.0.1", "1.1.1.1", "1.1.1.1"],
    ["::ffff:10.0.0.1", "1.1.1.1", "1.1.1.1"],
    ["10.0.0.1", "6.6.6.6, 1.1.1.1", "1.1.1.1"],
    ["10.0.0.1", "6.6.6.6, 1.1.1.1, 10.2.2.2 ,192.168.3.3", "1.1.1.1"],
    ["2001:db8::1", "6.6.6.6, 2001:db8::2", "6.6.6.6"],
    ["172.16.0.1", "1.1.1.1", "1.1.1.1"],
    ["172.16.0.2", "1.1.1.1", "172.16.0.2"],
    ["10.0.0.1", "6.6.6.6, unknown", "10.0.0.1"],
    ["10.0.0.1", "6.6.6.6, unknown, 10.0.0.2", "10.0.0.2"],
    ["10.0.0.1", "1.1.1.1:4711", "1.1.1.1"],
    ["10.0.0.1", "[2001:DB9::1]:4711", "2001:db9::1"],
    ["10.0.0.1", "[2001:db9::1]", "2001:db9::1"],
    ["10.0.0.1", "6.6.6.6:1, 1.1.1.1:2, 10.0.0.2:3", "1.1.1.1"],
    ["10.0.0.1", "1.1.1.1:471100", "10.0.0.1"],
    ["10.0.0.1", "[1.1.1.1", "10.0.0.1"],
    ["10.0.0.1", "", "10.0.0.1"],
    ["10.0.0.1", ", ,", "10.0.0.1"],
    ["10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"],
    ["10.0.0.1", `1.1.1.1, ${Array.from({ length: 19 }, () => "10.0.0.2").join(", ")}`, "1.1.1.1"],
    ["10.0.0.1", `1.1.1.1, ${Array.from({ length: 20 }, () => "10.0.0.2").join(", ")}`, "10.0.0.2"],
    // Of a long list the end is read: what the trusted proxies have written.
    ["10.0.0.1", `${"1.1.1.1, ".repeat(200)}1.1.1.2`, "1.1.1.2"],
    ["10.0.0.1", `${"1.1.1.1, ".repeat(200)}1.1.1.2, 10.0.0.2`, "1.1.1.2"],
    ["10.0.0.1", `${"x".repeat(5_000)}, 1.1.1.2`, "1.1.1.2"],
    // What is cut through is no address, whatever is left of it.
    ["10.0.0.1", `3${"1.1.1.2".padStart(2000, " ")}`, "10.0.0.1"],
    ["10.0.0.1", `1.1.1.1,${" ".repeat(1024)}1.1.1.2`, "10.0.0.1"],
  ])("%s with %j is %s", (socket, header, expected) => {
    expect(clientAddress(socket, header, proxies)).toBe(expected);
  });

  test("whatever a client writes to the left never changes what the proxy wrote", () => {
    const written = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.constant("10.0.0.9"));
    fc.assert(
      fc.property(fc.array(written, { maxLength: 5 }), fc.ipV4(), (forged, honest) => {
        fc.pre(!proxies(honest));
        const header = [...forged, honest, "10.0.0.2"].join(", ");
        fc.pre(header.length <= 1024);
        expect(clientAddress("10.0.0.1", header, proxies)).toBe(honest);
      }),
      { numRuns: RUNS },
    );
  });

  test.each([
    "x",
    "1.2.3.4/33",
    "1.2.3.4/-1",
    "1.2.3.4/",
    "1.2.3.4/8x",
    "::ffff:10.0.0.0/8",
    "::/129",
    "1.2.3.4:80",
    "",
  ])("the entry %j is refused by name", (entry) => {
    expect(() => trustProxies([entry])).toThrow(`server.trusted_proxies: ${entry}`);
  });
});
