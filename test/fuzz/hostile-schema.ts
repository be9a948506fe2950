import type { Json } from "../../src/kit/index.ts";
import type { Random } from "../chaos/random.ts";
import { pick } from "./sample.ts";

const DEEPEST = 5;

/** A JSON Schema of a few hundred to a few thousand values: references in circles, unions beside unions, long lists. */
export function hostileSchema(random: Random): Json {
  const names = Array.from({ length: random.between(0, 40) }, (_, index) => `d${index}`);
  const parts = (depth: number): readonly Json[] =>
    Array.from({ length: random.between(1, depth > 1 ? 4 : 40) }, () => part(depth + 1));
  const named = (depth: number): Json => Object.fromEntries(parts(depth).map((schema, index) => [`p${index}`, schema]));
  const part = (depth: number): Json => {
    const kind = random.weighted({
      leaf: 4,
      reference: 4,
      object: depth > DEEPEST ? 0 : 3,
      union: depth > DEEPEST ? 0 : 3,
    });
    switch (kind) {
      case "reference":
        return { $ref: names.length === 0 || random.chance(0.1) ? "#" : `#/$defs/${pick(random, names)}` };
      case "object":
        return { type: "object", properties: named(depth), required: ["p0", "p9"] };
      case "union":
        return { [pick(random, ["anyOf", "oneOf", "allOf"])]: parts(depth), properties: named(depth + 2) };
      case "leaf":
        return random.chance(0.2)
          ? { enum: Array.from({ length: random.between(1, 300) }, (_, index) => index) }
          : { type: pick(random, ["string", "number", "null"]), minLength: random.between(0, 9), title: "t" };
    }
  };
  return { type: "object", ...part(0), $defs: Object.fromEntries(names.map((name) => [name, part(1)])) };
}
