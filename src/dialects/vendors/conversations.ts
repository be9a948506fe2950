import type { PartKind } from "../canonical/contents.ts";
import { familyRules } from "./families.ts";
import type { Entry, RuledVendor, Rules } from "./types.ts";

/*
 * What conversations may be, by vendor and model: in which order roles stand, how a conversation that ends with the
 * assistant goes on, what contents hold, which marks of caches are taken. What else a request may ask is in `makers.ts`,
 * `hosts.ts` and `openai.ts`.
 */

const parts = (...kinds: readonly PartKind[]): ReadonlySet<PartKind> => new Set(kinds);
/** Formats of audio: SDK openai ChatCompletionContentPartInputAudio. */
const OPENAI_MEDIA: ReadonlySet<string> = new Set(
  "image/png image/jpeg image/gif image/webp audio/wav audio/mp3".split(" "),
);
const TEXT = parts();
const IMAGES = parts("image");

/** Texts alone, in the form that every server takes. */
const TEXT_ALONE: Partial<Rules> = { parts: TEXT, textForm: "string", toolMedia: false };
const WITH_IMAGES: Partial<Rules> = { parts: IMAGES, toolMedia: false };

/** From gpt-5.6 on prefixes are cached up to breakpoints; earlier models refuse to be told of any. */
const WITH_BREAKPOINTS = {
  match: /(?:^|[/:_.-])gpt-(?:5\.(?:[6-9]|[1-9]\d)|[6-9]|[1-9]\d)(?!\d)/i,
  source: [
    "SDK openai resources/chat/completions/completions.d.ts (prompt_cache_options, prompt_cache_breakpoint)",
    "https://openrouter.ai/docs/client-sdks/typescript/models/promptcacheoptions",
  ],
  rules: { cacheMarks: "breakpoints" },
} as const;

type Conversation = Omit<Entry, "hosts" | "responsesApi">;

const openai: Conversation = {
  source: [
    "SDK openai resources/chat/completions/completions.d.ts ChatCompletionMessageParam",
    "https://developers.openai.com/api/docs/guides/pdf-files",
    "https://github.com/vercel/ai/pull/3302",
    "https://developers.openai.com/api/docs/guides/images-vision#image-input-requirements",
  ],
  rules: { parts: parts("image", "file"), mediaTypes: OPENAI_MEDIA, fileUrls: false, toolMedia: false },
  models: [
    {
      match: /(?:^|[/:_.-])gpt-(?:4o-(?:mini-)?)?audio/i,
      source: ["https://github.com/pollinations/pollinations/issues/2588"],
      rules: { parts: parts("audio") },
    },
    {
      match: /(?:^|[/:_.-])(?:gpt-3\.?5|gpt-4(?:-0314|-0613|-32k(?:-\d+)?)?$|o1-(?:mini|preview)|o3-mini)/i,
      source: ["https://github.com/vllm-project/vllm/issues/11629", "https://github.com/browser-use/web-ui/issues/274"],
      rules: { parts: TEXT },
    },
    {
      match: /(?:^|[/:_.-])gpt-4-(?:turbo|vision|1106|0125)/i,
      source: ["https://developers.openai.com/api/docs/models/gpt-4-turbo"],
      rules: { parts: IMAGES },
    },
    WITH_BREAKPOINTS,
  ],
};

