import { expect, test } from "vitest";
import { type Json } from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";

test("an answer without its own id and time gets the exchange's", async () => {
  const bench = await Bench.create();
  bench.clock.advance(1_999);
  const receivedAt = bench.clock.now();
  bench.upstream.play((target) => {
    bench.clock.advance(5_000);
    return { type: "answer" as const, target, body: { choices: [] }, usage: null };
  });
  const client = await bench.serve();
  expect(JSON.parse(client.answered?.body ?? "") as Json).toMatchObject({
    id: "chatcmpl-request-0",
    object: "chat.completion",
    created: Math.floor(receivedAt / 1_000),
    latency_ms: 5_000,
  });
});
