import type { EffortLevel } from "../../kit/index.ts";
import { OPENAI_FIELDS } from "../canonical/parameters.ts";
import { alsoRefused, type Entry, type ModelEntry, type Rules } from "./types.ts";

/** The most output tokens of each model. */
const MODEL_LIST = "https://developers.openai.com/api/docs/models";
const REASONING_GUIDE = "https://developers.openai.com/api/docs/guides/reasoning";
/** `getOpenAILanguageModelCapabilities` and what follows from it in `getArgs`. */
const AI_SDK = "@ai-sdk/openai dist/index.js";

const NO_SAMPLING: ReadonlySet<string> = new Set();
const SAMPLING_WITHOUT_REASONING: ReadonlySet<string> = new Set(["temperature", "top_p", "logprobs"]);
const upTo = (...efforts: readonly EffortLevel[]): readonly EffortLevel[] => efforts;

/** `verbosity` is for the gpt-5 family and what follows; its chat and codex models know the default alone. */
const VERBOSE: Partial<Rules> = { verbosity: true };

/** Reasoning models: `max_tokens`, `stop` and every sampling field are refused. */
const REASONING: Partial<Rules> = {
  outputLimit: "max_completion_tokens",
  maxOutput: 128_000,
  refusedFields: alsoRefused("prediction"),
  stop: 0,
  sampling: NO_SAMPLING,
  samplingWithoutReasoning: NO_SAMPLING,
};

const O_SERIES: Partial<Rules> = { ...REASONING, maxOutput: 100_000, efforts: ["low", "medium", "high"] };

/** From 5.1 on `temperature`, `top_p` and `logprobs` are taken when the effort is `none`. */
const GPT_5_1: Partial<Rules> = {
  ...REASONING,
  ...VERBOSE,
  efforts: upTo("none", "low", "medium", "high"),
  samplingWithoutReasoning: SAMPLING_WITHOUT_REASONING,
};
const GPT_5_2: Partial<Rules> = { ...GPT_5_1, efforts: upTo("none", "low", "medium", "high", "xhigh") };
const GPT_6: Partial<Rules> = {
  ...REASONING,
  ...VERBOSE,
  efforts: upTo("low", "medium", "high", "xhigh", "max"),
  endpoint: "responses_for_tools",
};

/** Where a model's name begins: a fine-tune, a path of a proxy, or an operator's own name may stand before it. */
const model = (pattern: string): RegExp => new RegExp(`(?:^|[/:_.-])${pattern}(?![a-z0-9.])`, "i");

