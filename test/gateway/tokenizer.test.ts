import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { createTokenizer, type Tokenizer } from "../../src/gateway/tokenizer.ts";
import { tokensIn } from "../../src/gateway/tokenizer-worker.ts";

const PLAIN = { disallowedSpecial: new Set<string>() };
const MIB = 1024 * 1024;

function tokenizer(): Tokenizer {
  const created = createTokenizer();
  onTestFinished(() => created.close());
  return created;
}

test.each<[string, string]>([
  ["prose", "The quick brown fox, 42 times, jumps over the lazy dog.\n\n".repeat(300)],
  ["code without long runs", 'const value = { "a": [1, 2, 3] };\n'.repeat(300)],
  ["text of special tokens", "<|endoftext|> and <|im_start|>"],
  ["nothing", ""],
])("%s is counted as the vocabulary has it", async (_, text) => {
  expect(await tokenizer().count(text)).toBe(countTokens(text, PLAIN));
});

test("a run without a boundary is miscounted by less than one token in a hundred", () => {
  const letters = fc.array(fc.constantFrom(...Array.from("abcdefghijklmnopqrstuvwxyz漢字かな😀")), {
    minLength: 1500,
    maxLength: 2500,
  });
  fc.assert(
    fc.property(letters, (run) => {
      const due = countTokens(run.join(""), PLAIN);
      expect(Math.abs(tokensIn(run.join("")) - due)).toBeLessThanOrEqual(due / 100);
    }),
    { numRuns: Math.min(1_000, Number(process.env["NUM_RUNS"] ?? 30)) },
  );
});

test.each<[string, string]>([
  ["letters", "a".repeat(MIB)],
  [
    "ideographs",
    Array.from({ length: MIB }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000))).join(""),
  ],
  ["blanks", " ".repeat(MIB)],
  ["halves of surrogate pairs", "\ud800".repeat(MIB)],
])("a run of a million %s is counted while the event loop goes on", async (_, text) => {
  const counter = tokenizer();
  await counter.count("warm");
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 5);
  const began = performance.now();
  expect(await counter.count(text)).toBeGreaterThan(0);
  clearInterval(timer);
  const took = performance.now() - began;
  // Counted on the loop there would be none; on a busy machine they come late.
  expect(turns).toBeGreaterThan(Math.min(3, took / 5 / 4 - 2));
});

test("what waits is bounded: clients' questions get half of the room, and it is free again afterwards", async () => {
  const counter = tokenizer();
  const large = "word ".repeat((12 * MIB) / 5);
  const first = counter.countForClient(large);
  await expect(counter.countForClient(large)).rejects.toMatchObject({ code: "OVERLOADED", status: 503 });
  const second = counter.count(large);
  await expect(counter.count(large)).rejects.toMatchObject({ code: "OVERLOADED" });
  expect(await first).toBe(await second);
  expect(await counter.countForClient("hello")).toBe(1);
});

test("after it was closed what waits fails instead of hanging", async () => {
  const counter = tokenizer();
  const waiting = counter.count("word ".repeat(MIB)).catch(String);
  await counter.close();
  expect(await waiting).toBe("Error: the tokenizer ended");
});
