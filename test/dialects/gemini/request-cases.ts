import type { Json } from "../../../src/kit/index.ts";

/** A body's fields beside `model` and `messages`, and what of them goes out. */
export interface RequestCase {
  readonly about: string;
  readonly body: Json;
  /** Left out: a 2.5 Flash. */
  readonly model?: string;
  /** Beside `contents`. */
  readonly sends: Json;
  /** Left out: nothing. */
  readonly dropped?: readonly string[];
}

const config = (generationConfig: Json): Json => ({ generationConfig });
const thinking = (thinkingConfig: Json): Json => config({ thinkingConfig });
const PRO_25 = "gemini-2.5-pro";
const LITE_25 = "gemini-2.5-flash-lite";
const FLASH_3 = "gemini-3-flash-preview";
const PRO_3 = "gemini-3-pro-preview";
const PRO_31 = "gemini-3.1-pro";

export const SAMPLING: readonly RequestCase[] = [
  { about: "nothing", body: {}, sends: {} },
  {
    about: "every number, under Gemini's names",
    body: {
      temperature: 0,
      top_p: 0.9,
      top_k: 40,
      max_tokens: 10,
      seed: -7,
      n: 2,
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
    },
    sends: config({
      temperature: 0,
      topP: 0.9,
      topK: 40,
      maxOutputTokens: 10,
      seed: -7,
      candidateCount: 2,
      frequencyPenalty: 0.5,
      presencePenalty: -0.5,
    }),
  },
  {
    about: "max_completion_tokens, which wins",
    body: { max_tokens: 10, max_completion_tokens: 20 },
    sends: config({ maxOutputTokens: 20 }),
  },
  {
    about: "what asks for nothing: neither sent nor missed",
    body: {
      n: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
      logprobs: false,
      stop: null,
      seed: null,
      tools: [],
      store: false,
      stream_options: { include_usage: true },
      service_tier: "auto",
      parallel_tool_calls: true,
      modalities: ["text"],
      response_format: { type: "text" },
      extra_body: {},
    },
    sends: {},
  },
  { about: "a seed beyond 32 bits", body: { seed: 2 ** 31 }, sends: {}, dropped: ["/seed"] },
  { about: "the largest seed", body: { seed: 2 ** 31 - 1 }, sends: config({ seed: 2 ** 31 - 1 }) },
  { about: "one stop", body: { stop: "END" }, sends: config({ stopSequences: ["END"] }) },
  {
    about: "more stops than five, and an empty one",
    body: { stop: ["a", "", "b", "c", "d", "e", "f"] },
    sends: config({ stopSequences: ["a", "b", "c", "d", "e"] }),
    dropped: ["/stop/1", "/stop/6"],
  },
  { about: "an empty stop", body: { stop: "" }, sends: {}, dropped: ["/stop"] },
  {
    about: "logprobs",
    body: { logprobs: true, top_logprobs: 3 },
    sends: config({ responseLogprobs: true, logprobs: 3 }),
  },
  { about: "alternatives without logprobs", body: { top_logprobs: 3 }, sends: {}, dropped: ["/top_logprobs"] },
  {
    about: "logprobs without alternatives",
    body: { logprobs: true, top_logprobs: 0 },
    sends: config({ responseLogprobs: true }),
  },
  {
    about: "a JSON object",
    body: { response_format: { type: "json_object" } },
    sends: config({ responseMimeType: "application/json" }),
  },
  {
    about: "a JSON schema",
    body: {
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "a",
          strict: true,
          description: "d",
          schema: { type: "object", additionalProperties: false },
        },
      },
    },
    sends: config({
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object", additionalProperties: false },
    }),
    dropped: ["/response_format/json_schema/description"],
  },
  {
    about: "a JSON schema that is none",
    body: { response_format: { type: "json_schema" } },
    sends: config({ responseMimeType: "application/json" }),
    dropped: ["/response_format"],
  },
  { about: "a format of tomorrow", body: { response_format: { type: "x" } }, sends: {}, dropped: ["/response_format"] },
  {
    about: "images",
    body: { modalities: ["text", "image"] },
    sends: config({ responseModalities: ["TEXT", "IMAGE"] }),
  },
  {
    about: "audio, which has no place",
    body: { modalities: ["text", "audio"], audio: { voice: "a", format: "mp3" } },
    sends: {},
    dropped: ["/modalities/1", "/audio"],
  },
  { about: "a service tier", body: { service_tier: "flex" }, sends: { serviceTier: "flex" } },
  { about: "the usual service tier", body: { service_tier: "default" }, sends: { serviceTier: "standard" } },
  { about: "another service tier", body: { service_tier: "scale" }, sends: {}, dropped: ["/service_tier"] },
  {
    about: "fields without a place",
    body: {
      user: "u",
      metadata: { a: "b" },
      logit_bias: { 1: 2 },
      verbosity: "low",
      prediction: { type: "content" },
      store: true,
      prompt_cache_key: "k",
      safety_identifier: "s",
      "odd/na~me": 1,
      functions: [{ name: "f" }],
    },
    sends: {},
    dropped: [
      "/user",
      "/metadata",
      "/logit_bias",
      "/verbosity",
      "/prediction",
      "/store",
      "/prompt_cache_key",
      "/safety_identifier",
      "/odd~1na~0me",
      "/functions",
    ],
  },
  {
    about: "what a client says in Gemini's own terms",
    body: {
      reasoning_effort: "low",
      extra_body: {
        google: {
          thinking_config: { thinking_budget: 5, include_thoughts: true },
          safety_settings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
          cached_content: "cachedContents/a",
          media_resolution: "MEDIA_RESOLUTION_LOW",
          response_modalities: ["AUDIO"],
        },
        other: 2,
      },
    },
    sends: {
      generationConfig: {
        thinkingConfig: { thinking_budget: 5, include_thoughts: true },
        mediaResolution: "MEDIA_RESOLUTION_LOW",
      },
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      cachedContent: "cachedContents/a",
    },
    dropped: ["/extra_body/other", "/extra_body/google/response_modalities", "/reasoning_effort"],
  },
  { about: "a field named as a property of objects", body: { valueOf: 1 }, sends: {}, dropped: ["/valueOf"] },
  { about: "an extra_body that is none", body: { extra_body: "x" }, sends: {}, dropped: ["/extra_body"] },
];

