import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import type { Answer } from "../../support/http.ts";
import { TestGateway } from "../../support/in-process.ts";
import { type KindEndpoint, askKind, chains, ENDPOINTS, PLACES } from "../../support/kinds.ts";

const KINDS = ENDPOINTS.filter((endpoint) => endpoint !== "chat");

/** What the first upstream does instead of serving; statuses are classified alike for all kinds: failover.test.ts. */
const FAULTS: Readonly<Record<string, string>> = {
  down: "?status=500",
  timeout: "?first_byte=1h",
  reset: "?reset_after=0",
  html: "?html",
  garbage: "?malformed_after=0",
  error: "?error_first",
};

/** Only where a whole body is waited for, or a body must not be empty. */
const OF_SOME: Readonly<Record<string, { readonly script: string; readonly on: readonly KindEndpoint[] }>> = {
  half: { script: "?reset_after=1", on: ["embeddings", "rerank", "transcription", "image"] },
  short: { script: "?wrong_length", on: ["embeddings", "rerank", "transcription", "image"] },
  stalled: { script: "?stall_after=1", on: ["embeddings", "rerank", "transcription", "image"] },
  silent: { script: "?stall_after=0", on: KINDS },
  empty: { script: "?end_after=0", on: ["speech"] },
};

const CASES = KINDS.flatMap((endpoint) => [
  // Bytes are not looked at: what is announced as audio is taken for audio.
  ...Object.keys(FAULTS)
    .filter((name) => endpoint !== "speech" || name !== "garbage")
    .map((name) => [endpoint, name] as const),
  ...Object.entries(OF_SOME).flatMap(([name, { on }]) => (on.includes(endpoint) ? [[endpoint, name] as const] : [])),
]);

let gateway: TestGateway;
beforeAll(async () => {
  const scripts = {
    ...FAULTS,
    ...Object.fromEntries(Object.entries(OF_SOME).map(([name, { script }]) => [name, script])),
  };
  const all = Object.entries(scripts).map(([name, script]) => chains(`-${name}`, [script, "-"]));
  const patience = { timeouts: { first_byte: "150ms", idle: "150ms", total: "250ms" } };
  const slow = ["timeout", "stalled", "silent"].flatMap((name) =>
    KINDS.map((endpoint) => [`${PLACES[endpoint].model.slice(6)}-${name}-1`, patience]),
  );
  gateway = await TestGateway.start({
    chains: Object.assign({}, ...all) as ReturnType<typeof chains>,
    config: { upstreams: Object.fromEntries(slow) },
  });
});
afterAll(() => gateway.close());

describe("an upstream that cannot serve is passed over, whatever it does", () => {
  test.each(CASES)("%s: %s", async (endpoint, name) => {
    const user = await gateway.user();
    const model = `${PLACES[endpoint].model}-${name}`;
    const headers = { "x-request-id": `over-${endpoint}-${name}` };
    const answer = await askKind(gateway, user, endpoint, { model }, { headers });
    expect([answer.status, answer.whole]).toEqual([200, true]);
    expect(namedIn(endpoint, answer)).toEqual(namesNobody(endpoint) ? null : [model, `${model.slice(6)}-2`]);
    const asked = gateway.simulator.ledger().filter(({ requestId }) => requestId === headers["x-request-id"]);
    expect(asked).toHaveLength(2);
    // Both were sent the same, the file of a transcription too.
    const [first, second] = asked;
    expect(first!.requestBytes).toBe(second!.requestBytes);
    expect(first!.upload).toEqual(second!.upload);
    const { ledger, used } = await gateway.books(user);
    expect(ledger).toMatchObject([{ outcome: "served", upstream: `${model.slice(6)}-2`, estimated: false }]);
    expect(ledger[0]!.charge).toBe(chargeOf(endpoint));
    expect([used.hour, used.minute]).toEqual([1, 1]);
  });
});

/** Audio, and the specification's transcript. */
function namesNobody(endpoint: KindEndpoint): boolean {
  return endpoint === "speech" || endpoint === "transcription";
}

/** Model and provider. */
function namedIn(endpoint: KindEndpoint, { text }: Answer): readonly unknown[] | null {
  if (namesNobody(endpoint)) return null;
  const { model, provider } = JSON.parse(text) as Json;
  return [model, provider];
}

/** Of the good request, by the prices of `chainConfig`. */
function chargeOf(endpoint: KindEndpoint): bigint {
  const charges = {
    embeddings: 3_000n,
    rerank: 1_000_000n,
    speech: 70_000n,
    transcription: 1_500_000n,
    image: 20_000_000n,
  };
  return charges[endpoint as keyof typeof charges];
}

describe("retries of one upstream", () => {
  let retried: TestGateway;
  beforeAll(async () => {
    retried = await TestGateway.start({
      chains: Object.fromEntries(
        KINDS.map((endpoint) => {
          const { kind, model } = PLACES[endpoint];
          return [model, { kind, scripts: [`?status=503&fail_times=2&name=${endpoint}`] }];
        }),
      ),
      config: { defaults: { upstream: { retries: { attempts: 3, min_delay: "1ms", max_delay: "2ms" } } } },
    });
  });
  afterAll(() => retried.close());

  test.each(KINDS)("%s: send everything again, and charge once", async (endpoint) => {
    const user = await retried.user();
    const before = retried.simulator.ledger().length;
    expect((await askKind(retried, user, endpoint)).status).toBe(200);
    const asked = retried.simulator.ledger().slice(before);
    expect(asked.map(({ status }) => status)).toEqual([503, 503, 200]);
    expect(new Set(asked.map(({ requestBytes }) => requestBytes)).size).toBe(1);
    expect(new Set(asked.map(({ upload }) => upload?.sha256)).size).toBe(1);
    const { ledger } = await retried.books(user);
    expect(ledger.map(({ charge }) => charge)).toEqual([chargeOf(endpoint)]);
  });
});
