import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Span } from "../../src/telemetry/gen-ai.ts";
import { openOtlp } from "../../src/telemetry/otlp.ts";
import { poll } from "../e2e/support/child.ts";
import { TestLog } from "../support/host.ts";

const TRACE = { traceId: "0".repeat(31) + "1", parentId: null, sampled: true, state: "", spanId: "0".repeat(15) + "1" };
const SPAN: Span = {
  name: "POST",
  kind: "server",
  trace: TRACE,
  spanId: TRACE.spanId,
  parentId: null,
  start: 0,
  end: 1,
  attributes: {},
  events: [],
  failed: false,
};
/** As `otlp.ts` sends them together. */
const BATCH_COUNT = 512;

/** A sink whose receiver takes everything, and answers a byte now and then, without an end. */
async function trickling(giveUpMs: number) {
  let requests = 0;
  const server = createServer((req, res) => {
    requests += 1;
    req.resume();
    res.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => res.write(" "), 50);
    res.once("close", () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const log = new TestLog();
  const sink = await openOtlp({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers: {},
    interval: 60_000,
    attributes: {},
    schedule(ms, callback) {
      const timer = setTimeout(callback, ms).unref();
      return () => clearTimeout(timer);
    },
    log,
    giveUpMs,
  });
  onTestFinished(async () => {
    await sink.close();
    server.closeAllConnections();
    server.close();
  });
  return { sink, log, requests: () => requests };
}

test("a receiver whose answer never ends is given up, and sent the next spans", async () => {
  const { sink, log, requests } = await trickling(300);
  for (let count = 0; count < 2 * BATCH_COUNT; count += 1) sink.span(SPAN);
  await poll(() => sink.droppedSpans === 2 * BATCH_COUNT);
  expect(requests()).toBe(2);
  expect(log.lines.map(({ level }) => level)).toEqual(["warn"]);
});

test("after the close nothing more is sent to it, and what waited is counted", async () => {
  const { sink, requests } = await trickling(1_000);
  for (let count = 0; count < 3 * BATCH_COUNT; count += 1) sink.span(SPAN);
  await poll(() => requests() > 0);
  await sink.close();
  await poll(() => sink.droppedSpans === 3 * BATCH_COUNT);
  const sent = requests();
  // That of the metrics, at most.
  expect(sent).toBeLessThanOrEqual(2);
});
