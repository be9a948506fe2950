import type { DialectName, Kind } from "../kit/index.ts";
import type { UpstreamDialect } from "./dialect.ts";
import { openai } from "./openai.ts";

export interface Capability {
  /** The kinds of model that upstreams of this dialect serve. */
  readonly kinds: readonly Kind[];
  /** Whether this version speaks it. */
  readonly available: boolean;
}

/** The dialects this version speaks. */
export const DIALECTS: Partial<Record<DialectName, UpstreamDialect>> = Object.freeze({ openai });

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
    Object.entries(KINDS).map(([name, kinds]) => [name, { kinds, available: name in DIALECTS }]),
  ) as Record<DialectName, Capability>,
);
