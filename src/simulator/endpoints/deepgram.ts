import { hash } from "node:crypto";
import { AUDIO } from "../audio/formats.ts";
import type { AudioFormat } from "../audio/formats.ts";
import { SimError } from "../error.ts";
import { jsonReply } from "../reply.ts";
import { jsonOf } from "./endpoint.ts";
import type { Asked, Received } from "./endpoint.ts";
import { hear } from "./hearing.ts";
import { spoken } from "./speech.ts";

const STARTED = "2026-01-01T00:00:00.000Z";
const LISTENER = "base-general";
const SPEAKER = "aura-asteria-en";
/** What an encoding may be asked for with; the first container is its own. */
interface Encoding {
  readonly containers: readonly string[];
  /** Whether its rate may be chosen. */
  readonly rated: boolean;
  readonly format: AudioFormat;
}
const ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ["mp3", { containers: [], rated: false, format: AUDIO.mp3 }],
  ["opus", { containers: ["ogg"], rated: false, format: AUDIO.opus }],
  ["flac", { containers: [], rated: true, format: AUDIO.flac }],
  ["aac", { containers: [], rated: false, format: AUDIO.aac }],
  ["linear16", { containers: ["wav", "none"], rated: true, format: AUDIO.wav }],
]);

/** `POST /v1/listen`: the body is the file. Its name is unknown. */
export function readListen({ body, headers, query }: Received): Asked {
  if (/^application\/json\b/i.test(headers["content-type"] ?? ""))
    throw bad("Bad Request: remote files are not simulated; send the audio as the body.");
  if (body.length === 0) throw bad("Bad Request: failed to process audio: corrupt or unsupported data");
  const model = query.get("model") ?? LISTENER;
  const sha256 = hash("sha256", body);
  const { text, words, milliseconds } = hear("audio", body);
  const detected = query.get("detect_language") === "true" ? { detected_language: "en", language_confidence: 1 } : {};
  return {
    model,
    sim: query.get("sim") ?? undefined,
    upload: { name: "", type: headers["content-type"] ?? "", size: body.length, sha256, fields: fieldsOf(query) },
    reply: (script) => {
      const seconds = script["usage.seconds"] ?? milliseconds / 1_000;
      const made = {
        metadata: {
          request_id: `sim-${sha256.slice(0, 24)}`,
          sha256,
          created: STARTED,
          ...(!script.no_usage && { duration: seconds }),
          channels: 1,
          models: ["simulated"],
          model_info: { simulated: { name: model, version: "simulated", arch: "simulated" } },
        },
        results: {
          channels: [
            {
              alternatives: [
                {
                  transcript: text,
                  confidence: 1,
                  words: words.map(({ text: word, start, end }) => ({
                    word: word.toLowerCase().replace(/\W+$/, ""),
                    start: start / 1_000,
                    end: end / 1_000,
                    confidence: 1,
                    punctuated_word: word,
                  })),
                },
              ],
              ...detected,
            },
          ],
        },
      };
      const claims = script.no_usage ? undefined : { seconds };
      return jsonReply(200, { data: JSON.stringify(made), claims, units: { milliseconds } });
    },
  };
}

/** `POST /v1/speak`: all but the text is in the query; the model is the voice. */
export function readSpeak(received: Received): Asked {
  const { query } = received;
  const { text, sim } = jsonOf(received);
  if (typeof text !== "string" || text === "")
    throw bad("Bad Request: the request body must contain a 'text' that is not empty");
  const { format, contentType } = formatOf(query);
  return {
    model: query.get("model") ?? SPEAKER,
    sim: sim ?? query.get("sim") ?? undefined,
    reply: (script) => spoken(text, format, 1, script, contentType),
  };
}

function formatOf(query: URLSearchParams): { readonly format: AudioFormat; readonly contentType?: string } {
  const encoding = ENCODINGS.get(query.get("encoding") ?? "mp3");
  if (!encoding) throw bad("Unsupported audio format: encoding is not supported", "UNSUPPORTED_AUDIO_FORMAT");
  const container = query.get("container") ?? encoding.containers[0];
  if (container !== undefined && !encoding.containers.includes(container))
    throw bad("Unsupported audio format: `container` is not applicable to this encoding", "UNSUPPORTED_AUDIO_FORMAT");
  const rate = query.get("sample_rate");
  if (rate !== null && !encoding.rated)
    throw bad("Unsupported audio format: `sample_rate` is not applicable to this encoding", "UNSUPPORTED_AUDIO_FORMAT");
  if (container !== "none") return { format: encoding.format };
  return { format: AUDIO.pcm, contentType: `audio/l16;rate=${rate ?? "24000"};channels=1` };
}

function bad(message: string, code = "Bad Request"): SimError {
  return new SimError(400, message, { code });
}

function fieldsOf(query: URLSearchParams): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]));
}
