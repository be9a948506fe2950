import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isInNetworks, parseNetwork } from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";

const WIDTHS = { ipv4: 32, ipv6: 128 } as const;

/** An address of so many bits as text, in one of its notations. */
function textOf(value: bigint, bits: 32 | 128): string {
  const groups = Array.from({ length: bits === 32 ? 4 : 8 }, (_, index) => {
    const size = bits === 32 ? 8n : 16n;
    const shift = BigInt(bits) - size * BigInt(index + 1);
    return (value >> shift) & ((1n << size) - 1n);
  });
  return bits === 32 ? groups.join(".") : groups.map((group) => group.toString(16)).join(":");
}

describe("networks", () => {
  test("hold the addresses that share their leading bits, and no others", () => {
    const family = fc.constantFrom("ipv4", "ipv6");
    fc.assert(
      fc.property(family, fc.bigInt(0n, 2n ** 128n - 1n), fc.nat(128), fc.nat(127), (of, seed, length, flipped) => {
        const bits = WIDTHS[of];
        // Not among the IPv4-mapped ones, which are IPv4.
        const value = of === "ipv4" ? seed % 2n ** 32n : seed | (1n << 127n);
        const prefix = length % (bits + 1);
        const bit = flipped % bits;
        const other = value ^ (1n << BigInt(bits - 1 - bit));
        const network = `${textOf(value, bits)}/${prefix}`;
        expect(isInNetworks(textOf(value, bits), [network])).toBe(true);
        if (of === "ipv6" && bit === 0) return;
        expect(isInNetworks(textOf(other, bits), [network])).toBe(bit >= prefix);
        const mapped = of === "ipv4" ? `::ffff:${textOf(value, bits)}` : "192.0.2.1";
        expect(isInNetworks(mapped, [network])).toBe(of === "ipv4");
      }),
      { numRuns: RUNS },
    );
  });

  test.each([
    ["10.0.0.0/8", { address: "10.0.0.0", family: "ipv4", bits: 8 }],
    ["10.1.2.3", { address: "10.1.2.3", family: "ipv4", bits: 32 }],
    ["::ffff:10.0.0.0/104", { address: "10.0.0.0", family: "ipv4", bits: 8 }],
    ["2001:DB8::/32", { address: "2001:db8::", family: "ipv6", bits: 32 }],
    ["10.0.0.0/33", "no valid prefix length"],
    ["10.0.0.0/", "no valid prefix length"],
    ["10.0.0.0/-1", "no valid prefix length"],
    ["10.0.0.0/8/8", "no address or CIDR"],
    ["10.0.0", "no address or CIDR"],
    ["010.0.0.1", "no address or CIDR"],
    ["fe80::1%eth0", "no address or CIDR"],
    ["example.com", "no address or CIDR"],
    ["", "no address or CIDR"],
  ])("%s is %j", (text, network) => {
    expect(parseNetwork(text)).toEqual(network);
  });

  test("what is no address is in none of them", () => {
    for (const ip of ["", "unknown", "10.0.0.1:80", "fe80::1%eth0"])
      expect(isInNetworks(ip, ["0.0.0.0/0", "::/0"])).toBe(false);
  });
});
