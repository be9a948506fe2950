import { fitSchema, type FittedSchema } from "../../../src/dialects/schemas/fit.ts";
import {
  CLAUDE_SCHEMAS,
  CLAUDE_TOOLS,
  COHERE_SCHEMAS,
  GEMINI_SCHEMAS,
  type SchemaRules,
  STRICT_SCHEMAS,
  vendorSchemas,
} from "../../../src/dialects/schemas/rules.ts";
import { Work } from "../../../src/dialects/schemas/work.ts";
import type { Json } from "../../../src/kit/index.ts";

export const RULES: Readonly<Record<string, SchemaRules>> = {
  claude: CLAUDE_SCHEMAS,
  claude_tools: CLAUDE_TOOLS,
  openai_tools: vendorSchemas({ vendor: "openai", schemaKeywords: [] }, "parameters", false)!,
  strict: STRICT_SCHEMAS,
  gemini: GEMINI_SCHEMAS,
  cohere: COHERE_SCHEMAS,
  vendor: vendorSchemas({ vendor: "cerebras", schemaKeywords: ["minimum", "maxLength"] }, "schema", false)!,
  strict_vendor: vendorSchemas({ vendor: "cerebras", schemaKeywords: ["pattern"] }, "schema", true)!,
};

/** Runs of each property; `NUM_RUNS` sets another number. */
export const RUNS = Number(process.env["NUM_RUNS"] ?? 60);

/** The only schema of its request. */
export function fit(schema: Json, rules: SchemaRules): FittedSchema {
  return fitSchema(schema, rules, new Work());
}
