import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Json, Usage } from "../../../src/kit/index.ts";
import { chunk, LAST_CHUNK, RawUpstream, STREAM_HEAD } from "../../upstream/support/raw-upstream.ts";
import { askFormat, FORMAT_NAMES } from "../support/formats.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

/** A stream that does not come to its end, and what is charged of it. */
interface Case {
  readonly about: string;
  readonly dialect: "openai" | "anthropic" | "gemini";
  /** What the upstream sends: events as JSON, a string as it is. */
  readonly sends: readonly (Json | string)[];
  /** What the client has read when it happens. */
  readonly until: string;
  readonly how: "leave" | "kill" | "reset";
  /** What the upstream sends then, and ends; null: nothing, it hangs. */
  readonly then: readonly (Json | string)[] | null;
  readonly outcome: string;
  readonly usage: Usage;
  readonly estimated: boolean;
  /** Nano-units. */
  readonly charge: string;
}

const FOLDER = new URL("broken-off/", import.meta.url).pathname;
const CASES = globSync("*.json", { cwd: FOLDER })
  .toSorted()
  .flatMap((file) => JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as Case[]);

const DIALECTS = { openai: "/v1", anthropic: "", gemini: "" } as const;
const READ_ON_MS = 2_000;

let upstream: RawUpstream;
let gateway: TestGateway;
let user: TestUser;
let current: Case;

const write = (events: readonly (Json | string)[]): Buffer =>
  Buffer.concat(events.map((event) => chunk(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)));

beforeAll(async () => {
  upstream = await RawUpstream.start(({ socket }) => {
    socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), write(current.sends)]));
  });
  const names = Object.keys(DIALECTS) as (keyof typeof DIALECTS)[];
  gateway = await TestGateway.start({
    config: {
      upstreams: Object.fromEntries(
        names.map((name) => [
          name,
          { dialect: name, base_url: upstream.origin + DIALECTS[name], api_keys: ["upstream-key"] },
        ]),
      ),
      models: Object.fromEntries(
        names.map((name) => [
          `route/${name}`,
          {
            kind: "chat",
            tier: "Free",
            owned_by: "elsewhere",
            price: {
              input_per_million: 3,
              cached_input_per_million: 0.3,
              cache_write_per_million: 3.75,
              output_per_million: 15,
            },
            chain: [{ upstream: name, model: "up" }],
          },
        ]),
      ),
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(async () => {
  user = await gateway.user();
});

/** Lets it happen to a stream of the current case. `took`: milliseconds from then on until all is settled. */
async function happen({ dialect, until, how, then }: Case): Promise<{ readonly took: number; readonly text: string }> {
  const call = gateway.open(user, { model: `route/${dialect}`, stream: true });
  await call.until(until);
  const { socket } = upstream.requests.at(-1)!;
  const at = performance.now();
  if (how === "leave") call.leave();
  if (how === "kill") await gateway.send("/v1/user/streams/kill", { headers: { "x-api-key": user.key } });
  // The gateway must have heard of it before the upstream goes on.
  if (how !== "reset") await new Promise((resolve) => setTimeout(resolve, 50));
  if (how === "reset") socket.resetAndDestroy();
  else if (then !== null && then.length > 0) socket.write(Buffer.concat([write(then), Buffer.from(LAST_CHUNK)]));
  await gateway.audit();
  return { took: performance.now() - at, text: how === "leave" ? call.text : (await call.whole()).text };
}

describe.each(CASES)("$dialect: $about", (one) => {
  test("is charged what was told, and estimated no further than need be", async () => {
    current = one;
    const { took, text } = await happen(one);
    const { ledger, used } = await gateway.books(user);
    expect(ledger).toMatchObject([
      { outcome: one.outcome, estimated: one.estimated, usage: one.usage, charge: BigInt(one.charge) },
    ]);
    expect(used.day).toBe(1);
    expect(took).toBeGreaterThan(one.then === null ? READ_ON_MS - 100 : 0);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(one.how !== "leave");
  });
});

test.each(FORMAT_NAMES)(
  "a %s client that waits is shown and charged what comes behind the finish reason",
  async (name) => {
    current = CASES.find(({ how, then }) => how === "leave" && then !== null && then.length > 0)!;
    const answer = askFormat(gateway, user, name, { model: "route/openai", stream: true });
    const before = upstream.requests.length;
    await expect.poll(() => upstream.requests.length).toBe(before + 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    upstream.requests.at(-1)!.socket.write(Buffer.concat([write(current.then!), Buffer.from(LAST_CHUNK)]));
    expect((await answer).text).not.toContain('"error":{');
    expect((await gateway.books(user)).ledger).toMatchObject([{ outcome: "served", charge: BigInt(current.charge) }]);
  },
);

const BAD = `export default {
  name: "bad", stage: "transform", schema: new URL("./bad.schema.json", import.meta.url),
  setup: () => ({
    response() { throw new Error("bug"); },
    event(event) { if (event.usage) throw new Error("bug"); return event; },
  }),
};`;

test("a plugin that fails after the upstream served: free, counted as the gateway's own, no mark against the upstream", async () => {
  const failing = await TestGateway.start({
    config: {
      pipeline: ["auth", "plan-check", "quota", "breaker", { use: "./bad.ts" }, "stream-relay", "meter"],
      upstreams: { "one-1": { breaker: { consecutive: 1, minimum: 1 } } },
    },
    files: { "bad.ts": BAD, "bad.schema.json": '{"type":"object","additionalProperties":false}' },
  });
  const someone = await failing.user();
  for (const stream of [false, false, true, true]) {
    const { status, text } = await failing.chat(someone, { stream });
    expect([status, text.includes("Internal server error")]).toEqual([stream ? 200 : 500, true]);
  }
  const { ledger, used, balance, granted } = await failing.books(someone);
  const entry = { outcome: "gateway_error", upstream: "one-1", charge: 0n };
  const told = { prompt: 2, completion: 9, cached: 0, reasoning: 0 };
  expect(ledger).toMatchObject(
    [{ usage: told }, { usage: told }, { usage: told }, { usage: told }].map((one) => ({ ...entry, ...one })),
  );
  expect(balance).toBe(granted);
  // Of the streams something was delivered.
  expect(used).toEqual({ day: 2, hour: 2, minute: 2 });
  expect(await failing.metric("gateway_requests_total", { outcome: "gateway_error", status: "500" })).toBe(4);
  expect(await failing.metric("gateway_upstream_attempts_total", { upstream: "one-1", result: "ok" })).toBe(4);
  expect(await failing.metric("gateway_breaker_state", { upstream: "one-1" })).toBe(0);
  expect(await failing.metric("gateway_plugin_failures_total", { plugin: "bad" })).toBe(4);
  await failing.close();
});
