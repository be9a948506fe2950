import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openai } from "../../src/dialects/openai.ts";
import { type Simulator, startSimulator } from "../../src/upstream/sim/server.ts";
import { createUpstreams, type Upstreams, type UpstreamSet } from "../../src/upstream/upstreams.ts";
import {
  call,
  exchange,
  failure,
  read,
  silent,
  snapshot,
  streamOf,
  target,
  TIMEOUTS,
  upstream,
} from "./support/build.ts";

let simulator: Simulator;
let upstreams: Upstreams;
let count = 0;
beforeAll(async () => {
  simulator = await startSimulator();
  upstreams = createUpstreams({
    dialects: { openai },
    now: Date.now,
    log: silent,
    simulator: () => Promise.resolve(simulator.origin),
  });
});
afterAll(async () => {
  await upstreams.close();
  await simulator.close();
});

/** An upstream of its own for each script: a resting key outlives a lease. */
async function scripted(script: string): Promise<Pick<UpstreamSet, "send">> {
  count += 1;
  const name = `u${count}`;
  const set = await upstreams.lease(snapshot(upstream(`sim:${script}`, { name })));
  return { send: (to, ...rest) => set.send({ ...to, upstream: name }, ...rest) };
}

const BRIEF = target({ timeouts: { ...TIMEOUTS, firstByte: 150, idle: 150 } });
const STREAM = call({ stream: true });

describe("with the simulator", () => {
  it("an answer and a stream are served", async () => {
    const set = await scripted("");
    const reply = await set.send(target(), call(), exchange());
    expect(reply).toMatchObject({
      stream: false,
      usage: { prompt: expect.any(Number), completion: expect.any(Number) },
    });
    const seen = await read(streamOf(await set.send(target(), STREAM, exchange())));
    expect(seen).toMatchObject({ text: expect.stringContaining("hi"), ending: { complete: true } });
  });

  it.each([
    ["?first_byte=2s", "timeout"],
    ["?reset_after=0", "reset"],
    ["?status=503", "status"],
    ["?status=429&retry_after=3", "rate_limited"],
    ["?status=401", "credentials"],
    ["?status=422", "client_fault"],
    ["?html=true", "protocol"],
    ["?gzip=true", "protocol"],
    ["?error_first=true", "status"],
    ["?stall_after=0", "timeout"],
  ])("%s fails before the first event: %s", async (script, expected) => {
    const set = await scripted(script);
    expect(await failure(set.send(BRIEF, STREAM, exchange()))).toMatchObject({ failure: expected });
  });

  it.each(["?stall_after=2", "?reset_after=2", "?close_after=2", "?malformed_after=2", "?error_after=2"])(
    "%s is cut",
    async (script) => {
      const set = await scripted(script);
      const seen = await read(streamOf(await set.send(BRIEF, STREAM, exchange())));
      expect(seen.ending).toMatchObject({ complete: false });
    },
  );

  it.each(["?no_done=true", "?no_usage=true"])("%s is complete", async (script) => {
    const set = await scripted(script);
    const seen = await read(streamOf(await set.send(BRIEF, STREAM, exchange())));
    expect(seen.ending).toEqual({ complete: true });
  });
});
