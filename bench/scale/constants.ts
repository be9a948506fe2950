import { spread } from "../load/report.ts";
import type { Constants } from "./model.ts";

const COST = { cpu: 0, wire: 0 };

/** What constants look like. */
const SHAPE: Constants = {
  store: {
    operations: { admit: COST, settle: COST, renew: COST, principal: COST, touch: COST, poll: COST },
    memory: { user: 0, caller: 0, reservation: 0, ledgerEntry: 0 },
  },
  gateway: { request: 0, chunk: 0 },
};

/**
 * Constants as `run.ts --json` printed them.
 * @throws Error that names the place of what is wrong, as a JSON pointer.
 */
export function readConstants(text: string): Constants {
  const parsed = parse(text);
  return walk(SHAPE, (path) => {
    const value = at(parsed, ["constants", ...path]);
    if (typeof value !== "number" || !(value > 0) || value === Infinity)
      throw new Error(`/constants/${path.join("/")} is not a number above 0: use what run.ts --json has printed`);
    return value;
  });
}

/** Of each number the median. @param all an odd number of measurements */
export function medianOf<T extends object>(all: readonly T[]): T {
  const [first] = all;
  if (first === undefined) throw new RangeError("a median needs values");
  return walk(first, (path) => spread(all.map((one) => Number(at(one, path)))).median);
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (part, name) => (part && typeof part === "object" ? (part as Record<string, unknown>)[name] : undefined),
    value,
  );
}

/** The same shape with other numbers. */
function walk<T extends object>(
  shape: T,
  number: (path: readonly string[]) => number,
  path: readonly string[] = [],
): T {
  return Object.fromEntries(
    Object.entries(shape).map(([name, part]) => {
      const here = [...path, name];
      return [name, typeof part === "number" ? number(here) : walk(part as object, number, here)];
    }),
  ) as T;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
