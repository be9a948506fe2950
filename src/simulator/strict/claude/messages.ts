import { type Json, isJson } from "../../../kit/index.ts";
import { SimError } from "../../fields.ts";
import { complaintOf } from "../pydantic.ts";
import { objects, type Rule, schemasIn, type StrictRequest } from "../rule.ts";
import type { Shape } from "../shape.ts";
import { BETA_FIELDS, messagesBody } from "./body.ts";
import { CONTENT } from "./content.ts";
import { type ClaudeRequest, claudeSchemaProblem, modelProblem, SOURCES } from "./models.ts";
import { TURNS } from "./turns.ts";

/** Bodies larger than that are refused whatever they hold: https://platform.claude.com/docs/en/api/errors#request-size-limits */
const MAXIMUM_BODY_BYTES = 32 * 1024 * 1024;
const MAXIMUM_STRICT_TOOLS = 20;
const MAXIMUM_OPTIONAL_PARAMETERS = 24;
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Bodies as a place knows them. */
export function formRule(shape: Shape, source: string): Rule {
  return {
    source,
    refuse: ({ body }) => {
      const complaint = complaintOf(shape, body);
      return complaint && new SimError(400, `${complaint.loc.join(".")}: ${complaint.msg}`);
    },
  };
}

const MODEL_RULES: readonly Rule[] = [
  {
    source:
      "https://github.com/anthropics/claude-code/issues/40075, https://github.com/goruck/home-generative-agent/issues/585",
    refuse: ({ body }) => {
      for (const [index, { input_schema: schema }] of objects(body["tools"]).entries()) {
        if (!isJson(schema)) continue;
        const at = `tools.${index}.custom.input_schema`;
        if (["oneOf", "allOf", "anyOf"].some((name) => schema[name] !== undefined))
          return new SimError(400, `${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
        const names = isJson(schema["properties"]) ? Object.keys(schema["properties"]) : [];
        if (names.some((name) => !PROPERTY.test(name)))
          return new SimError(400, `${at}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`);
      }
      return undefined;
    },
  },
  {
    source: SOURCES,
    refuse: ({ model, body }) => {
      const problem = modelProblem(model, askedOfMessages(body));
      return problem === undefined ? undefined : new SimError(400, problem);
    },
  },
  {
    source:
      "https://github.com/anthropics/claude-code/issues/61412, https://docs.rs/gproxy-transform/2.6.1/src/gproxy_transform/transform/common/claude_mid_conv_system.rs.html (which models)",
    models: /claude-(?:[123]|instant|(?:sonnet|haiku)-4|opus-4(?!-[89])|sonnet-5(?!-\d))/,
    refuse: ({ body }) =>
      objects(body["messages"]).some(({ role }) => role === "system")
        ? new SimError(400, "role 'system' is not supported on this model")
        : undefined,
  },
  {
    source:
      "https://platform.claude.com/docs/en/build-with-claude/structured-outputs#feature-compatibility (the wording of the page)",
    refuse: ({ body }) => {
      if (!isJson(askedOfMessages(body).schema)) return undefined;
      if (documentsOf(body).some(citing))
        return new SimError(400, "output_config.format: JSON outputs are not compatible with citations");
      return objects(body["messages"]).at(-1)?.["role"] === "assistant"
        ? new SimError(400, "output_config.format: JSON outputs are not compatible with message prefilling")
        : undefined;
    },
  },
  {
    source: "https://platform.claude.com/docs/en/build-with-claude/citations (all or none; the wording of the page)",
    refuse: ({ body }) => {
      const documents = documentsOf(body);
      return documents.some(citing) && !documents.every(citing)
        ? new SimError(400, "messages: citations must be enabled on all or none of the documents within a request")
        : undefined;
    },
  },
  {
    source:
      "https://platform.claude.com/docs/en/build-with-claude/extended-thinking#feature-compatibility, https://github.com/n8n-io/n8n/issues/14288 (before it was 0.95)",
    refuse: ({ body: { thinking, top_p: topP } }) =>
      isJson(thinking) && thinking["type"] === "enabled" && typeof topP === "number" && topP < 0.95
        ? new SimError(400, "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.")
        : undefined,
  },
  {
    source:
      "https://github.com/elizaOS/eliza/pull/16516 (20 and 24), https://platform.claude.com/docs/en/build-with-claude/structured-outputs#schema-complexity-limits, https://github.com/CherryHQ/cherry-studio/pull/18179 (wording)",
    refuse: ({ body }) => {
      const strict = objects(body["tools"]).filter((tool) => tool["strict"] === true);
      const optional = strict.reduce((sum, tool) => sum + optionalIn(tool["input_schema"]), 0);
      return strict.length > MAXIMUM_STRICT_TOOLS || optional > MAXIMUM_OPTIONAL_PARAMETERS
        ? new SimError(
            400,
            "Schema is too complex for compilation. Try reducing the number of tools or simplifying tool schemas.",
          )
        : undefined;
    },
  },
  {
    source:
      "https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations (strict tools)",
    refuse: ({ body }) => {
      for (const [index, { strict, input_schema: schema }] of objects(body["tools"]).entries()) {
        const problem = strict === true ? claudeSchemaProblem(schema) : undefined;
        if (problem !== undefined) return new SimError(400, `tools.${index}.custom: ${problem}`);
      }
      return undefined;
    },
  },
];

/** What is refused wherever the format is served. */
export const SHARED: readonly Rule[] = [...CONTENT, ...TURNS, ...MODEL_RULES];

export const ANTHROPIC: readonly Rule[] = [
  {
    source: "https://platform.claude.com/docs/en/api/errors#request-size-limits",
    refuse: ({ body }) =>
      Buffer.byteLength(JSON.stringify(body)) > MAXIMUM_BODY_BYTES
        ? new SimError(413, "Request exceeds the maximum size")
        : undefined,
  },
  {
    source:
      "https://github.com/anthropics/claude-code/issues/14135, @anthropic-ai/sdk resources/beta/beta.d.ts AnthropicBeta",
    refuse: betaless,
  },
  formRule(
    messagesBody(""),
    "https://github.com/anthropics/claude-code/issues/4378, https://github.com/caozhiyuan/copilot-api/issues/145; fields: @anthropic-ai/sdk resources/beta/messages/messages.d.ts",
  ),
  ...SHARED,
];

/** A field of a beta whose header is not there is not known. */
export function betaless({ body, betas = [] }: StrictRequest): SimError | undefined {
  const name = Object.keys(BETA_FIELDS).find(
    (field) =>
      body[field] !== undefined &&
      !BETA_FIELDS[field]?.split(" ").some((prefix) => betas.some((beta) => beta.startsWith(prefix))),
  );
  return name === undefined ? undefined : new SimError(400, `${name}: Extra inputs are not permitted`);
}

function documentsOf({ messages }: Json): readonly Json[] {
  return objects(messages)
    .flatMap(({ content }) => objects(content).flatMap((block) => [block, ...objects(block["content"])]))
    .filter(({ type }) => type === "document");
}

function citing({ citations }: Json): boolean {
  return isJson(citations) && citations["enabled"] === true;
}

/** Properties that are not required, at every depth. */
function optionalIn(schema: unknown): number {
  let sum = 0;
  for (const {
    schema: { properties, required },
  } of schemasIn(schema)) {
    const needed: readonly unknown[] = Array.isArray(required) ? required : [];
    if (isJson(properties)) sum += Object.keys(properties).filter((name) => !needed.includes(name)).length;
  }
  return sum;
}

function askedOfMessages(body: Json): ClaudeRequest {
  const { output_config: output, output_format: before, tool_choice: choice } = body;
  const format = isJson(output) && isJson(output["format"]) ? output["format"] : before;
  const last = objects(body["messages"]).at(-1);
  const content = last?.["content"];
  return {
    maximum: body["max_tokens"],
    temperature: body["temperature"],
    topP: body["top_p"],
    topK: body["top_k"],
    thinking: body["thinking"],
    effort: isJson(output) ? output["effort"] : undefined,
    schema: isJson(format) ? format["schema"] : undefined,
    forcesTool: isJson(choice) && (choice["type"] === "any" || choice["type"] === "tool"),
    last: last && {
      role: last["role"],
      text: typeof content === "string" ? content : objects(content).at(-1)?.["text"],
    },
  };
}
