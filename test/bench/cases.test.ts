import { expect, test } from "vitest";
import {
  admitAndSettle,
  admitAndSettleOnFile,
  CASES,
  compileConfig,
  relayStream,
  touched,
  unchanged,
  USER,
} from "../../bench/cases.ts";
import { CHARGE, CHUNKS, CREDITS, PADDED_STREAM, STREAM, STREAM_TEXT } from "../../bench/input.ts";

test("every case has a name of its own and runs", async () => {
  expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
  for (const { prepare } of CASES) {
    const prepared = await prepare();
    await prepared.run();
    await prepared.close();
  }
});

test("the shipped configuration compiles to the whole catalogue", async () => {
  const { ok, snapshot, diagnostics } = await compileConfig().run();
  expect({ ok, diagnostics }).toEqual({ ok: true, diagnostics: [] });
  const kinds = Object.values(snapshot?.models ?? {}).map(({ kind }) => kind);
  const counts = Object.fromEntries(
    [...new Set(kinds)].map((kind) => [kind, kinds.filter((other) => other === kind).length]),
  );
  expect(counts).toEqual({ chat: 25, embedding: 3, rerank: 1, speech: 4, transcription: 4, image: 4 });
});

test.each([
  ["memory", 1, () => admitAndSettle("memory:", 1)],
  ["a file", 1, () => admitAndSettleOnFile(1)],
  ["a file, 64 at once", 64, () => admitAndSettleOnFile(64)],
])("admit and settle on %s charges every request once and holds nothing", async (_, atOnce, prepare) => {
  const { run, store, close } = await prepare();
  for (let index = 0; index < 3; index++) await run();
  const user = await store.findUser(USER);
  expect(user).toMatchObject({ held: 0n, granted: CREDITS, balance: CREDITS - CHARGE * BigInt(3 * atOnce) });
  expect(await store.running(USER)).toEqual({ requests: 0, streams: 0, held: 0n });
  expect((await store.ledger(USER)).map((entry) => entry.charge)).toEqual(Array(3 * atOnce).fill(CHARGE));
  await close();
});

test.each([
  ["as it came", unchanged, STREAM],
  ["with padding", unchanged, PADDED_STREAM],
  ["touched by a plugin", touched, STREAM],
])("a stream %s has the whole text, the route's name and no usage", (_, change, stream) => {
  const written = relayStream(change, stream).run();
  expect(written.endsWith("\n\ndata: [DONE]\n\n")).toBe(true);
  const chunks = payloadsOf(written) as Record<string, unknown>[];
  expect(chunks.length).toBe(CHUNKS + 2);
  expect(new Set(chunks.map((chunk) => chunk["model"]))).toEqual(new Set(["route/bench"]));
  expect(chunks.some((chunk) => "usage" in chunk)).toBe(false);
  const deltas = chunks.flatMap((chunk) => chunk["choices"] as { delta: { content?: string } }[]);
  expect(deltas.map(({ delta }) => delta.content ?? "").join("")).toBe(STREAM_TEXT);
});

test.each([
  ["plain", STREAM],
  ["padded", PADDED_STREAM],
])("both ways of relaying a %s stream write the same", (_, stream) => {
  expect(payloadsOf(relayStream(touched, stream).run())).toEqual(payloadsOf(relayStream(unchanged, stream).run()));
});

function payloadsOf(written: string): readonly unknown[] {
  const blocks = written.split("\n\n").filter((block) => block.includes("{"));
  return blocks.map((block) => JSON.parse(block.slice("data: ".length)) as unknown);
}
