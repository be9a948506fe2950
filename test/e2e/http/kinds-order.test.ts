import { expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import type { Sent } from "../support/http.ts";
import { TestGateway } from "../support/in-process.ts";
import { type KindEndpoint, chains, ENDPOINTS, KIND_CHAINS, openKind, PLACES } from "../support/kinds.ts";

const KINDS = ENDPOINTS.filter((endpoint) => endpoint !== "chat");
const closed = { day: 0, hour: 0, minute: 0, streams: 0 };
const TOUCHY = { consecutive: 1, open_for: "1h", max_open_for: "1h" };
/** What the schema has to say about a good request without this field. */
const REQUIRED: Partial<Record<KindEndpoint, string>> = {
  embeddings: "input",
  rerank: "query",
  speech: "voice",
  transcription: "file",
  image: "prompt",
};

/** One request that is wrong in every way; each step mends one, and meets the next check (decisions 4). */
test.each(KINDS)("the order of checks of %s", async (endpoint) => {
  const { model } = PLACES[endpoint];
  const gateway = await TestGateway.start({
    chains: { ...KIND_CHAINS, ...chains("-open", ["?status=500"]) },
    config: {
      upstreams: { [`${model.slice(6)}-open-1`]: { breaker: TOUCHY } },
      tiers: {
        NoAccess: { access: [], limits: closed },
        NoDay: { access: "all", limits: closed },
        NoHour: { access: "all", limits: { ...closed, day: 9 } },
        NoMinute: { access: "all", limits: { ...closed, day: 9, hour: 9 } },
        NoStreams: { access: "all", limits: { ...closed, day: 9, hour: 9, minute: 9 } },
      },
    },
  });
  const ask =
    (tier: string, credits: string, changes: Json = {}, sent: Sent = {}) =>
    async () => {
      const user = await gateway.user({ tier, credits });
      return openKind(gateway, user, endpoint, { model: `${model}-open`, ...changes }, sent).whole();
    };
  expect((await ask("Max", "10")()).status).toBe(502);
  const body = "x".repeat(300_000);
  const html = { "content-type": "text/html" };
  const form = endpoint === "transcription";
  const required = REQUIRED[endpoint]!;
  const other = endpoint === "image" ? "404 Model not found" : "400 Invalid model: 'route/one'";
  const steps: readonly (readonly [string, () => ReturnType<ReturnType<typeof ask>>])[] = [
    ["401 Authentication required", ask("NoAccess", "0", {}, { headers: { authorization: "", ...html }, body })],
    ["401 Invalid API key", ask("NoAccess", "0", {}, { headers: { "x-api-key": "rk_", ...html }, body })],
    [
      `415 Content-Type must be ${form ? "multipart/form-data" : "application/json"}`,
      ask("NoAccess", "0", {}, { headers: html, body }),
    ],
    ["413 Request body exceeds the limit of 262144 bytes", ask("NoAccess", "0", {}, { body })],
    [
      `400 Invalid request: / must be ${form ? "a whole multipart/form-data body" : "valid JSON"}`,
      ask("NoAccess", "0", {}, { body: "x" }),
    ],
    [
      `400 Invalid request: /${required} is required`,
      ask("NoAccess", "0", { model: "route/one", [required]: undefined }),
    ],
    ["400 Invalid model: 'route/none'", ask("NoAccess", "0", { model: "route/none" })],
    [other, ask("NoAccess", "0", { model: "route/one" })],
    [`403 Model '${model}-open' is not available on your plan`, ask("NoAccess", "0")],
    ["402 Insufficient credits for this request", ask("NoDay", "0")],
    ["429 Daily request limit exceeded", ask("NoDay", "1")],
    ["429 Hourly request limit exceeded", ask("NoHour", "1")],
    ["429 Per-minute request limit exceeded", ask("NoMinute", "1")],
    // Nothing of these is a stream: their limit is not asked.
    ["503 Circuit breaker open for an upstream", ask("NoStreams", "1")],
  ];
  const seen: string[] = [];
  for (const [, request] of steps) {
    const { status, text } = await request();
    seen.push(`${status} ${messageOf(text)}`);
  }
  expect(seen).toEqual(steps.map(([expected]) => expected));
  expect(gateway.simulator.ledger()).toHaveLength(1);
  await gateway.close();
});

/** Of a text, `{message}`, `{error}` or `{error: {message}}`. */
function messageOf(text: string): string {
  if (!text.startsWith("{")) return text;
  const { message, error } = JSON.parse(text) as { message?: string; error?: string | { message: string } };
  return message ?? (typeof error === "object" ? error.message : (error ?? ""));
}