const effort = (reasoning_effort: string): Json => ({ reasoning_effort });
const enabled = (budget_tokens: number): Json => ({ thinking: { type: "enabled", budget_tokens } });
const disabled = { thinking: { type: "disabled" } };

export const THINKING: readonly RequestCase[] = [
  ...(
    [
      ["minimal", 1024],
      ["low", 1024],
      ["medium", 8192],
      ["high", 24_576],
      ["xhigh", 24_576],
      ["max", 24_576],
    ] as const
  ).map(([name, thinkingBudget]) => ({
    about: `2.5: ${name}`,
    body: effort(name),
    sends: thinking({ thinkingBudget, includeThoughts: true }),
  })),
  ...(
    [
      [FLASH_3, "minimal", "MINIMAL"],
      [FLASH_3, "low", "LOW"],
      [FLASH_3, "medium", "MEDIUM"],
      [FLASH_3, "max", "HIGH"],
      ["models/gemini-3.5-flash", "medium", "MEDIUM"],
      ["gemini-flash-latest", "low", "LOW"],
      [PRO_3, "minimal", "LOW"],
      [PRO_3, "medium", "HIGH"],
      [PRO_31, "minimal", "LOW"],
      [PRO_31, "medium", "MEDIUM"],
      [PRO_31, "high", "HIGH"],
    ] as const
  ).map(([model, name, thinkingLevel]) => ({
    about: `${model}: ${name}`,
    model,
    body: effort(name),
    sends: thinking({ thinkingLevel, includeThoughts: true }),
  })),
  { about: "2.5 Flash: none", body: effort("none"), sends: thinking({ thinkingBudget: 0 }) },
  { about: "2.5 Flash: disabled", body: disabled, sends: thinking({ thinkingBudget: 0 }) },
  {
    about: "2.5 Pro always thinks: none",
    model: PRO_25,
    body: effort("none"),
    sends: thinking({ thinkingBudget: 128 }),
    dropped: ["/reasoning_effort"],
  },
  {
    about: "3 always thinks: disabled",
    model: FLASH_3,
    body: disabled,
    sends: thinking({ thinkingLevel: "MINIMAL" }),
    dropped: ["/thinking"],
  },
  {
    about: "3 Pro always thinks: none",
    model: PRO_3,
    body: effort("none"),
    sends: thinking({ thinkingLevel: "LOW" }),
    dropped: ["/reasoning_effort"],
  },
  {
    about: "a budget within bounds",
    body: enabled(2000),
    sends: thinking({ thinkingBudget: 2000, includeThoughts: true }),
  },
  {
    about: "a budget above Flash's",
    body: enabled(31_999),
    sends: thinking({ thinkingBudget: 24_576, includeThoughts: true }),
  },
  {
    about: "a budget above Pro's",
    model: PRO_25,
    body: enabled(100_000),
    sends: thinking({ thinkingBudget: 32_768, includeThoughts: true }),
  },
  {
    about: "a budget below Lite's",
    model: LITE_25,
    body: enabled(100),
    sends: thinking({ thinkingBudget: 512, includeThoughts: true }),
  },
  {
    about: "a budget beside an effort",
    model: FLASH_3,
    body: { ...enabled(2000), ...effort("low") },
    sends: thinking({ thinkingBudget: 2000, includeThoughts: true }),
    dropped: ["/reasoning_effort"],
  },
  {
    about: "adaptive, as Claude Code asks",
    model: FLASH_3,
    body: { thinking: { type: "adaptive", display: "omitted" }, ...effort("high") },
    sends: thinking({ thinkingLevel: "HIGH", includeThoughts: false }),
  },
  { about: "adaptive alone", body: { thinking: { type: "adaptive" } }, sends: thinking({ includeThoughts: true }) },
  {
    about: "a kind of thinking of tomorrow",
    body: { thinking: { type: "between_tools" } },
    sends: thinking({ includeThoughts: true }),
    dropped: ["/thinking/type"],
  },
  { about: "an effort of tomorrow", body: effort("ultra"), sends: {}, dropped: ["/reasoning_effort"] },
  {
    about: "an effort named as a property of objects",
    body: effort("constructor"),
    sends: {},
    dropped: ["/reasoning_effort"],
  },
  { about: "a thinking that is none", body: { thinking: true }, sends: {}, dropped: ["/thinking"] },
  {
    about: "a model that does not think",
    model: "gemini-2.0-flash",
    body: { ...enabled(2000), ...effort("low") },
    sends: {},
    dropped: ["/reasoning_effort", "/thinking"],
  },
  { about: "a model that does not think, asked not to", model: "gemma-3-27b-it", body: effort("none"), sends: {} },
  {
    about: "an image model of 2.5",
    model: "gemini-2.5-flash-image",
    body: effort("low"),
    sends: {},
    dropped: ["/reasoning_effort"],
  },
];

