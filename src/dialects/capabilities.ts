import {
  AttemptError,
  type Call,
  type DialectName,
  type Json,
  type Kind,
  type Target,
  type Vendor,
} from "../kit/index.ts";
import { azure } from "./azure/index.ts";
import { bedrock } from "./bedrock/index.ts";
import { isOfCaching } from "./canonical/report.ts";
import { openai } from "./chat/index.ts";
import { cohere } from "./cohere/index.ts";
import type { Codec, Location, UpstreamDialect } from "./dialect.ts";
import { jina, voyage } from "./endpoints/jina-and-voyage.ts";
import { gemini } from "./gemini/index.ts";
import { anthropic } from "./messages/index.ts";
import { deepgram } from "./speech/deepgram.ts";
import { elevenlabs } from "./speech/elevenlabs.ts";

interface Capability {
  /** The kinds of model that upstreams of this dialect serve. */
  readonly kinds: readonly Kind[];
  /** Those of them that this version speaks. */
  readonly served: readonly Kind[];
  /**
   * Whether a name among a model's `features` is dropped on the way to an upstream; never what only the model can know.
   * @param model the upstream's name for it.
   * @param location left out: what any upstream of the dialect loses.
   */
  readonly loses: (kind: Kind, promise: string, model: string, location?: Location) => boolean;
  /** Whether a key may be Google's credentials, which are no key to be sent. */
  readonly takesGoogleCredentials: (location: Location) => boolean;
  /** Who is known to stand there, where that is more than the dialect says; else null. */
  readonly vendor: (location: Location) => Vendor | null;
  /** Whether the upstream's model of that name may write answers of so many tokens: nothing is known that says it does not. */
  readonly writes: (tokens: number, model: string, location: Location) => boolean;
  /** Whether there may be a Responses endpoint. */
  readonly mayHaveResponses: (location: Location) => boolean;
  /** The same for one upstream, found once: what is asked of the result ignores other locations. */
  readonly at: (location: Location) => Capability;
}

/** The dialects this version speaks. */
export const DIALECTS: Partial<Record<DialectName, UpstreamDialect>> = Object.freeze({
  openai,
  anthropic,
  gemini,
  azure,
  bedrock,
  cohere,
  jina,
  voyage,
  elevenlabs,
  deepgram,
});

const KINDS: Readonly<Record<DialectName, readonly Kind[]>> = {
  openai: ["chat", "embedding", "rerank", "speech", "transcription", "image"],
  azure: ["chat", "embedding", "speech", "transcription", "image"],
  anthropic: ["chat"],
  gemini: ["chat", "embedding"],
  bedrock: ["chat"],
  cohere: ["chat", "embedding", "rerank"],
  jina: ["embedding", "rerank"],
  voyage: ["embedding", "rerank"],
  elevenlabs: ["speech", "transcription"],
  deepgram: ["speech", "transcription"],
};

/** What the linker knows about each dialect. */
export const CAPABILITIES: Readonly<Record<DialectName, Capability>> = Object.freeze(
  Object.fromEntries(
    Object.entries(KINDS).map(([name, kinds]) => [name, capabilityOf(DIALECTS[name as DialectName], kinds)]),
  ) as Record<DialectName, Capability>,
);

function capabilityOf(dialect: UpstreamDialect | undefined, kinds: readonly Kind[]): Capability {
  const codecs = dialect?.codecs ?? {};
  return {
    kinds,
    served: kinds.filter((kind) => codecs[kind] !== undefined),
    takesGoogleCredentials: (location) => (dialect?.at?.(location) ?? dialect)?.signing?.by === "google",
    loses(kind, promise, model, location) {
      const { chat } = (location && dialect?.at?.(location).codecs) ?? codecs;
      return kind === "chat" && chat !== undefined && loses(chat, promise, model, dialect?.cachesUnasked === true);
    },
    vendor(location) {
      const vendor = dialect?.at?.(location).vendor ?? "generic";
      return vendor === "generic" ? null : vendor;
    },
    writes(tokens, model, location) {
      const { chat } = dialect?.at?.(location).codecs ?? codecs;
      return chat === undefined || !isBeyond(chat, tokens, model);
    },
    mayHaveResponses: (location) => dialect?.mayHaveResponses?.(location) === true,
    at(location) {
      const there = dialect?.at?.(location) ?? dialect;
      return capabilityOf(there && { ...there, at: () => there }, kinds);
    },
  };
}

