import { type Call, invalidRequest, isJson, type Json } from "../../kit/index.ts";
import { list } from "../canonical/json.ts";
import { clientPointer } from "../canonical/report.ts";

/** Units that fitting a schema may come to beyond a few times its weight: what references and unions repeat. */
const MOST_REPEATED_UNITS = 10_000;
/** How often each value of a schema that repeats nothing is looked at, at most. */
const LOOKS = 4;
/** Characters of a text that are as much work as one value. */
const CHARACTERS_A_UNIT = 16;

/**
 * How much work one schema may be, in values looked at. A few hundred kilobytes of references and unions can stand for
 * more than any memory holds: whoever walks a schema pays here, and stops when nothing is left.
 */
export class Work {
  readonly #most: number;
  #done = 0;

  constructor(schema: unknown) {
    this.#most = LOOKS * weightOf(schema) + MOST_REPEATED_UNITS;
  }

  /** Values looked at, for tests. */
  get done(): number {
    return this.#done;
  }

  get over(): boolean {
    return this.#done > this.#most;
  }

  /** @returns whether it may still be done. */
  spend(units: number): boolean {
    this.#done += units;
    return !this.over;
  }
}

/** The values in a value and itself; long texts count as several. */
export function weightOf(value: unknown): number {
  if (typeof value === "string") return 1 + Math.floor(value.length / CHARACTERS_A_UNIT);
  if (Array.isArray(value)) {
    let weight = 1;
    for (const item of value as readonly unknown[]) weight += weightOf(item);
    return weight;
  }
  if (!isJson(value)) return 1;
  let weight = 1;
  for (const name in value) weight += weightOf(value[name]) + Math.floor(name.length / CHARACTERS_A_UNIT);
  return weight;
}

/**
 * Values of all JSON Schemas of one request: fitting them to an upstream walks each a few times. Some 200,000 tokens, which
 * is more than a model reads of tools.
 */
export const MOST_SCHEMA_VALUES = 50_000;

/**
 * The same call.
 * @throws GatewayError 400 naming the schema by which a request comes to more than that.
 */
export function withinSchemaBound<C extends Call>(call: C): C {
  let left = MOST_SCHEMA_VALUES;
  for (const { at, schema } of schemasOf(call.body)) {
    left = leftOf(schema, left);
    if (left < 0) {
      throw invalidRequest(
        clientPointer(call, at),
        `makes it more than ${MOST_SCHEMA_VALUES} values in the JSON schemas of one request`,
      );
    }
  }
  return call;
}

interface Found {
  /** Canonical pointer. */
  readonly at: string;
  readonly schema: unknown;
}

function schemasOf({ tools, response_format: format }: Json): readonly Found[] {
  const found = list(tools).map((tool, index): Found => {
    const described = isJson(tool) ? tool["function"] : undefined;
    const schema = isJson(described) ? described["parameters"] : undefined;
    return { at: `/tools/${index}/function/parameters`, schema };
  });
  const described = isJson(format) ? format["json_schema"] : undefined;
  const schema = isJson(described) ? described["schema"] : undefined;
  return [...found, { at: "/response_format/json_schema/schema", schema }];
}

/** What is left of so many values behind those in the value; stops as soon as it is negative. */
function leftOf(value: unknown, most: number): number {
  if (typeof value !== "object" || value === null) return most;
  let left = most;
  for (const name in value) {
    left = leftOf((value as Json)[name], left - 1);
    if (left < 0) return left;
  }
  return left;
}
