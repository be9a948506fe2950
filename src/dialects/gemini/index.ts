import type { UpstreamDialect } from "../dialect.ts";
import { chat } from "./chat.ts";
import { embedding } from "./embedding.ts";
import { errorMessage } from "./errors.ts";
import { get } from "./http.ts";

/** Google's Gemini API, version v1beta. */
export const gemini: UpstreamDialect = {
  name: "gemini",
  codecs: { chat, embedding },
  probe: (apiKey) => get("/models", apiKey),
  errorMessage,
};
