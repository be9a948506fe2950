import type { Json } from "../kit/index.ts";

/** Something that a chat request may ask for beyond text, as two canonical bodies. */
interface Feature {
  /** A request that asks for it. */
  readonly body: Json;
  /** The same request without. */
  readonly without: Json;
}

const TEXT = { type: "text", text: "hello" };
/** Within the limit of every model: what is beyond one is reported. */
const SAID = { messages: [{ role: "user", content: [TEXT] }], max_tokens: 4_000 };
const LOOKUP = {
  type: "function",
  function: { name: "lookup", parameters: { type: "object", properties: { word: { type: "string" } } } },
};
const WITH_TOOL = { ...SAID, tools: [LOOKUP] };
const SCHEMA = {
  type: "object",
  properties: { word: { type: "string" } },
  required: ["word"],
  additionalProperties: false,
};
const PNG = "data:image/png;base64,iVBORw0KGgo=";
const PDF = "data:application/pdf;base64,JVBERi0xLjQK";

/** @param part beside the text of a message. */
function part(part: Json): Feature {
  return { without: SAID, body: { ...SAID, messages: [{ role: "user", content: [TEXT, part] }] } };
}

function field(fields: Json, without: Json = SAID): Feature {
  return { without, body: { ...without, ...fields } };
}

/** What dialects differ in, by names that a model's `features` may use. */
export const FEATURES = {
  vision: part({ type: "image_url", image_url: { url: PNG } }),
  image_urls: part({ type: "image_url", image_url: { url: "https://media.example/a.png" } }),
  documents: part({ type: "file", file: { filename: "a.pdf", file_data: PDF } }),
  document_urls: part({ type: "file", file: { filename: "a.pdf", file_url: "https://media.example/a.pdf" } }),
  text_documents: part({ type: "file", file: { filename: "a.txt", file_data: "data:text/plain;base64,c2FtcGxl" } }),
  audio: part({ type: "input_audio", input_audio: { data: "UklGRiQA", format: "wav" } }),
  tools: field({ tools: [LOOKUP] }),
  tool_choice: field({ tool_choice: "required" }, WITH_TOOL),
  named_tool_choice: field({ tool_choice: { type: "function", function: { name: "lookup" } } }, WITH_TOOL),
  single_tool_calls: field({ parallel_tool_calls: false }, WITH_TOOL),
  strict_tools: field({ tools: [{ ...LOOKUP, function: { ...LOOKUP.function, strict: true } }] }, WITH_TOOL),
  json_schema: field({ response_format: { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } } }),
  json_object: field({ response_format: { type: "json_object" } }),
  reasoning_effort: field({ reasoning_effort: "high" }),
  thinking_budget: field({ thinking: { type: "enabled", budget_tokens: 2_048 } }),
  prompt_caching: {
    without: SAID,
    body: { ...SAID, messages: [{ role: "user", content: [{ ...TEXT, cache_control: { type: "ephemeral" } }] }] },
  },
  stop: field({ stop: ["HALT"] }),
  seed: field({ seed: 4_711 }),
  logprobs: field({ logprobs: true }),
  choices: field({ n: 2 }),
  penalties: field({ frequency_penalty: 0.5 }),
  logit_bias: field({ logit_bias: { "50256": -100 } }),
  top_k: field({ top_k: 7 }),
} satisfies Readonly<Record<string, Feature>>;

export type FeatureName = keyof typeof FEATURES;
