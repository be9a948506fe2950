import type { UpstreamDialect } from "../dialect.ts";
import { errorMessage } from "../errors.ts";
import { getJson } from "../requests.ts";
import { chat } from "./chat.ts";
import { embedding } from "./embedding.ts";
import { image } from "./image.ts";
import { rerank } from "./rerank.ts";
import { speech } from "./speech.ts";
import { transcription } from "./transcription.ts";

export const openai: UpstreamDialect = {
  name: "openai",
  codecs: { chat, embedding, rerank, speech, transcription, image },
  probe: (apiKey) => getJson("/models", apiKey),
  errorMessage,
};
