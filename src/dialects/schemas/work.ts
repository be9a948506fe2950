import { type Call, invalidRequest, isJson, type Json } from "../../kit/index.ts";
import { list } from "../canonical/json.ts";
import { clientPointer } from "../canonical/parameters.ts";

/*
 * How much the schemas of one request may be. Fitting them to an upstream holds the event loop: a value costs about a
 * microsecond each time it is looked at.
 */

/** Values of all JSON Schemas of one request; a hundred tools of coding agents have some 10,000. */
export const MAX_SCHEMA_VALUES = 15_000;
/** As many values as a schema counts for besides its own: its tool is written too, and there may be any number of empty ones. */
export const VALUES_OF_A_TOOL = 4;
/** Values that fitting the schemas of one request may look at beyond `LOOKS_PER_VALUE` at each: what references and unions repeat. */
export const MAX_REPEATED_VALUES = 10_000;
/** How often each value of a schema that repeats nothing is looked at, at most. */
const LOOKS_PER_VALUE = 3;
/** Characters of a text that are as much work as one value. */
const CHARACTERS_PER_VALUE = 16;

/**
 * How much work the schemas of one request may be, in values looked at. A few kilobytes of references and unions can stand
 * for more than any memory holds: whoever walks a schema pays here, and stops when nothing is left. What may be repeated is
 * the request's, not the schema's: thousands of small tools would come to thousands of times as much.
 */
export class Work {
  #repeated = MAX_REPEATED_VALUES;
  /** What is left of the looks at the present schema. */
  #looks = 0;
  #done = 0;

  /** From here on it is this schema that is looked at. */
  begin(schema: unknown): void {
    this.#looks = LOOKS_PER_VALUE * weightOf(schema);
    // The one before may have stopped in the midst of a large value.
    this.#repeated = Math.max(this.#repeated, 0);
  }

  /** Values looked at, for tests. */
  get done(): number {
    return this.#done;
  }

  get over(): boolean {
    return this.#repeated < 0;
  }

  /** @returns whether it may still be done. */
  spend(values: number): boolean {
    this.#done += values;
    this.#looks -= values;
    if (this.#looks < 0) {
      this.#repeated += this.#looks;
      this.#looks = 0;
    }
    return this.#repeated >= 0;
  }
}

/** The values in a value and itself; long texts count as several. */
export function weightOf(value: unknown): number {
  if (typeof value === "string") return 1 + Math.floor(value.length / CHARACTERS_PER_VALUE);
  if (typeof value !== "object" || value === null) return 1;
  let weight = 1;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) weight += weightOf(item);
    return weight;
  }
  for (const name in value) weight += weightOf((value as Json)[name]) + Math.floor(name.length / CHARACTERS_PER_VALUE);
  return weight;
}

/**
 * The same call.
 * @throws GatewayError 400 naming the schema by which a request comes to more than `MAX_SCHEMA_VALUES`.
 */
export function withinSchemaBound<C extends Call>(call: C): C {
  let left = MAX_SCHEMA_VALUES;
  for (const { at, schema } of schemasOf(call.body)) {
    left = leftOf(schema, isJson(schema) ? left - VALUES_OF_A_TOOL : left);
    if (left < 0) {
      throw invalidRequest(
        clientPointer(call, at),
        `makes it more than ${MAX_SCHEMA_VALUES} values in the JSON schemas of one request`,
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
function leftOf(value: unknown, max: number): number {
  if (typeof value !== "object" || value === null) return max;
  let left = max;
  for (const name in value) {
    left = leftOf((value as Json)[name], left - 1);
    if (left < 0) return left;
  }
  return left;
}