/** Words of a model's `features` that are no names of features: what of it must be carried, any one of them. */
const FEATURE_NAMES: Readonly<Record<string, readonly FeatureName[]>> = {
  reasoning: ["reasoning_effort", "thinking_budget"],
  thinking: ["reasoning_effort", "thinking_budget"],
  images: ["vision"],
  pdf: ["documents"],
  files: ["documents"],
  audio_input: ["audio"],
  function_calling: ["tools"],
  json_mode: ["json_object"],
  structured_output: ["json_schema"],
  structured_outputs: ["json_schema"],
  caching: ["prompt_caching"],
};

/**
 * Whether a feature of a chat model is dropped on the way to an upstream: its dialect has no place for it, or its vendor does
 * not take it.
 * @param promise a name among the model's `features`; one that no dialect knows is never dropped.
 * @param model the upstream's name for it.
 */
function loses(codec: Codec, promise: string, model: string, cachesUnasked: boolean): boolean {
  const features = Object.hasOwn(FEATURE_NAMES, promise)
    ? FEATURE_NAMES[promise]!
    : isFeature(promise)
      ? [promise]
      : [];
  return features.length > 0 && features.every((feature) => isDropped(codec, feature, model, cachesUnasked));
}

function isFeature(name: string): name is FeatureName {
  return Object.hasOwn(FEATURES, name);
}

/** @param cachesUnasked a mark of a cache that is dropped is told, and what it asks for is had without. */
function isDropped(codec: Codec, feature: FeatureName, model: string, cachesUnasked: boolean): boolean {
  const dropped = droppedOf(codec, FEATURES[feature].body, model);
  return dropped === null || dropped.some((pointer) => !(cachesUnasked && isOfCaching(pointer)));
}

/** Whether a limit of so many tokens is reported, because the model can write fewer. */
function isBeyond(codec: Codec, tokens: number, model: string): boolean {
  return droppedOf(codec, { ...PLAIN, max_tokens: tokens }, model)?.includes("/max_tokens") === true;
}

/** What the translation of a body reports; null when it cannot be written at all. */
function droppedOf(codec: Codec, body: Json, model: string): readonly string[] | null {
  const call: Call = { kind: "chat", model, stream: false, body, promptBytes: 0, maxOutput: null };
  try {
    return codec.request(call, targetOf(model), "").dropped ?? [];
  } catch (error) {
    if (error instanceof AttemptError) return null;
    throw error;
  }
}

function targetOf(model: string): Target {
  const timeouts = { connect: 0, firstByte: 0, idle: 0, total: 0 };
  return { upstream: "", model, weight: 1, timeouts, contextWindow: null, features: [] };
}

/** Something that a chat request may ask for beyond text, as two canonical bodies. */
interface Feature {
  /** A request that asks for it. */
  readonly body: Json;
  /** The same request without. */
  readonly without: Json;
}

const TEXT = { type: "text", text: "hello" };
/** Within the limit of every model: what is beyond one is reported. */
const PLAIN = { messages: [{ role: "user", content: [TEXT] }], max_tokens: 4_000 };
const LOOKUP = {
  type: "function",
  function: { name: "lookup", parameters: { type: "object", properties: { word: { type: "string" } } } },
};
const WITH_TOOL = { ...PLAIN, tools: [LOOKUP] };
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
  return { without: PLAIN, body: { ...PLAIN, messages: [{ role: "user", content: [TEXT, part] }] } };
}

function field(fields: Json, without: Json = PLAIN): Feature {
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
    without: PLAIN,
    body: { ...PLAIN, messages: [{ role: "user", content: [{ ...TEXT, cache_control: { type: "ephemeral" } }] }] },
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