export const CONVERSATIONS: Readonly<Partial<Record<RuledVendor, Conversation>>> = {
  generic: {
    source: ["nothing is known, so a chat client's marks travel in their oldest form"],
    rules: { cacheMarks: "marks", clientMarks: "own" },
  },

  openai,
  // A deployment's name may say nothing of its model.
  azure: {
    ...openai,
    rules: { ...openai.rules, parts: parts("image", "file", "audio") },
    models: [
      { match: /(?:^|[/:_.-])(?:gpt-|chatgpt|o\d)/i, source: openai.source, rules: openai.rules ?? {} },
      ...(openai.models ?? []),
    ],
  },

  mistral: {
    source: [
      "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py",
      "https://docs.mistral.ai/capabilities/vision",
      "https://docs.mistral.ai/capabilities/document_ai/document_qna",
      "https://docs.mistral.ai/capabilities/completion/prefix",
    ],
    rules: {
      systemRole: "front",
      alternate: true,
      userFirst: true,
      userAfterTool: false,
      prefill: "prefix",
      emptyContent: false,
      toolMedia: false,
      parts: parts("image", "file"),
      fileUrls: true,
      fileForm: "document_url",
    },
    models: [
      {
        // "Assistant message must have either content or tool_calls, but not both."
        match: /open-|mistral-tiny/,
        source: ["https://github.com/langchain-ai/langchain/issues/21196"],
        rules: { textBesideCalls: false },
      },
      {
        match: /voxtral/,
        source: ["https://docs.mistral.ai/capabilities/audio", "https://github.com/symfony/ai/pull/508"],
        rules: { parts: parts("audio") },
      },
      {
        match:
          /codestral|devstral|mathstral|open-|mistral-(?:tiny|saba|nemo)|mi[sx]tral-[78]|large-24|small-(?:24|2501)|ministral-.*24|magistral-.*250[67]/,
        source: ["https://docs.mistral.ai/getting-started/models/models_overview"],
        rules: { parts: parts("file") },
      },
    ],
  },

  deepseek: {
    source: [
      "https://github.com/1jehuang/jcode/issues/310",
      "https://github.com/BerriAI/litellm/issues/8090",
      "https://api-docs.deepseek.com/guides/chat_prefix_completion",
    ],
    rules: { ...TEXT_ALONE, prefill: "closed" },
    models: [
      {
        // "does not support successive user or assistant messages"; "The first message … must be a user message".
        match: /reasoner|-r1/,
        source: [
          "https://github.com/open-webui/open-webui/issues/9266",
          "https://github.com/ChatGPTNextWeb/NextChat/issues/6343",
        ],
        rules: { alternate: true, userFirst: true },
      },
    ],
    places: [
      {
        match: /\/beta\/?$/,
        source: ["https://api-docs.deepseek.com/guides/chat_prefix_completion"],
        rules: { prefill: "prefix" },
      },
    ],
  },

  groq: {
    source: [
      // "value must be a string", of system messages and of every message to a model without images.
      "https://github.com/OpenHands/OpenHands/issues/4643",
      "https://github.com/vercel/ai/issues/2837",
    ],
    rules: TEXT_ALONE,
    models: [
      {
        match: /llama-4|vision|qwen3\.[5-9]|kimi-k2\.[5-9]/,
        source: ["https://console.groq.com/docs/vision"],
        rules: { parts: IMAGES },
      },
    ],
  },

  openrouter: {
    source: ["https://openrouter.ai/docs/features/multimodal/overview"],
    rules: { fileUrls: true },
    models: [
      {
        match: /anthropic\/|claude/,
        source: ["https://openrouter.ai/docs/features/prompt-caching#anthropic-claude"],
        rules: { cacheMarks: "marks_with_ttl" },
      },
      {
        match: /gemini|qwen/,
        source: ["https://openrouter.ai/docs/features/prompt-caching#google-gemini"],
        rules: { cacheMarks: "marks" },
      },
      WITH_BREAKPOINTS,
    ],
  },

  xai: {
    source: ["https://docs.x.ai/docs/guides/image-understanding", "https://docs.x.ai/docs/models"],
    rules: { ...WITH_IMAGES, mediaTypes: new Set(["image/png", "image/jpeg"]), fileUrls: false },
    models: [
      {
        match: /grok-(?:3|code|beta|2(?!.*vision))/,
        source: ["https://github.com/OpenHands/OpenHands/issues/11831", "https://docs.x.ai/docs/models"],
        rules: TEXT_ALONE,
      },
    ],
  },

  moonshot: {
    source: [
      // "the message at position 1 with role 'assistant' must not be empty"
      "https://github.com/lobehub/lobehub/pull/8419",
      "https://platform.kimi.ai/docs/guide/use-partial-mode-feature-of-kimi-api",
      "https://platform.kimi.ai/docs/guide/use-kimi-vision-model",
    ],
    rules: { ...TEXT_ALONE, emptyContent: false, prefill: "partial" },
    models: [
      {
        match: /kimi-(?:k2\.[5-9]|k[3-9]|latest|for-coding)|vision/,
        source: ["https://platform.kimi.ai/docs/guide/use-kimi-vision-model"],
        rules: { parts: parts("image", "video"), imageUrls: false, textForm: "any" },
      },
    ],
  },

  together: {
    source: ["https://docs.together.ai/reference/chat-completions-1", "https://docs.together.ai/docs/vision-overview"],
    rules: { parts: parts("image", "video", "audio"), toolMedia: false },
  },

  fireworks: {
    source: ["https://docs.fireworks.ai/guides/querying-vision-language-models"],
    rules: WITH_IMAGES,
  },

  cerebras: {
    source: ["https://inference-docs.cerebras.ai/api-reference/chat-completions"],
    rules: TEXT_ALONE,
  },

  perplexity: {
    source: [
      "https://github.com/perplexityai/api-discussion/issues/265",
      "https://docs.perplexity.ai/api-reference/chat-completions-post",
      "https://docs.perplexity.ai/guides/file-attachments",
      "https://app.unpkg.com/@ai-sdk/perplexity@3.0.19/files/src/convert-to-perplexity-messages.ts",
    ],
    rules: {
      systemRole: "front",
      alternate: true,
      userFirst: true,
      userAfterTool: false,
      prefill: "closed",
      toolTurns: false,
      emptyContent: false,
      parts: parts("image", "file"),
      fileUrls: true,
      fileForm: "file_url",
    },
  },

  alibaba: {
    source: [
      "https://www.alibabacloud.com/help/en/model-studio/partial-mode",
      "https://www.alibabacloud.com/help/en/model-studio/context-cache",
      "https://www.alibabacloud.com/help/en/model-studio/vision",
    ],
    rules: { parts: parts("image", "video"), toolMedia: false, prefill: "partial", cacheMarks: "marks" },
    models: [
      {
        match: /omni/,
        source: ["https://www.alibabacloud.com/help/en/model-studio/qwen-omni"],
        rules: { parts: parts("image", "video", "audio") },
      },
      {
        // They think unless told not to, and go on from nothing then.
        match: /thinking|qwq|qvq|qwen3\.[5-9]/,
        source: ["https://www.alibabacloud.com/help/en/model-studio/partial-mode"],
        rules: { prefill: "closed" },
      },
      {
        match: /^(?:deepseek|kimi|glm)/,
        source: ["https://www.alibabacloud.com/help/en/model-studio/models"],
        rules: { ...TEXT_ALONE, prefill: "closed", cacheMarks: "none" },
      },
      {
        match:
          /^(?!.*(?:vl|ocr))(?:qwen-?(?:max|plus|turbo|flash|long|coder|math|mt)|qwen(?:1\.5|2|2\.5|3)-|qwen3-(?:max|coder|next))/,
        source: ["https://www.alibabacloud.com/help/en/model-studio/models"],
        rules: TEXT_ALONE,
      },
    ],
  },

  zai: {
    source: [
      // "messages.content.type 参数非法，取值范围 ['text']"
      "https://github.com/TriDefender/zcode-api/pull/26",
      "https://github.com/CherryHQ/cherry-studio/issues/3291",
      "https://docs.z.ai/api-reference/llm/chat-completion",
    ],
    rules: { ...TEXT_ALONE, userFirst: true, emptyContent: false },
    models: [
      {
        match: /\dv|glm-(?:5\.[3-9]|[6-9])/,
        source: ["https://docs.z.ai/guides/vlm/glm-4.6v", "https://github.com/justrach/codegraff/issues/812"],
        rules: { parts: parts("image", "video"), textForm: "any" },
      },
    ],
  },

  nvidia: {
    source: ["https://docs.nvidia.com/nim/vision-language-models/latest/api-reference.html"],
    rules: { ...WITH_IMAGES, textForm: "string" },
  },

  ollama: {
    source: ["https://docs.ollama.com/api/openai-compatibility"],
    rules: { ...WITH_IMAGES, imageUrls: false },
  },

  vllm: {
    source: [
      "https://docs.vllm.ai/en/latest/features/multimodal_inputs",
      "https://github.com/vllm-project/vllm vllm/entrypoints/chat_utils.py (part types)",
    ],
    rules: { parts: parts("image", "audio", "video"), toolMedia: false },
  },

  lmstudio: {
    source: [
      // "'url' field must be a base64 encoded image."
      "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1120",
      "https://github.com/jakobdylanc/llmcord/issues/126",
    ],
    rules: { ...WITH_IMAGES, imageUrls: false },
  },

  llamacpp: {
    source: ["https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"],
    rules: { parts: parts("image", "audio"), toolMedia: false },
    models: [
      {
        // "Assistant response prefill is incompatible with enable_thinking."
        match: /qwen3|gpt-oss|granite-3/i,
        source: ["https://github.com/ggml-org/llama.cpp/issues/20861"],
        rules: { prefill: "closed" },
      },
    ],
  },
};

/** What a vendor's conversations may be, with one of its models at one of its addresses. */
export function conversationRules(vendor: RuledVendor, model: string, baseUrl: string): Partial<Rules> {
  const { rules, models = [], places = [] } = CONVERSATIONS[vendor] ?? { rules: {} };
  // Two of a model's entries may hold: what it reads, and how it goes on.
  const ofModel = models.filter(({ match }) => match.test(model)).map((entry) => entry.rules);
  const ofPlace = places.filter(({ match }) => match.test(baseUrl)).map((entry) => entry.rules);
  return Object.assign({}, rules, familyRules(vendor, model), ...ofModel, ...ofPlace) as Partial<Rules>;
}
