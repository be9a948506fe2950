import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json, LedgerEntry } from "../../../../src/kit/index.ts";
import { file, wav } from "../../support/form.ts";
import { TestGateway } from "../../support/in-process.ts";
import { type KindEndpoint, askKind, KIND_CHAINS } from "../../support/kinds.ts";

let gateway: TestGateway;
/** What lacks a count is free. */
let lenient: TestGateway;

beforeAll(async () => {
  gateway = await TestGateway.start({ chains: KIND_CHAINS });
  lenient = await TestGateway.start({ chains: KIND_CHAINS, config: { billing: { outcomes: { no_usage: "free" } } } });
});
afterAll(() => Promise.all([gateway.close(), lenient.close()]));

interface Metered extends LedgerEntry {
  readonly text: string;
}

/** The one entry that a request of a new user leaves behind, with its answer. */
async function metered(endpoint: KindEndpoint, changes: Json, of = gateway): Promise<Metered> {
  const user = await of.user();
  const { status, text } = await askKind(of, user, endpoint, changes);
  expect(status).toBe(200);
  const { ledger } = await of.books(user);
  expect(ledger).toHaveLength(1);
  return { ...ledger[0]!, text };
}

const usageOf = ({ text }: Metered): unknown => (JSON.parse(text) as Json)["usage"];

describe("what the upstream claims", () => {
  test.each<readonly [KindEndpoint, Json, bigint]>([
    ["embeddings", { sim: { usage: { prompt: 1_000_000 } } }, 1_000_000_000n],
    ["embeddings", { sim: { usage: { prompt: 0 } } }, 0n],
    ["transcription", { sim: { usage: { seconds: 2.5 } } }, 2_500_000n],
    ["transcription", { sim: { usage: { seconds: 0 } } }, 0n],
    ["transcription", { sim: { usage: { seconds: 0.0004 } } }, 0n],
    ["transcription", { sim: { usage: { seconds: 604_800 } } }, 604_800_000_000n],
    ["transcription", { response_format: "verbose_json", sim: { usage: { seconds: 61.0015 } } }, 61_002_000n],
  ])("%s %j is charged", async (endpoint, changes, charge) => {
    expect(await metered(endpoint, changes)).toMatchObject({ charge, estimated: false });
  });

  test.each([-1, 1.5, "seven", 1e15, {}])("%j tokens are no count: estimated, and never a credit", async (prompt) => {
    const entry = await metered("embeddings", { input: "three plain words", sim: { usage: { prompt } } });
    expect(entry).toMatchObject({ estimated: true, charge: 3_000n, usage: { prompt: 3, completion: 0 } });
    expect(usageOf(entry)).toEqual({ prompt_tokens: 3, total_tokens: 3 });
  });

  test.each([-1, 604_801, "long", 1e300, {}])("%j seconds are no count: estimated", async (seconds) => {
    const entry = await metered("transcription", { sim: { usage: { seconds } } });
    expect(entry).toMatchObject({ estimated: true, charge: 1_500_000n, usage: { milliseconds: 1_500 } });
  });

  test("images are charged as they come, but never more than were asked for", async () => {
    const rows: readonly (readonly [number | undefined, number, bigint])[] = [
      [3, 1, 20_000_000n],
      [undefined, 5, 20_000_000n],
      [2, 5, 40_000_000n],
    ];
    for (const [n, images, charge] of rows) {
      const entry = await metered("image", { n, sim: { images }, size: "8x8" });
      expect(entry).toMatchObject({ charge, estimated: false, usage: { images: Number(charge / 20_000_000n) } });
      expect((JSON.parse(entry.text) as { data: [] }).data).toHaveLength(images);
    }
  });

  test("tokens that a transcription claims instead of seconds do not make it free", async () => {
    const entry = await metered("transcription", { sim: { usage: { prompt: 7, completion: 5 } } });
    expect(entry).toMatchObject({ estimated: true, charge: 1_500_000n, usage: { prompt: 7, milliseconds: 1_500 } });
  });
});

describe("without a count", () => {
  const none = { sim: { usage: "none" } };

  test.each<readonly [string, KindEndpoint, Json, bigint]>([
    ["tokens are counted by the tokenizer", "embeddings", { input: ["Hello there", "Hello there"] }, 4_000n],
    ["a WAV file has its length", "transcription", { file: file(wav(2_345)) }, 2_345_000n],
    [
      "other files have their size",
      "transcription",
      { file: file(Buffer.alloc(16_001, 1), { fileName: "a.mp3" }) },
      1_001_000n,
    ],
  ])("%s", async (_, endpoint, changes, charge) => {
    const entry = await metered(endpoint, { ...changes, ...none });
    // A newline between the two texts may be a token of its own.
    const slack = endpoint === "embeddings" ? 1_000n : 0n;
    expect(entry.estimated).toBe(true);
    expect(entry.charge).toBeGreaterThanOrEqual(charge);
    expect(entry.charge).toBeLessThanOrEqual(charge + slack);
    const freeOfCharge = await metered(endpoint, { ...changes, ...none }, lenient);
    expect(freeOfCharge).toMatchObject({ charge: 0n, outcome: "served" });
  });

  test.each<KindEndpoint>(["rerank", "speech", "image"])(
    "%s costs what it costs: the request says it all",
    async (endpoint) => {
      const charges = { rerank: 1_000_000n, speech: 70_000n, image: 20_000_000n } as Partial<
        Record<KindEndpoint, bigint>
      >;
      for (const of of [gateway, lenient])
        expect(await metered(endpoint, none, of)).toMatchObject({ charge: charges[endpoint], estimated: false });
    },
  );
});
