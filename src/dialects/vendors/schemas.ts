import { isJson, type Json } from "../../kit/index.ts";
import { fitSchema } from "../json-schema.ts";
import { vendorSchemas } from "../schema-rules.ts";
import type { Rules } from "./types.ts";

export interface Held {
  /** The very same object where the target takes the schema as it is. */
  readonly owner: Json;
  /** JSON pointers into the owner. */
  readonly dropped: readonly string[];
}

/**
 * A `json_schema` or a function with its schema as the target takes it. One that nothing can be held to strictly goes as it
 * is, to be followed as far as the model does by itself.
 */
export function withFittedSchema(owner: Json, name: "schema" | "parameters", target: Rules): Held {
  const { [name]: schema } = owner;
  const strict = owner["strict"] === true;
  const rules = vendorSchemas(target, strict);
  if (rules === null || !isJson(schema)) return { owner, dropped: [] };
  const fitted = fitSchema(schema, rules);
  if (strict && !fitted.shaped) return { owner: { ...owner, strict: false }, dropped: ["/strict"] };
  return {
    owner: fitted.schema === schema ? owner : { ...owner, [name]: fitted.schema },
    dropped: fitted.dropped.map((pointer) => `/${name}${pointer}`),
  };
}
