import { expect, test } from "vitest";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { FORMATS, openFormat } from "../support/formats.ts";
import type { Answer, Sent } from "../support/http.ts";
import { TestGateway } from "../support/in-process.ts";

const CLOSED = { day: 0, hour: 0, minute: 0, streams: 0 };
const LARGE = "x".repeat(300_000);

/** One request that is wrong in every way; each step mends one, and meets the next check (decisions 4). */
test.each([
  ["messages", {}],
  ["messages", { "anthropic-version": "2023-06-01" }],
  ["responses", {}],
] as const)("%s %j: the order of checks is that of chat completions", async (name, version) => {
  const strict = await TestGateway.start({
    chains: { "route/open": ["?status=500&name=order"] },
    config: {
      upstreams: { "open-1": { breaker: { consecutive: 1, open_for: "1h", max_open_for: "1h" } } },
      tiers: {
        NoAccess: { access: [], limits: CLOSED },
        NoDay: { access: "all", limits: CLOSED },
        NoHour: { access: "all", limits: { ...CLOSED, day: 5 } },
        NoMinute: { access: "all", limits: { ...CLOSED, day: 5, hour: 5 } },
        NoStreams: { access: "all", limits: { ...CLOSED, day: 5, hour: 5, minute: 5 } },
        Open: { access: "all", limits: { day: 5, hour: 5, minute: 5, streams: 5 } },
      },
    },
  });
  const ask = async (tier: string, credits: string, body: Json = {}, { headers, ...sent }: Sent = {}) => {
    const user = await strict.user({ tier, credits });
    const changes = { model: "route/open", stream: true, ...body };
    return openFormat(strict, user, name, changes, { ...sent, headers: { ...version, ...headers } }).whole();
  };
  expect((await strict.chat(await strict.user(), { model: "route/open" })).status).toBe(502);

  const [wrong, pointer] = FORMATS[name].wrong;
  const html = { "content-type": "text/html" };
  const steps: readonly (readonly [string, () => Promise<Answer>])[] = [
    [
      "401 Authentication required",
      () => ask("NoAccess", "0", {}, { headers: { ...html, authorization: "" }, body: LARGE }),
    ],
    ["401 Invalid API key", () => ask("NoAccess", "0", {}, { headers: { ...html, "x-api-key": "rk_" }, body: LARGE })],
    ["415 Content-Type must be application/json", () => ask("NoAccess", "0", {}, { headers: html, body: LARGE })],
    ["413 Request body exceeds the limit of 262144 bytes", () => ask("NoAccess", "0", {}, { body: LARGE })],
    ["400 Invalid request: / must be valid JSON", () => ask("NoAccess", "0", {}, { body: "x" })],
    [`400 Invalid request: ${pointer}`, () => ask("NoAccess", "0", { model: "route/none", ...wrong })],
    ["400 Invalid model: 'route/none'", () => ask("NoAccess", "0", { model: "route/none" })],
    ["403 Model 'route/open' is not available on your plan", () => ask("NoAccess", "0")],
    ["402 Insufficient credits for this request", () => ask("NoDay", "0")],
    ["429 Daily request limit exceeded", () => ask("NoDay", "1")],
    ["429 Hourly request limit exceeded", () => ask("NoHour", "1")],
    ["429 Per-minute request limit exceeded", () => ask("NoMinute", "1")],
    ["429 Concurrent stream limit exceeded", () => ask("NoStreams", "1")],
    ["503 Circuit breaker open for an upstream", () => ask("Open", "1")],
  ];
  const seen: string[] = [];
  for (const [expected, request] of steps) {
    const { status, text } = await request();
    // What is wrong with a field is said in many ways; where it is, in one.
    seen.push(`${status} ${messageOf(text)}`.slice(0, expected.length));
  }
  expect(seen).toEqual(steps.map(([expected]) => expected));
  await strict.close();
});

function messageOf(text: string): string {
  if (!text.startsWith("{")) return text;
  const { message, error } = JSON.parse(text) as Json;
  return String(isJson(error) ? error["message"] : message);
}
