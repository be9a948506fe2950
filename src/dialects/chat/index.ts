import type { AnswerCodec, Codec, Location, UpstreamDialect } from "../dialect.ts";
import { errorMessage } from "../canonical/errors.ts";
import { asks, escaped } from "../canonical/report.ts";
import { getJson } from "../canonical/requests.ts";
import { OTHER_MODEL_OR_RATE } from "../vendors/fields.ts";
import { mayHaveResponses, vendorOf } from "../vendors/rules.ts";
import { chat, chatAt } from "./chat.ts";
import { embedding } from "./embedding.ts";
import { image } from "./image.ts";
import { rerank } from "./rerank.ts";
import { speech } from "./speech.ts";
import { transcription } from "./transcription.ts";

const CODECS = { chat, embedding, rerank, speech, transcription, image };
/** How fast is spoken. */
const OF_SPEECH = ["speed"];

/** At a server of which nothing is known. */
export const openai: UpstreamDialect = {
  name: "openai",
  codecs: CODECS,
  mayHaveResponses,
  probe: (apiKey) => getJson("/models", apiKey),
  errorMessage,
  at(location) {
    return { ...this, vendor: vendorOf(location), codecs: codecsAt(location, chatAt(location), this.codecs) };
  },
};

/**
 * The codecs as one upstream is sent requests by them.
 * @param ownChat in place of the one for a server of which nothing is known.
 */
export function codecsAt(
  { accepts }: Location,
  ownChat: AnswerCodec,
  codecs: UpstreamDialect["codecs"] = CODECS,
): UpstreamDialect["codecs"] {
  const refused = OTHER_MODEL_OR_RATE.difference(new Set([...(accepts?.fields ?? []), ...OF_SPEECH]));
  return Object.fromEntries(
    Object.entries(codecs).map(([kind, codec]) => {
      if (kind === "chat") return [kind, codec === chat ? ownChat : codec];
      return [kind, bounded(codec, refused)];
    }),
  );
}

/** Of every kind but chat the request's fields travel, but for those that reach another model or rate. */
function bounded<C extends Codec>(codec: C, refused: ReadonlySet<string>): C {
  return {
    ...codec,
    request(call, target, apiKey) {
      const left = Object.keys(call.body).filter((name) => refused.has(name));
      if (left.length === 0) return codec.request(call, target, apiKey);
      const kept = Object.entries(call.body).filter(([name]) => !refused.has(name));
      const request = codec.request({ ...call, body: Object.fromEntries(kept) }, target, apiKey);
      const reported = left.filter((name) => asks(name, call.body[name])).map((name) => `/${escaped(name)}`);
      return { ...request, dropped: [...(request.dropped ?? []), ...reported] };
    },
  };
}