const f = (name: string, more: Json = {}): Json => ({ type: "function", function: { name, ...more } });
const declared = (...functionDeclarations: readonly Json[]): Json => ({ tools: [{ functionDeclarations }] });
const calling = (functionCallingConfig: Json): Json => ({ toolConfig: { functionCallingConfig } });

export const TOOLS: readonly RequestCase[] = [
  { about: "a bare function", body: { tools: [f("a")] }, sends: declared({ name: "a" }) },
  {
    about: "all of a function",
    body: {
      tools: [
        { ...f("a", { description: "d", parameters: { type: "object" } }), cache_control: { type: "ephemeral" } },
      ],
    },
    sends: declared({ name: "a", description: "d", parametersJsonSchema: { type: "object" } }),
  },
  {
    about: "fields and kinds of tools without a place",
    body: { tools: [{ ...f("a"), native: { type: "custom", defer_loading: true } }, { type: "web_search" }, "x"] },
    sends: declared({ name: "a" }),
    dropped: ["/tools/0/defer_loading", "/tools/1", "/tools/2"],
  },
  { about: "auto", body: { tools: [f("a")], tool_choice: "auto" }, sends: declared({ name: "a" }) },
  {
    about: "none",
    body: { tools: [f("a")], tool_choice: "none" },
    sends: { ...declared({ name: "a" }), ...calling({ mode: "NONE" }) },
  },
  {
    about: "required",
    body: { tools: [f("a")], tool_choice: "required" },
    sends: { ...declared({ name: "a" }), ...calling({ mode: "ANY" }) },
  },
  {
    about: "one function",
    body: { tools: [f("a"), f("b")], tool_choice: f("b") },
    sends: { ...declared({ name: "a" }, { name: "b" }), ...calling({ mode: "ANY", allowedFunctionNames: ["b"] }) },
  },
  {
    about: "some functions",
    body: {
      tools: [f("a"), f("b")],
      tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [f("a")] } },
    },
    sends: {
      ...declared({ name: "a" }, { name: "b" }),
      ...calling({ mode: "VALIDATED", allowedFunctionNames: ["a"] }),
    },
  },
  {
    about: "strict functions are held to their schemas",
    body: { tools: [f("a", { strict: true })] },
    sends: { ...declared({ name: "a" }), ...calling({ mode: "VALIDATED" }) },
  },
  {
    about: "a choice of tomorrow",
    body: { tools: [f("a")], tool_choice: { type: "x" } },
    sends: declared({ name: "a" }),
    dropped: ["/tool_choice"],
  },
  { about: "a choice without tools", body: { tool_choice: "required" }, sends: {}, dropped: ["/tool_choice"] },
  { about: "no choice without tools", body: { tool_choice: "none", parallel_tool_calls: false }, sends: {} },
  {
    about: "one call at a time",
    body: { tools: [f("a")], parallel_tool_calls: false },
    sends: declared({ name: "a" }),
    dropped: ["/parallel_tool_calls"],
  },
  {
    about: "web search",
    body: { tools: [f("a")], web_search_options: { search_context_size: "low" } },
    sends: { tools: [{ functionDeclarations: [{ name: "a" }] }, { googleSearch: {} }] },
    dropped: ["/web_search_options/search_context_size"],
  },
];
