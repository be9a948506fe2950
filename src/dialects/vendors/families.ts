import type { ModelEntry, RuledVendor, Rules } from "./types.ts";

/** User and assistant take turns, the user first; results of tools do not count. */
const TURNS: Partial<Rules> = {
  systemRole: "first",
  alternate: true,
  userFirst: true,
  userAfterTool: false,
  prefill: "closed",
};

/** Rules of a model's own chat template, wherever it is served. All that match hold, later ones before earlier ones. */
export const FAMILIES: readonly ModelEntry[] = [
  {
    // "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
    match: /(?:^|[/:_.-])(?:open-)?(?:mi[sx]tral|ministral|magistral|devstral|codestral|mathstral|pixtral)/i,
    source: [
      "https://github.com/vllm-project/vllm/issues/6862",
      "https://github.com/nomic-ai/gpt4all/issues/3273",
      "https://github.com/mcowger/generic-copilot/pull/43",
    ],
    rules: TURNS,
  },
  {
    // "Conversation roles must alternate user/assistant/user/assistant/..."
    match: /(?:^|[/:_.-])(?:gemma(?!-?[4-9](?!b))|llama-?2(?![\d.]))/i,
    source: ["https://github.com/microsoft/autogen/issues/3597", "https://github.com/unslothai/unsloth/issues/334"],
    rules: TURNS,
  },
  {
    // "System role not supported"
    match: /(?:^|[/:_.-])gemma[-:]?(?:[27]b|1\.1|2[-:])/i,
    source: ["https://huggingface.co/google/gemma-2-9b-it/blob/main/tokenizer_config.json (chat_template)"],
    rules: { systemRole: "user" },
  },
  {
    // "System message must be at the beginning."; "No user query found in messages."
    match: /qwen3\.[5-9]/i,
    source: ["https://github.com/ggml-org/llama.cpp/pull/20215"],
    rules: { systemRole: "first", userFirst: true },
  },
  // What reads texts alone. A name that says nothing of its model may be one that sees.
  {
    match:
      /gpt-oss|deepseek(?!.*(?:vl|ocr|janus))|llama-?3(?!\.2|.*vision)|llama-?2(?![\d.])|qwen-?(?:[12]\b|2\.5|3(?!\.[5-9]))(?!.*(?:vl|omni))|qwq|kimi-k2(?!\.[5-9]|p[5-9])|glm-?(?:4(?:[.p]\d)?|5(?:[.p][0-2])?)(?![.\dp]*v)|mixtral|codestral|mathstral|nemotron(?!.*(?:vl|omni))|minimax-m|command-r/i,
    source: [
      "https://github.com/ollama/ollama/issues/17301",
      "https://github.com/OpenCoworkAI/open-cowork/issues/251",
      "https://github.com/huggingface/text-generation-inference/issues/2565",
    ],
    rules: { parts: new Set() },
  },
  {
    match: /(?:^|[/:_.-])phi-?[34](?!.*(?:vision|multimodal))/i,
    source: ["https://huggingface.co/microsoft/phi-4 (inputs: text)"],
    rules: { parts: new Set() },
  },
];

/** Vendors that serve models of others: the rules of a family hold there. */
const SERVES_ALL: ReadonlySet<RuledVendor> = new Set([
  "openrouter",
  "together",
  "fireworks",
  "nvidia",
  "vllm",
  "lmstudio",
  "llamacpp",
  "ollama",
  "generic",
]);

/** What the families of a model say; at a server of which nothing is known every part travels. */
export function familyRules(vendor: RuledVendor, model: string): Partial<Rules> {
  if (!SERVES_ALL.has(vendor)) return {};
  const found = FAMILIES.filter(({ match }) => match.test(model)).map(({ rules }) => rules);
  const rules: Partial<Rules> = Object.assign({}, ...found);
  if (vendor === "generic") return { ...rules, parts: null, prefill: "as_is" };
  // Its templates are its own, and take any order.
  return vendor === "ollama" ? (rules.parts ? { parts: rules.parts } : {}) : rules;
}
