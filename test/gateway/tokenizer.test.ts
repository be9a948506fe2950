import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { createTokenizer, type Tokenizer } from "../../src/gateway/tokenizer.ts";
import { sliceEnd, tokensIn, Turns } from "../../src/gateway/tokenizer-worker.ts";

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

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** The dearest text to count. */
function lettersAtRandom(length: number): string {
  return Array.from({ length }, (_, at) => LETTERS[(at * 7919 + ((at * at) % 1009)) % LETTERS.length]).join("");
}

test("users take turns: long texts of one hold up no other's, nor a settlement", async () => {
  const counter = tokenizer();
  const done: string[] = [];
  const noted = (name: string, counted: Promise<number>): Promise<unknown> => counted.then(() => done.push(name));
  const long = lettersAtRandom(100_000);
  await Promise.all([
    noted("ann", counter.countForClient(long, "ann")),
    noted("ann again", counter.countForClient(long, "ann")),
    noted("bob", counter.countForClient("hello there", "bob")),
    noted("a long settlement", counter.count(long)),
    noted("a settlement", counter.count("hello there")),
    noted("cid", counter.countForClient("word ".repeat(5_000), "cid")),
  ]);
  expect(done.slice(0, 3).toSorted()).toEqual(["a settlement", "bob", "cid"]);
  expect(done.at(-1)).toBe("ann again");
});

test("any owner waits for one slice of each other owner, however much they ask", () => {
  const owners = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(owners, fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 6 }), (names, sizes) => {
      const turns = new Turns();
      const left = new Map<string, number>();
      let id = 0;
      const ownerOf = new Map<number, string>();
      for (const name of names) {
        for (const size of sizes) {
          turns.add(name, { id, text: "  ".repeat(4_096 * size), userId: name });
          ownerOf.set(id, name);
          left.set(name, (left.get(name) ?? 0) + 1);
          id += 1;
        }
      }
      // All ask the same, so all must be done within one round of each other.
      const order: string[] = [];
      while (!turns.empty) {
        const done = turns.turn();
        if (done !== null) order.push(ownerOf.get(done.id)!);
      }
      for (let at = 0; at < order.length; at += names.length) {
        expect(order.slice(at, at + names.length)).toEqual(names);
      }
      expect(order.length).toBe(names.length * sizes.length);
    }),
    { numRuns: 20 },
  );
});

test("slices end before a word, and count as the whole does", () => {
  const pieces = fc.constantFrom(
    "word",
    " ",
    "  ",
    "\n",
    "\t ",
    "It's",
    "1234567",
    "漢字",
    "😀",
    "...",
    "\u00a0",
    " A",
  );
  fc.assert(
    fc.property(fc.array(pieces, { minLength: 5_000, maxLength: 12_000 }), (parts) => {
      const text = parts.join("");
      let tokens = 0;
      for (let at = 0; at < text.length;) {
        const end = sliceEnd(text, at);
        expect(end).toBeGreaterThan(at);
        tokens += tokensIn(text.slice(at, end));
        at = end;
      }
      expect(tokens).toBe(tokensIn(text));
    }),
    { numRuns: Math.min(500, Number(process.env["NUM_RUNS"] ?? 20)) },
  );
});

test("what waits is bounded: a user has a quarter of the room for clients, and it is free again afterwards", async () => {
  const counter = tokenizer();
  const large = "word ".repeat((12 * MIB) / 5);
  const first = counter.countForClient(large, "ann");
  await expect(counter.countForClient(large, "ann")).rejects.toMatchObject({ code: "OVERLOADED", status: 503 });
  const others = ["bob", "cid"].map((user) => counter.countForClient("hello", user));
  const settlement = counter.count(large);
  const second = counter.count(large);
  await expect(counter.count(large)).rejects.toMatchObject({ code: "OVERLOADED" });
  expect(await Promise.all(others)).toEqual([1, 1]);
  await counter.close();
  for (const one of [first, settlement, second]) await expect(one).rejects.toThrow("the tokenizer ended");
  expect(await counter.countForClient("hello", "ann")).toBe(1);
});

test("after it was closed what waits fails instead of hanging", async () => {
  const counter = tokenizer();
  const waiting = counter.count("word ".repeat(MIB)).catch(String);
  await counter.close();
  expect(await waiting).toBe("Error: the tokenizer ended");
});
