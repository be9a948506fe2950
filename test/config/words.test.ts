import { array, assert, constantFrom, property, string, tuple } from "fast-check";
import { expect, test } from "vitest";
import { splitWords } from "../../src/config/references.ts";

test.each([
  ["vault read -field=key secret/ai", ["vault", "read", "-field=key", "secret/ai"]],
  ["  a \t b\n", ["a", "b"]],
  ["a 'two words' \"two words\"", ["a", "two words", "two words"]],
  [`a"b c"'d e'f`, ["ab cd ef"]],
  [`a "it's" 'say "x"'`, ["a", "it's", 'say "x"']],
  [`a "\\"\\\\" "\\n" '\\'`, ["a", '"\\', "\\n", "\\"]],
  ["a\\ b \\'c \\\\", ["a b", "'c", "\\"]],
  ["a '' \"\"", ["a", "", ""]],
  // Nothing of a shell.
  ["a $HOME `x` | b > c; d & *.txt ~ #e", ["a", "$HOME", "`x`", "|", "b", ">", "c;", "d", "&", "*.txt", "~", "#e"]],
  ["", []],
  ["   ", []],
])("%j", (command, words) => {
  expect(splitWords(command)).toEqual(words);
});

test.each(["a 'b", 'a "b', 'a "b\\"', "a \\", "'"])("%j is not closed", (command) => {
  expect(splitWords(command)).toBeNull();
});

/** Those that mean something, to us or to a shell, and others. */
const CHARACTERS = ["a", "é", "🦊", " ", "\t", "\n", "'", '"', "\\", "$", "`", ";", "*", "="];
const quoted = (word: string): string => `'${word.replaceAll("'", `'"'"'`)}'`;
const escaped = (word: string): string => word.replaceAll(/[ \t\r\n'"\\]/g, "\\$&");
const inDoubleQuotes = (word: string): string => `"${word.replaceAll(/["\\]/g, "\\$&")}"`;

test("words come back as they were, however they are quoted", () => {
  const written = constantFrom(quoted, inDoubleQuotes, (word: string) => (word === "" ? "''" : escaped(word)));
  assert(
    property(
      array(tuple(string({ unit: constantFrom(...CHARACTERS), maxLength: 8 }), written), { maxLength: 5 }),
      (all) => {
        const command = all.map(([word, write]) => write(word)).join(" ");
        expect(splitWords(command)).toEqual(all.map(([word]) => word));
      },
    ),
  );
});

test("any text has words, or a quote that is not closed", () => {
  assert(
    property(string({ unit: constantFrom(...CHARACTERS) }), (command) => {
      const words = splitWords(command);
      expect(words === null ? /['"\\]/.test(command) : words.join("").length <= command.length).toBe(true);
    }),
  );
});
