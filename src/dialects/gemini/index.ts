import { AttemptError } from "../../kit/index.ts";
import type { UpstreamDialect } from "../dialect.ts";
import { chat } from "./chat.ts";
import { embedding } from "./embedding.ts";
import { errorMessage, isCredentialsError, retryAfter } from "./errors.ts";
import { ownModelOnly, type PaidBeside } from "../own-model.ts";
import { get } from "./http.ts";

/** Tiers are rates, and searches are billed one by one (decisions 9.8; https://ai.google.dev/gemini-api/docs/pricing). */
const PAID: PaidBeside = { fields: new Set(["service_tier", "web_search_options"]) };

/** Google's Gemini API, version v1beta. */
export const gemini: UpstreamDialect = {
  name: "gemini",
  codecs: { chat: ownModelOnly(chat, PAID), embedding },
  at: ({ accepts }) => ({ ...gemini, codecs: { chat: ownModelOnly(chat, PAID, accepts), embedding } }),
  probe: (apiKey) => get("/models", apiKey),
  errorMessage,
  judge(refusal, body) {
    const { status, message } = refusal;
    if (refusal.failure === "rate_limited") {
      return new AttemptError("rate_limited", message, { status, retryAfter: retryAfter(body) ?? refusal.retryAfter });
    }
    if (!isCredentialsError(body)) return refusal;
    return new AttemptError("credentials", "upstream refused the gateway's credentials (400)", { status });
  },
};
