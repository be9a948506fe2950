import type { Location, UpstreamDialect } from "../dialect.ts";
import { errorMessage } from "../errors.ts";
import { getJson } from "../requests.ts";
import { vendorOf } from "../vendors/rules.ts";
import { chatAt } from "./chat.ts";
import { embedding } from "./embedding.ts";
import { image } from "./image.ts";
import { rerank } from "./rerank.ts";
import { speech } from "./speech.ts";
import { transcription } from "./transcription.ts";

const codecs = { embedding, rerank, speech, transcription, image };

/** The dialect as one upstream speaks it: what it takes hangs on who stands behind it. */
function openaiAt(location: Location): UpstreamDialect {
  return {
    name: "openai",
    vendor: vendorOf(location),
    codecs: { chat: chatAt(location, "openai"), ...codecs },
    probe: (apiKey) => getJson("/models", apiKey),
    errorMessage,
  };
}

/** At an address of which nothing is known. */
export const openai: UpstreamDialect = { ...openaiAt({ baseUrl: "", headers: {} }), at: openaiAt };
