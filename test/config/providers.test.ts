import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { PROVIDER_DIRECTORY } from "../../src/config/providers.ts";
import { CAPABILITIES } from "../../src/dialects/capabilities.ts";
import { vendorOf } from "../../src/dialects/vendors/rules.ts";
import { LOCAL_VENDORS, type Vendor, VENDORS } from "../../src/kit/index.ts";
import { options, SMALL } from "./support.ts";

const ENTRIES = [...PROVIDER_DIRECTORY.values()];

/** An operator's own address in place of the example. */
const own = (url: string): string =>
  url.replace("RESOURCE", "my-team").replace("REGION", "eu-central-1").replace("HOST", "models.example.com");

test("every vendor, every dialect and `compatible` has an entry, and nothing else has", () => {
  const names = new Set<string>([...VENDORS, ...Object.keys(CAPABILITIES), "compatible"]);
  expect(new Set(PROVIDER_DIRECTORY.keys())).toEqual(names);
  expect(ENTRIES.map(({ name }) => name)).toEqual([...PROVIDER_DIRECTORY.keys()]);
});

const isVendor = (name: string): boolean => name !== "generic" && VENDORS.some((one) => one === name);

test("an entry of a vendor or dialect speaks it", () => {
  const expected = ENTRIES.map(({ name }) => [
    name,
    name in CAPABILITIES ? name : "openai",
    isVendor(name) ? name : undefined,
    LOCAL_VENDORS.has(name as Vendor),
  ]);
  expect(ENTRIES.map(({ name, dialect, vendor, local }) => [name, dialect, vendor, local])).toEqual(expected);
  // The address alone tells a hosted vendor; a local one is always named.
  const hosted = ENTRIES.filter(({ vendor, local }) => vendor !== undefined && !local);
  expect(hosted.map(({ baseUrl }) => vendorOf({ baseUrl, headers: {} }))).toEqual(hosted.map(({ name }) => name));
});

test("every entry has a variable that a shell takes, with its source", () => {
  expect(ENTRIES.filter(({ keyVariable }) => !/^[A-Z][A-Z0-9_]*$/.test(keyVariable))).toEqual([]);
  const others = ENTRIES.filter(({ name }) => name !== "compatible" && name !== "generic");
  expect(others.filter(({ source }) => !source.startsWith("https://"))).toEqual([]);
});

test("every entry gives an upstream without a finding", async () => {
  const upstreams = ENTRIES.map(({ name, dialect, vendor, baseUrl, keyVariable }) => {
    const named = vendor === undefined ? "" : `, vendor: ${vendor}`;
    const keys = `api_keys: ["\${env:${keyVariable}:-k}"]`;
    return `  ${name}: { dialect: ${dialect}, base_url: "${own(baseUrl)}", ${keys}${named} }\n`;
  });
  const text = SMALL.replace("upstreams:\n", `upstreams:\n${upstreams.join("")}`);
  const { diagnostics } = await loadConfig(options("/gateway.yaml", { read: async () => text }));
  const found = diagnostics.filter(({ rule }) => rule !== "unused-upstream");
  expect(found).toEqual([]);
});

test("check knows the placeholder of every example address", async () => {
  for (const { baseUrl, dialect } of ENTRIES.filter((entry) => own(entry.baseUrl) !== entry.baseUrl)) {
    const upstream = `{ dialect: ${dialect}, base_url: "${baseUrl}", api_keys: [sim] }`;
    const text = SMALL.replace(/alpha: \{.*\}/, `alpha: ${upstream}`);
    const { diagnostics } = await loadConfig(options("/gateway.yaml", { read: async () => text }));
    expect(diagnostics.map(({ message }) => message).join("\n")).toContain("placeholder");
  }
});
