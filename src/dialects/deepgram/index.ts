import type { UpstreamDialect } from "../dialect.ts";
import { getJson } from "../requests.ts";
import { errorMessage } from "./errors.ts";
import { withToken } from "./requests.ts";
import { speech } from "./speech.ts";
import { transcription } from "./transcription.ts";

/** Deepgram's API. A speech target's `model` is a family, such as `aura-2`, or a whole voice (see voice.ts). */
export const deepgram: UpstreamDialect = {
  name: "deepgram",
  codecs: { speech, transcription },
  probe: (apiKey) => withToken(getJson("/v1/projects", ""), apiKey),
  errorMessage,
};
