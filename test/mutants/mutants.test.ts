import { expect, test } from "vitest";
import { functionsAround, mutantsOf, pick } from "./mutants.ts";

const SOURCE = `import { a } from "./a === b.ts";
/** A note: 3 < 4. */
export function less(x: number): boolean {
  // x === 1
  if (x === 10 && "x < 1") return;
  note(x);
  return x < 10;
}
interface Limits {
  readonly most: 5;
}
`;

test("mistakes are made in code: not in comments, texts, imports or types", () => {
  const made = mutantsOf("less.ts", SOURCE).map(({ line, from, to }) => `${line}: ${from.trim()} -> ${to.trim()}`);
  expect(made.sort()).toEqual(
    [
      "5: === -> !==",
      "5: && -> ||",
      "5: 10 -> 11",
      '5: if (x === 10 && "x < 1") return; -> ;',
      "6: note(x); -> ;",
      "7: 10 -> 11",
      "7: < -> <=",
    ].sort(),
  );
  for (const { text } of mutantsOf("less.ts", SOURCE)) expect(text).not.toBe(SOURCE);
});

test("a seed chooses the same again, each place once", () => {
  const places = Array.from({ length: 100 }, (_, index) => index);
  expect(pick(places, 30, 7)).toEqual(pick(places, 30, 7));
  expect(pick(places, 30, 7)).not.toEqual(pick(places, 30, 8));
  expect(new Set(pick(places, 200, 7)).size).toBe(100);
});

test("a place is in the functions around it, the innermost first", () => {
  const text = `export class Health {
  #tried(
    ok: boolean,
  ): void {
    if (ok) {
      note(ok);
    }
  }
}

function fresh(at: number): boolean {
  return list.some((one) => {
    return one > at;
  });
}
`;
  expect(functionsAround(text, 6)).toEqual(["#tried"]);
  expect(functionsAround(text, 13)).toEqual(["fresh"]);
  expect(functionsAround(text, 1)).toEqual([]);
});
