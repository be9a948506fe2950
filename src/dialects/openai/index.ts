import type { Location, UpstreamDialect } from "../dialect.ts";
import { errorMessage } from "../errors.ts";
import { getJson } from "../requests.ts";
import { vendorOf } from "../vendors/rules.ts";
import { chat, chatAt } from "./chat.ts";
import { embedding } from "./embedding.ts";
import { image } from "./image.ts";
import { rerank } from "./rerank.ts";
import { speech } from "./speech.ts";
import { transcription } from "./transcription.ts";

/** At a server of which nothing is known. */
export const openai: UpstreamDialect = {
  name: "openai",
  codecs: { chat, embedding, rerank, speech, transcription, image },
  probe: (apiKey) => getJson("/models", apiKey),
  errorMessage,
  at: openaiAt,
};

/** As its vendor takes it. */
export function openaiAt(location: Location): UpstreamDialect {
  return { ...openai, vendor: vendorOf(location), codecs: { ...openai.codecs, chat: chatAt(location) } };
}
