/*
 * What JSON Schemas each provider takes. The sources stand beside each.
 */

/** What JSON Schemas a target takes. */
export interface SchemaRules {
  /** Keywords that are taken, beside those that make up objects, lists and unions; null: every keyword, and compositions as they are. */
  readonly keywords: ReadonlySet<string> | null;
  /** Whether the value of a keyword that is taken is taken too; left out: any. */
  readonly takes?: (keyword: string, value: unknown) => boolean;
  /** `anyOf` is taken; else a union is given up for its only branch beside null, or for anything. */
  readonly unions: boolean;
  /** Every object must refuse properties that it does not name; `implied`: it does so by default. */
  readonly closed: boolean | "implied";
  /** `all`: every property must be required; `some`: at least one must. */
  readonly required: "given" | "all" | "some";
  /** Whether `$ref` is taken: `acyclic` where it does not lead back to itself, `never` not at all. */
  readonly references: "always" | "acyclic" | "never";
  /** The whole must be an object and no union. */
  readonly objectRoot: boolean;
  /** Names that properties of the root may have; any by default. */
  readonly rootNames?: RegExp;
  /** Keywords that the whole may not have beside its properties. */
  readonly rootWithout?: readonly string[];
  /** Lists must say what they hold. */
  readonly listItems?: true;
  /** Dropped constraints are repeated in the description, as the provider's own SDK does. */
  readonly described: boolean;
}

const names = (text: string): ReadonlySet<string> => new Set(text.split(" "));

function isPrimitive(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/** Values of keywords: the formats of texts, and named values. */
function taking(formats: ReadonlySet<string>, minItems: (count: unknown) => boolean = () => true) {
  return (keyword: string, value: unknown): boolean => {
    switch (keyword) {
      case "format":
        return typeof value === "string" && formats.has(value);
      case "enum":
        return Array.isArray(value) && value.length > 0 && value.every(isPrimitive);
      case "const":
        return isPrimitive(value);
      case "minItems":
        return minItems(value);
      default:
        return true;
    }
  };
}

/**
 * Claude's structured output and strict tools, wherever it is served: what its SDKs make of a schema
 * (@anthropic-ai/sdk lib/transform-json-schema.js; `sanitizeJsonSchema` in @ai-sdk/anthropic dist/index.js). `minItems`
 * other than 0 and 1: https://github.com/ghostlobster/memorize-everything/issues/93; `additionalProperties`:
 * https://github.com/BerriAI/litellm/issues/35808.
 */
export const CLAUDE_SCHEMAS: SchemaRules = {
  keywords: names("type title description default enum const format minItems"),
  takes: taking(
    names("date-time time date duration email hostname uri ipv4 ipv6 uuid"),
    (count) => count === 0 || count === 1,
  ),
  unions: true,
  closed: true,
  required: "given",
  references: "acyclic",
  objectRoot: false,
  described: true,
};

/** How many optional properties Claude's structured output is asked for (`MAX_OPTIONAL_PROPERTIES` of @ai-sdk/anthropic). */
export const CLAUDE_MAX_OPTIONAL_PROPERTIES = 10;

/**
 * Tools that are not strict may have any schema, but no union at its root: "input_schema does not support oneOf, allOf, or
 * anyOf at the top level" (https://github.com/anthropics/claude-code/issues/5973). "Property keys should match pattern":
 * https://github.com/anthropics/claude-code/issues/40075.
 */
export const CLAUDE_TOOLS: SchemaRules = {
  keywords: null,
  unions: true,
  closed: false,
  required: "given",
  references: "always",
  objectRoot: true,
  rootNames: /^[a-zA-Z0-9_.-]{1,64}$/,
  described: false,
};

/**
 * OpenAI's tools that are not strict: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the
 * top level", "array schema missing items" (https://github.com/sigoden/aichat/pull/1049).
 */
const OPENAI_TOOLS: SchemaRules = {
  keywords: null,
  unions: true,
  closed: false,
  required: "given",
  references: "always",
  objectRoot: true,
  rootWithout: ["enum", "not"],
  listItems: true,
  described: false,
};

/**
 * OpenAI's `strict: true` (https://platform.openai.com/docs/guides/structured-outputs, supported schemas;
 * `JSON_SCHEMA_UNSUPPORTED_SCHEMA_KEYWORDS` and `toStrictJsonSchema` of openai lib/transform.js).
 */
export const STRICT_SCHEMAS: SchemaRules = {
  keywords: names(
    "type title description default examples enum const format pattern minLength maxLength minimum maximum " +
      "exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems",
  ),
  takes: taking(names("date-time time date duration email hostname ipv4 ipv6 uuid")),
  unions: true,
  closed: true,
  required: "all",
  references: "always",
  objectRoot: true,
  described: false,
};

/** Keywords that every vendor with structured output takes. */
const COMMON = names("type title description enum const additionalProperties");

/** Whose schemas they are, and what they may have beyond the common keywords (the table of vendors). */
export interface VendorSchemas {
  readonly vendor: string;
  /** null: any. */
  readonly schemaKeywords: readonly string[] | null;
}

/**
 * null for a vendor that takes any schema; OpenAI's own takes any answer's unless it is to be followed strictly.
 * @param of an answer's schema, or a tool's.
 */
export function vendorSchemas(
  { vendor, schemaKeywords }: VendorSchemas,
  of: "schema" | "parameters",
  strict: boolean,
): SchemaRules | null {
  const isOpenAI = vendor === "openai" || vendor === "azure";
  if (isOpenAI && of === "parameters" && !strict) return OPENAI_TOOLS;
  if (schemaKeywords === null || (of === "parameters" && !strict)) return null;
  if (isOpenAI) return strict ? STRICT_SCHEMAS : null;
  return {
    keywords: COMMON.union(new Set(schemaKeywords)),
    unions: true,
    closed: strict,
    required: strict ? "all" : "given",
    references: strict || schemaKeywords.includes("$ref") ? "always" : "never",
    objectRoot: strict,
    described: false,
  };
}

/**
 * `responseJsonSchema` and `parametersJsonSchema` take every keyword and use a part; two things they refuse: `definitions`,
 * the former name of `$defs`, and fields beside a `$ref` (https://ai.google.dev/api/generate-content, responseJsonSchema).
 */
export const GEMINI_SCHEMAS: SchemaRules = {
  keywords: null,
  unions: true,
  closed: false,
  required: "given",
  references: "always",
  objectRoot: false,
  described: false,
};

/** https://docs.cohere.com/docs/structured-outputs, schema constraints and unsupported schema features; no other fields. */
export const COHERE_SCHEMAS: SchemaRules = {
  keywords: names("type title description enum const pattern format"),
  takes(keyword, value) {
    if (keyword === "pattern") return typeof value === "string" && !/[$^]|\?[=!]/.test(value);
    return taking(names("date-time uuid date time"))(keyword, value);
  },
  unions: false,
  closed: "implied",
  required: "some",
  references: "never",
  objectRoot: true,
  described: false,
};
