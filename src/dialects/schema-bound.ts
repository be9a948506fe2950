import { type Call, invalidRequest, isJson, type Json } from "../kit/index.ts";
import { list } from "./canonical/json.ts";
import { clientPointer } from "./canonical/report.ts";

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