/** The first that matches, so the special ones stand first. */
const MODELS: readonly ModelEntry[] = [
  {
    match: model(String.raw`o1-(?:mini|preview)`),
    source: ["https://portkey.ai/error-library/unsupported-value-error-10543"],
    rules: {
      ...REASONING,
      maxOutput: 32_768,
      developerRole: false,
      systemRole: "user",
      structuredOutput: "never",
      refusedFields: alsoRefused("parallel_tool_calls"),
    },
  },
  {
    match: model(String.raw`(?:o\d+-pro|o\d+(?:-mini)?-deep-research|codex-mini-latest)`),
    source: ["@langchain/openai dist/utils/misc.js", "https://developers.openai.com/api/docs/models/o3-pro"],
    rules: { ...O_SERIES, endpoint: "responses" },
  },
  {
    match: model(String.raw`o1`),
    source: [REASONING_GUIDE, "https://github.com/langchain-ai/langchain/issues/29704"],
    rules: { ...O_SERIES, refusedFields: alsoRefused("prediction", "parallel_tool_calls") },
  },
  {
    match: model(String.raw`o[34](?:-mini)?`),
    source: [REASONING_GUIDE, "https://github.com/evalstate/fast-agent/issues/279"],
    rules: { ...O_SERIES, refusedFields: alsoRefused("prediction", "parallel_tool_calls") },
  },
  {
    match: model(String.raw`gpt-5-chat(?:-latest)?`),
    source: [AI_SDK],
    rules: { maxOutput: 16_384 },
  },
  {
    match: model(String.raw`gpt-5\.\d+-chat(?:-latest)?`),
    source: ["https://github.com/egoist/chatwise-releases/issues/1257"],
    rules: { ...REASONING, maxOutput: 16_384, efforts: upTo("medium") },
  },
  {
    match: model(String.raw`gpt-5-pro`),
    source: ["https://developers.openai.com/api/docs/models/gpt-5-pro"],
    rules: { ...REASONING, ...VERBOSE, efforts: upTo("high"), endpoint: "responses" },
  },
  {
    match: model(String.raw`gpt-5\.\d+-pro`),
    source: ["@langchain/openai dist/utils/misc.js _modelPrefersResponsesAPI", REASONING_GUIDE],
    rules: { ...REASONING, ...VERBOSE, efforts: upTo("medium", "high", "xhigh"), endpoint: "responses" },
  },
  {
    match: model(String.raw`gpt-5(?:\.1)?-codex(?:-mini)?`),
    source: ["https://github.com/RayBytes/ChatMock/pull/80", "@langchain/openai dist/utils/misc.js"],
    rules: { ...REASONING, efforts: upTo("low", "medium", "high"), endpoint: "responses" },
  },
  {
    match: model(String.raw`gpt-5\.\d+-codex(?:-[a-z]+)?`),
    source: ["https://github.com/openai/codex/pull/7449", "https://github.com/RayBytes/ChatMock/pull/101"],
    rules: { ...REASONING, efforts: upTo("low", "medium", "high", "xhigh"), endpoint: "responses" },
  },
  {
    match: model(String.raw`gpt-5`),
    source: [REASONING_GUIDE, "https://github.com/ag2ai/ag2/issues/2008"],
    rules: { ...REASONING, ...VERBOSE, efforts: upTo("minimal", "low", "medium", "high") },
  },
  {
    match: model(String.raw`gpt-5\.1`),
    source: ["https://github.com/openai/openai-agents-python/issues/2089", AI_SDK],
    rules: GPT_5_1,
  },
  {
    match: model(String.raw`gpt-5\.[23]`),
    source: ["https://github.com/numman-ali/opencode-openai-codex-auth/pull/62", AI_SDK],
    rules: GPT_5_2,
  },
  {
    match: model(String.raw`gpt-5\.4`),
    source: ["https://github.com/openai/openai-openapi/issues/541", "https://github.com/RayBytes/ChatMock/pull/101"],
    rules: { ...GPT_5_2, endpoint: "responses_for_tools", reasonsByDefault: false },
  },
  {
    match: model(String.raw`gpt-5\.5`),
    source: ["https://github.com/openai/openai-openapi/issues/541", "https://github.com/RayBytes/ChatMock/pull/101"],
    rules: { ...GPT_5_2, endpoint: "responses_for_tools" },
  },
  {
    match: model(String.raw`gpt-5\.\d+`),
    source: [
      "https://github.com/Marker-Inc-Korea/AutoRAG/issues/1193",
      "https://github.com/openai/openai-openapi/issues/541",
    ],
    rules: {
      ...GPT_5_2,
      efforts: upTo("none", "low", "medium", "high", "xhigh", "max"),
      endpoint: "responses_for_tools",
    },
  },
  {
    match: model(String.raw`gpt-6(?:-sol|-luna|\.1-terra)`),
    source: [AI_SDK],
    rules: { ...GPT_6, efforts: upTo("none", "low", "medium", "high", "xhigh", "max") },
  },
  { match: model(String.raw`gpt-[6-9](?:\.\d+)?`), source: [AI_SDK], rules: GPT_6 },
  {
    match: model(String.raw`gpt-4o(?:-mini)?-search-preview`),
    source: [AI_SDK, "https://github.com/vercel/ai/pull/5647"],
    rules: {
      maxOutput: 16_384,
      sampling: NO_SAMPLING,
      samplingWithoutReasoning: NO_SAMPLING,
      refusedFields: alsoRefused("n"),
    },
  },
  {
    match: model(String.raw`gpt-4\.1(?:-[a-z0-9-]+)?`),
    source: ["https://developers.openai.com/api/docs/models/gpt-4.1"],
    rules: { maxOutput: 32_768 },
  },
  {
    // Before structured output.
    match: model(
      String.raw`(?:gpt-4o-2024-05-13|gpt-4-(?:turbo|0125|1106|vision)(?:-[a-z0-9-]+)?|gpt-3\.?5(?:-[a-z0-9-]+)?)`,
    ),
    source: ["https://developers.openai.com/api/docs/guides/structured-outputs#supported-models", MODEL_LIST],
    rules: { maxOutput: 4_096, structuredOutput: "never" },
  },
  {
    match: model(String.raw`gpt-4(?:-[a-z0-9-]+)?`),
    source: ["https://developers.openai.com/api/docs/guides/structured-outputs#supported-models", MODEL_LIST],
    rules: { maxOutput: 8_192, structuredOutput: "never" },
  },
  {
    match: model(String.raw`(?:gpt-4o|gpt-4\.5|chatgpt-4o|gpt-audio)(?:-[a-z0-9-]+)?`),
    source: [MODEL_LIST],
    rules: { maxOutput: 16_384 },
  },
  {
    match: model(String.raw`computer-use-preview`),
    source: ["https://developers.openai.com/api/docs/models/computer-use-preview"],
    rules: { endpoint: "responses" },
  },
];

