import type { DialectName, Kind, Vendor } from "../kit/index.ts";
import { anthropic } from "./messages/index.ts";
import { azure } from "./azure/index.ts";
import { bedrock } from "./bedrock/index.ts";
import { cohere } from "./cohere/index.ts";
import type { Location, UpstreamDialect } from "./dialect.ts";
import { loses } from "./features/promises.ts";
import { type ChatDialect, SUPPORT } from "./features/support.ts";
import { gemini } from "./gemini/index.ts";
import { jina } from "./endpoints/jina.ts";
import { openai } from "./chat/index.ts";
import { deepgram } from "./speech/deepgram.ts";
import { elevenlabs } from "./speech/elevenlabs.ts";
import { voyage } from "./endpoints/voyage.ts";

export interface Capability {
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
  readonly takesGoogleCredentials: boolean;
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
      const chat = Object.hasOwn(SUPPORT, name) ? codecs.chat : undefined;
      return [
        name,
        {
          kinds,
          served: kinds.filter((kind) => codecs[kind] !== undefined),
          takesGoogleCredentials: dialect?.signing?.by === "google",
          loses(kind, promise, model, location) {
            if (kind !== "chat" || chat === undefined) return false;
            const own = location && dialect?.at?.(location).codecs.chat;
            return loses(
              { dialect: name as ChatDialect, codec: own ?? chat, located: own !== undefined },
              promise,
              model,
            );
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
