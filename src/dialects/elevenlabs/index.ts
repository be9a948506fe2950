import type { UpstreamDialect } from "../dialect.ts";
import { getJson } from "../requests.ts";
import { errorMessage } from "./errors.ts";
import { withKey } from "./requests.ts";
import { speech } from "./speech.ts";
import { transcription } from "./transcription.ts";

/** ElevenLabs' API. The client's `voice` is a voice's id there. */
export const elevenlabs: UpstreamDialect = {
  name: "elevenlabs",
  codecs: { speech, transcription },
  probe: (apiKey) => withKey(getJson("/v1/models", ""), apiKey),
  errorMessage,
};
