import { describe, expect, test } from "vitest";
import { storeUnavailable } from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";
import { testTier } from "../support/snapshot.ts";
import { answers } from "../support/upstream.ts";
import { CHECKS, limited, refusalOf } from "./checks.ts";

const away = (): never => {
  throw storeUnavailable(new Error("away"));
};

/** All headers; the clock stands at 12:00:00 UTC. */
const full = (remaining: { day: number; hour: number; minute: number }): object => ({
  "X-RateLimit-Limit-Day": "1000",
  "X-RateLimit-Remaining-Day": String(remaining.day),
  "X-RateLimit-Reset-Day": "43200",
  "X-RateLimit-Limit-Hour": "500",
  "X-RateLimit-Remaining-Hour": String(remaining.hour),
  "X-RateLimit-Reset-Hour": "3600",
  "X-RateLimit-Limit-Minute": "100",
  "X-RateLimit-Remaining-Minute": String(remaining.minute),
  "X-RateLimit-Reset-Minute": "60",
});

describe("rate-limit headers", () => {
  const untouched = full({ day: 1000, hour: 500, minute: 100 });
  const one = full({ day: 999, hour: 499, minute: 99 });

  test("on an answer and on a stream: after this request", async () => {
    const bench = await Bench.create();
    bench.upstream.play(answers());
    expect((await bench.serve()).answered?.headers).toEqual(one);
    const other = await Bench.create();
    const { client, done } = other.stream();
    await done;
    expect(client.stream).toEqual({ contentType: "text/event-stream; charset=utf-8", headers: one });
    await other.audit();
  });

  test.each(CHECKS.slice(1, 5))("on $message: as if it had not been", async ({ request, parts }) => {
    const bench = await Bench.create(parts);
    expect((await bench.serve(request)).refused?.headers).toEqual(untouched);
  });

  test.each([
    ["Day", limited({ day: 0 }), 43_200],
    ["Hour", limited({ hour: 0 }), 3_600],
    ["Minute", limited({ minute: 0 }), 60],
  ])("on a refusal of the %s: nothing remains, and when to come back", async (name, parts, seconds) => {
    const bench = await Bench.create(parts);
    bench.clock.advance(1);
    const client = await bench.serve();
    expect(client.refused?.headers).toMatchObject({
      [`X-RateLimit-Limit-${name}`]: "0",
      [`X-RateLimit-Remaining-${name}`]: "0",
      [`X-RateLimit-Reset-${name}`]: String(seconds),
    });
    expect(refusalOf(client).retryAfter).toBe(seconds);
  });

  test("a tier without an hourly cap has no Hour headers", async () => {
    const bench = await Bench.create({ tiers: [testTier("Free", { hour: null })] });
    bench.upstream.play(answers());
    const names = Object.keys((await bench.serve()).answered!.headers);
    expect(names.filter((name) => name.endsWith("Hour"))).toEqual([]);
    expect(names).toHaveLength(6);
  });

  test("a store that is away is 503 without counters, not 401 or 402", async () => {
    const bench = await Bench.create({ override: () => ({ admit: away, windows: away }) });
    const client = await bench.serve();
    expect(refusalOf(client)).toEqual({ code: "STORE_UNAVAILABLE", message: "Store unavailable", retryAfter: 1 });
    expect(client.refused?.headers).toEqual({});
    await bench.audit();
  });
});
