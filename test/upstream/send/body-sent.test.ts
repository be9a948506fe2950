import { expect, it } from "vitest";
import { bytesBody } from "../../../src/dialects/canonical/body-text.ts";
import { DeadlineSweeper } from "../../../src/upstream/send/deadlines.ts";
import { RequestHandler } from "../../../src/upstream/send/request-handler.ts";
import type { RequestPool } from "../../../src/upstream/send/pools.ts";
import { TIMEOUTS } from "../support/build.ts";

const WHOLE = '{"model":"é"}';
const stats = { connected: 1, free: 1, pending: 0, queued: 0, running: 0, size: 0 };

async function textOf(body: unknown): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

it.each([
  ["text", WHOLE],
  ["bytes", bytesBody([Buffer.from(WHOLE.slice(0, 5)), Buffer.from(WHOLE.slice(5))])],
])("nothing is left of a stream's request in %s once it is sent: a pool keeps what it was given", async (_, body) => {
  const { signal } = new AbortController();
  const dispatched: { headers?: unknown; body?: unknown }[] = [];
  const pool: RequestPool = { stats, dispatch: (request) => dispatched.push(request) > 0 };
  const sweeper = new DeadlineSweeper(Date.now);
  const settled = { read: () => null, resolve: () => undefined, reject: () => undefined };
  const options = { ...settled, signal, sweeper, timeouts: TIMEOUTS, now: Date.now, deadline: Infinity, stream: true };
  const handler = new RequestHandler(options, Date.now());
  handler.run(pool, { path: "/", method: "POST", headers: { a: "b" }, body });
  const [request] = dispatched;
  expect(request?.headers).toEqual({ a: "b", "content-length": "14" });
  expect(await textOf(request?.body)).toBe(WHOLE);
  expect(await textOf(request?.body)).toBe("");
  handler.cancel();
});