const OPENAI: Partial<Rules> = {
  // Those without reasoning take none.
  efforts: [],
  unknownFields: false,
  verbosity: false,
  allowedTools: true,
  openaiForms: true,
  toolTypes: new Set(["custom"]),
  maxTools: 128,
  fields: new Set(OPENAI_FIELDS),
  messageFields: new Set(["name", "refusal", "audio", "function_call"]),
  stop: 4,
  toolName: 64,
  toolNameCharacters: "word",
  user: 64,
  toolCallId: 40,
  schemaKeywords: [
    "pattern",
    "format",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "minItems",
    "maxItems",
  ],
};

export const openai: Entry = {
  source: [
    "SDK openai resources/chat/completions/completions.d.ts",
    "https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas",
    // Four stop sequences.
    "https://github.com/BerriAI/litellm/issues/18921",
    // Tool names of 64 characters.
    "https://github.com/nanbingxyz/5ire/issues/403",
    // `user` of 64 characters.
    "https://github.com/maximhq/bifrost/pull/1000",
    // Ids of tool calls of 40 characters.
    "https://github.com/vercel/ai/issues/8132",
    // 128 tools.
    "https://github.com/vishalmysore/Tools4AI/issues/16",
    // `verbosity` beyond `medium`: https://github.com/google-deepmind/concordia/issues/164
  ],
  hosts: /^(?:[a-z]+\.)?api\.openai\.com$/,
  rules: OPENAI,
  models: MODELS,
};

/**
 * Azure's deployments have names of the operator's making: where one says nothing of the model, what all current models
 * take. A `system` message is what they make of a `developer` one, which older versions of the interface refuse.
 */
export const azure: Entry = {
  source: [
    "https://learn.microsoft.com/azure/ai-foundry/openai/how-to/reasoning",
    "https://learn.microsoft.com/azure/ai-foundry/openai/reference",
    "https://github.com/Portkey-AI/gateway/issues/1062",
  ],
  rules: {
    ...OPENAI,
    outputLimit: "max_completion_tokens",
    developerRole: false,
    fields: new Set([...OPENAI_FIELDS, "data_sources", "enhancements", "user_security_context"]),
  },
  models: [
    ...MODELS.map((entry) => ({
      ...entry,
      rules: { outputLimit: "either" as const, ...entry.rules, developerRole: false },
    })),
    {
      match: model(String.raw`(?:gpt-(?:4|4o|4\.[15]|35-turbo|3\.5-turbo)|chatgpt-4o)(?:-[a-z0-9-]+)?`),
      source: ["https://learn.microsoft.com/azure/ai-foundry/openai/reference"],
      rules: { outputLimit: "either" },
    },
  ],
};
