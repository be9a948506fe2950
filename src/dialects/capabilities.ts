import { AttemptError, type Call, type DialectName, type Kind, type Target, type Vendor } from "../kit/index.ts";
import { azure } from "./azure/index.ts";
import { bedrock } from "./bedrock/index.ts";
import { openai } from "./chat/index.ts";
import { cohere } from "./cohere/index.ts";
import type { Codec, Location, UpstreamDialect } from "./dialect.ts";
import { jina, voyage } from "./endpoints/jina-and-voyage.ts";
import { type FeatureName, FEATURES } from "./features.ts";
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
   * Whether a word of a model's `features` is lost on the way to an upstream; of what only the model can know, never.
   * @param model the upstream's name for it.
   * @param location left out: what any upstream of the dialect loses.
   */
  readonly loses: (kind: Kind, promise: string, model: string, location?: Location) => boolean;
  /** Whether a key may be Google's credentials, which are no key to be sent. */
  readonly takesGoogleCredentials: (location: Location) => boolean;
  /** Who is known to stand there, where that is more than the dialect says; else null. */
  readonly vendor: (location: Location) => Vendor | null;
  /** Whether there may be a Responses endpoint. */
  readonly mayHaveResponses: (location: Location) => boolean;
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
    Object.entries(KINDS).map(([name, kinds]): [string, Capability] => {
      const dialect = DIALECTS[name as DialectName];
      const codecs = dialect?.codecs ?? {};
      return [
        name,
        {
          kinds,
          served: kinds.filter((kind) => codecs[kind] !== undefined),
          takesGoogleCredentials: (location) => (dialect?.at?.(location) ?? dialect)?.signing?.by === "google",
          loses(kind, promise, model, location) {
            const { chat } = (location && dialect?.at?.(location).codecs) ?? codecs;
            return kind === "chat" && chat !== undefined && loses(chat, promise, model);
          },
          vendor(location) {
            const vendor = dialect?.at?.(location).vendor ?? "generic";
            return vendor === "generic" ? null : vendor;
          },
          mayHaveResponses: (location) => dialect?.mayHaveResponses?.(location) === true,
        },
      ];
    }),
  ) as Record<DialectName, Capability>,
);

/** Words of a model's `features` that are no names of features: what of it must be carried, any one of them. */
const WORDS: Readonly<Record<string, readonly FeatureName[]>> = {
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
 * Whether a promise of a chat model is lost on the way to an upstream: its dialect has no place for it, or its vendor does
 * not take it.
 * @param promise a word of the model's `features`; one that no dialect knows is never lost.
 * @param model the upstream's name for it.
 */
function loses(codec: Codec, promise: string, model: string): boolean {
  const wanted = Object.hasOwn(WORDS, promise) ? WORDS[promise]! : isFeature(promise) ? [promise] : [];
  return wanted.length > 0 && wanted.every((feature) => isDropped(codec, feature, model));
}

function isFeature(name: string): name is FeatureName {
  return Object.hasOwn(FEATURES, name);
}

/** Whether the translation reports something of a request for the feature, or cannot write it at all. */
function isDropped(codec: Codec, feature: FeatureName, model: string): boolean {
  const { body } = FEATURES[feature];
  const call: Call = { kind: "chat", model, stream: false, body, promptBytes: 0, maxOutput: null };
  try {
    return (codec.request(call, targetOf(model), "").dropped ?? []).length > 0;
  } catch (error) {
    if (error instanceof AttemptError) return true;
    throw error;
  }
}

function targetOf(model: string): Target {
  const timeouts = { connect: 0, firstByte: 0, idle: 0, total: 0 };
  return { upstream: "", model, weight: 1, timeouts, contextWindow: null, features: [] };
}
