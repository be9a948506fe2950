import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import type { Log } from "../../src/kit/index.ts";
import { Digests } from "../../src/telemetry/digests.ts";

const LOG: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function expected(id: string): string {
  return createHmac("sha256", "the store's key").update(id).digest("base64url").slice(0, 22);
}

test("a digest is the key's of the id, the first time and later, of however many ids", async () => {
  const digests = new Digests({ remember: async () => "the store's key", now: () => 0, log: LOG });
  expect(digests.of("usr_1")).toBeNull();
  await digests.prepare();
  const ids = Array.from({ length: 25_000 }, (_, at) => `usr_${at}`);
  for (const asked of [ids, ids.toReversed()]) {
    expect(asked.filter((id) => digests.of(id) !== expected(id))).toEqual([]);
    expect(digests.of(asked[0]!)).toBe(expected(asked[0]!));
  }
});
