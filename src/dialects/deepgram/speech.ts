import { invalidRequest } from "../../kit/index.ts";
import type { ByteCodec } from "../dialect.ts";
import { paceWithin } from "../audio/pace.ts";
import { speech as openai } from "../openai/speech.ts";
import { dropped } from "../pointers.ts";
import { postJson } from "../requests.ts";
import { withToken } from "./requests.ts";
import { spokenModel } from "./voice.ts";

type Query = Readonly<Record<string, string>>;

/** For each `response_format`; the compressed ones have a fixed rate, WAV and PCM get that of OpenAI's. */
const FORMATS: ReadonlyMap<unknown, Query> = new Map<unknown, Query>([
  ["mp3", { encoding: "mp3" }],
  ["opus", { encoding: "opus", container: "ogg" }],
  ["aac", { encoding: "aac" }],
  ["flac", { encoding: "flac" }],
  ["wav", { encoding: "linear16", container: "wav", sample_rate: "24000" }],
  ["pcm", { encoding: "linear16", container: "none", sample_rate: "24000" }],
]);
const CARRIED: ReadonlySet<string> = new Set(["input", "voice", "response_format", "speed", "stream_format"]);
/** Models whose speaking rate can be set. */
const PACED = /^aura-2-.*-(?:en|es)$/;
const SLOWEST = 0.7;
const FASTEST = 1.5;

/** Text to speech: all but the text is a query. A `speed` out of bounds is brought to the nearest. */
export const speech = {
  type: "bytes",

  request({ body }, target, apiKey) {
    const format = FORMATS.get(body["response_format"] ?? "mp3");
    if (format === undefined) {
      throw invalidRequest("/response_format", `must be one of ${[...FORMATS.keys()].join(", ")} for this model`);
    }
    const model = spokenModel(target.model, body["voice"]);
    const [slowest, fastest] = PACED.test(model.name) ? [SLOWEST, FASTEST] : [1, 1];
    const pace = paceWithin(body["speed"], slowest, fastest);
    const query = new URLSearchParams({ model: model.name, ...format });
    if (pace.speed !== null) query.set("speed", String(pace.speed));
    return {
      ...withToken(postJson(`/v1/speak?${query.toString()}`, "", { text: body["input"] }, "*/*"), apiKey),
      dropped: [...dropped(body, CARRIED), ...(model.asked ? [] : ["/voice"]), ...(pace.exact ? [] : ["/speed"])],
    };
  },

  contentType: (upstream, call) => openai.contentType(upstream, call),
} satisfies ByteCodec;
