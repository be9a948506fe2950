import { afterEach, expect, test } from "vitest";
import { FiguresFeed, MAX_LISTENERS } from "../../src/gateway/figures-feed.ts";
import type { FigurePoint } from "../../src/telemetry/figures.ts";
import { eventually } from "../e2e/support/http.ts";
import { TestLog } from "../support/host.ts";

const POINT: Omit<FigurePoint, "at"> = {
  requests: 3,
  in_flight: 2,
  streams: 1,
  errors: { PROVIDER_ERROR: 1 },
  ttft: [],
  overhead: [],
  spend: "1500",
};
const REPORT = {
  status: { generation: 1, hash: "abc", loaded_at: "", last_rejection: null, guard: null },
  upstreams: { alpha: { breaker: "closed", health: "healthy", manual: null } },
  self: { instance: "a", hash: "abc", draining: false, breakers: { alpha: "closed" } },
  others: [{ instance: "b", hash: "abc", draining: false, breakers: { alpha: "open" } }],
  complete: true,
} as never;

const open: FiguresFeed[] = [];

/** Seconds pass as fast as timers run. */
function feed({ points = (at: number): FigurePoint[] => [{ ...POINT, at }] } = {}) {
  let asked = 0;
  let seconds = 1_000_000_000;
  const made = new FiguresFeed({
    points: async () => {
      asked += 1;
      return points((seconds += 1_000));
    },
    report: async () => REPORT,
    // Just before a second's end, with the margin.
    now: () => seconds * 1 + 1_098,
    log: new TestLog(),
  });
  open.push(made);
  return { made, asked: () => asked };
}

afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

async function read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const { value } = await reader.read();
  return new TextDecoder().decode(value);
}

test("listeners are told each second, all of them what was made once", async () => {
  const { made, asked } = feed();
  const readers = [made.listen().getReader(), made.listen().getReader()];
  expect(await Promise.all(readers.map(read))).toEqual(["retry: 2000\n\n", "retry: 2000\n\n"]);
  const [one, other] = await Promise.all(readers.map(read));
  expect(other).toBe(one);
  const [event, id, data = ""] = one!.split("\n");
  expect(event).toBe("event: figures");
  expect(id).toMatch(/^id: \d+$/);
  expect(JSON.parse(data.slice("data: ".length))).toMatchObject({
    requests_per_second: 3,
    errors: { PROVIDER_ERROR: 1 },
    spend_per_second: "0.0000015",
    ttft_ms: { p50: null, p95: null },
    upstreams: { alpha: { state: "open", manual: null } },
    config: { hash: "abc", last_rejection: null },
    instances: { count: 2, agree: true },
  });
  await Promise.all(readers.map(read));
  expect(asked()).toBeLessThan(5);
});

test("nothing is asked while nobody listens", async () => {
  const { made, asked } = feed();
  const reader = made.listen().getReader();
  await read(reader);
  await read(reader);
  await reader.cancel();
  const before = asked();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(asked()).toBe(before);
  expect(made.listeners).toBe(0);
});

test("a reader that reads nothing is dropped, and holds nobody up", async () => {
  const { made } = feed();
  const slow = made.listen().getReader();
  const reader = made.listen().getReader();
  let events = 0;
  while (made.listeners === 2) {
    await read(reader);
    events += 1;
  }
  expect(events).toBeLessThan(12);
  await expect(slow.closed).rejects.toThrow("too slow a reader");
  await read(reader);
});

test("there is room for so many listeners, and for another one when one has gone", async () => {
  const { made } = feed();
  const all = Array.from({ length: MAX_LISTENERS }, () => made.listen());
  expect(() => made.listen()).toThrow(expect.objectContaining({ code: "OVERLOADED" }) as Error);
  await all[0]!.cancel();
  expect(made.listen()).toBeInstanceOf(ReadableStream);
});

test("a failure is passed over: the next second is told", async () => {
  let failures = 0;
  const { made, asked } = feed({
    points: (at) => {
      failures += 1;
      if (failures < 3) throw new Error("no worker answers");
      return [{ ...POINT, at }];
    },
  });
  const reader = made.listen().getReader();
  await read(reader);
  expect(await read(reader)).toContain("event: figures");
  await eventually(() => asked() >= 3);
  expect(asked()).toBeGreaterThanOrEqual(3);
});
