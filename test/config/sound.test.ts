import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { options, SMALL } from "./support.ts";

/** Rules warn of what cannot be meant: nobody reads warnings of files that are as they should be. */
const sound: readonly (readonly [what: string, from: string, to: string])[] = [
  [
    "an address may use an hour's requests in one minute",
    "pipeline:",
    "server: { ip_limit: { requests: 3600, window: 1h } }\npipeline:",
  ],
  [
    "windows of 40 seconds, of which a minute meets three",
    "pipeline:",
    "server: { ip_limit: { requests: 40, window: 40s } }\npipeline:",
  ],
  [
    "connections of each of several workers",
    "pipeline:",
    'store: { url: "redis://127.0.0.1" }\nserver: { workers: 4, connections: { total: 20 } }\npipeline:',
  ],
  [
    "a price per request that pays for tokens",
    "price: { input_per_million: 0.15, output_per_million: 0.6 }\n    chain: [{ upstream: alpha, model: one }]",
    "price: { input_per_million: 0, output_per_million: 0, per_request: 0.05 }\n    chain: [{ upstream: alpha, model: one, cost: { input_per_million: 1, output_per_million: 3 } }]",
  ],
  [
    "a word in place of a key that no server of one's own asks for",
    'base_url: "sim:", api_keys: [sim]',
    'base_url: "http://vllm:8000/v1", api_keys: [not-needed]',
  ],
];

test.for(sound)("%s", async ([, from, to]) => {
  const text = SMALL.replace(from, to);
  expect(text).not.toBe(SMALL);
  const { diagnostics } = await loadConfig(options("gateway.yaml", { read: () => Promise.resolve(text) }));
  expect(diagnostics).toEqual([]);
});
