import { type Json, isJson } from "../../../kit/index.ts";
import { asNumber, asText, badParameter, SimError } from "../../fields.ts";
import { type Complaint, complaintOf } from "../pydantic.ts";
import { isGiven, type Rule, wordSet } from "../rule.ts";
import { anything, decimal, each, either, flag, integer, list, nullable, record, text, word } from "../shape.ts";
import { badValue, shapeRefusal } from "./words.ts";

/* Speech, transcription, embeddings and images as OpenAI documents them: fixtures openai-openapi openapi.json. */

const VOICES = "alloy ash ballad coral echo fable onyx nova sage shimmer verse marin cedar";
const MAXIMUM_SPOKEN_CHARACTERS = 4_096;

const SPEECH_BODY = record(
  {
    model: text(),
    input: text({ minimum: 1, maximum: MAXIMUM_SPOKEN_CHARACTERS }),
    instructions: text({ maximum: MAXIMUM_SPOKEN_CHARACTERS }),
    voice: either(word(VOICES), record({ id: text() }, { required: "id", closed: true })),
    response_format: word("mp3 opus aac flac wav pcm"),
    speed: decimal(0.25, 4),
    stream_format: word("sse audio"),
  },
  { required: "model input voice", closed: true },
);

/** This endpoint shows what pydantic complains of as Python writes it. */
function spokenRefusal({ type, loc, msg, input }: Complaint): SimError {
  const place = ["body", ...loc].map((step) => `'${step}'`).join(", ");
  return new SimError(400, `[{'type': '${type}', 'loc': (${place}), 'msg': "${msg}", 'input': '${asText(input)}'}]`);
}

export const SPEECH: readonly Rule[] = [
  {
    source: "fixtures openai-openapi openapi.json CreateSpeechRequest",
    refuse: ({ body }) => {
      const complaint = complaintOf(SPEECH_BODY, body);
      return complaint && spokenRefusal(complaint);
    },
  },
  {
    source: "fixtures openai-openapi openapi.json CreateSpeechRequest (stream_format; the wording of the form)",
    models: /^tts-1/,
    refuse: ({ body }) =>
      body["stream_format"] === "sse"
        ? badParameter(
            "stream_format",
            "Unsupported value: 'stream_format' does not support 'sse' with this model. Supported values are: 'audio'.",
            "unsupported_value",
          )
        : undefined,
  },
];

const AUDIO_FILES = "flac m4a mp3 mp4 mpeg mpga oga ogg wav webm".split(" ");
const MAXIMUM_FILE_BYTES = 25 * 1024 * 1024;
const MAXIMUM_SPEAKERS = 4;
const DIARIZES = /diarize/;

const formatOf = ({ response_format: format = "json" }: Json): string => asText(format);
const valuesOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

/** The body is a form: each field is a text or, said several times, a list of texts; `file` has its name and size. */
export const TRANSCRIPTION: readonly Rule[] = [
  {
    source:
      "https://platform.openai.com/docs/guides/speech-to-text (25 MB), https://platform.openai.com/docs/guides/error-codes",
    refuse: ({ body: { file } }) => {
      const size = isJson(file) ? asNumber(file["size"]) : 0;
      return size > MAXIMUM_FILE_BYTES
        ? new SimError(413, `Maximum content size limit (${MAXIMUM_FILE_BYTES}) exceeded (${size} bytes read)`)
        : undefined;
    },
  },
  {
    source: "https://platform.openai.com/docs/api-reference/audio/createTranscription#audio-createtranscription-file",
    refuse: ({ body: { file } }) => {
      const name = isJson(file) ? asText(file["name"]) : "";
      const extension = name.split(".").at(-1)?.toLowerCase() ?? "";
      return AUDIO_FILES.includes(extension)
        ? undefined
        : new SimError(
            400,
            `Invalid file format. Supported formats: [${AUDIO_FILES.map((one) => `'${one}'`).join(", ")}]`,
          );
    },
  },
  {
    source: "fixtures openai-openapi openapi.json AudioResponseFormat",
    refuse: ({ body }) =>
      shapeRefusal(record({ response_format: word("json text srt verbose_json vtt diarized_json") }), body),
  },
  {
    source: "https://github.com/openai/openai-dotnet/issues/401, https://github.com/vercel/ai/issues/11679",
    models: /transcribe/,
    refuse: ({ model, body }) => {
      const format = formatOf(body);
      if (format === "json" || format === "text" || (format === "diarized_json" && DIARIZES.test(model)))
        return undefined;
      const message = `response_format '${format}' is not compatible with model '${model}'. Use 'json' or 'text' instead.`;
      return badParameter("response_format", message, "unsupported_value");
    },
  },
  {
    source: "fixtures openai-openapi openapi.json AudioResponseFormat (the wording of the rule before)",
    models: /whisper/,
    refuse: ({ model, body }) =>
      formatOf(body) === "diarized_json"
        ? badParameter(
            "response_format",
            `response_format 'diarized_json' is not compatible with model '${model}'.`,
            "unsupported_value",
          )
        : undefined,
  },
  {
    source: "https://github.com/riffado/riffado/issues/101, https://github.com/laravel/ai/issues/90",
    models: DIARIZES,
    refuse: ({ body }) =>
      isGiven(body, "chunking_strategy")
        ? undefined
        : badParameter("chunking_strategy", "chunking_strategy is required for diarization models", "invalid_value"),
  },
  {
    source:
      "fixtures openai-openapi openapi.json CreateTranscriptionRequest (prompt, include; the wording of the form)",
    models: DIARIZES,
    refuse: ({ body }) => {
      const name = ["prompt", "include", "timestamp_granularities"].find((one) => isGiven(body, one));
      if (name === undefined) return undefined;
      return badParameter(
        name,
        `Unsupported parameter: '${name}' is not supported with this model.`,
        "unsupported_parameter",
      );
    },
  },
  {
    source:
      "fixtures openai-openapi openapi.json CreateTranscriptionRequest (timestamp_granularities: only with verbose_json; the wording of the form)",
    refuse: ({ body }) => {
      const { timestamp_granularities: granularities } = body;
      const bad = valuesOf(granularities).find((one) => one !== "word" && one !== "segment");
      if (bad !== undefined) return badValue("timestamp_granularities", bad, ["word", "segment"]);
      return isGiven(body, "timestamp_granularities") && formatOf(body) !== "verbose_json"
        ? badParameter(
            "timestamp_granularities",
            "The 'timestamp_granularities' parameter is only allowed when 'response_format' is 'verbose_json'.",
          )
        : undefined;
    },
  },
  {
    source:
      "fixtures openai-openapi openapi.json CreateTranscriptionRequest (temperature: 0 to 1; known_speaker_names)",
    refuse: ({ body }) => {
      const { temperature, known_speaker_names: names } = body;
      const given = temperature === undefined ? undefined : Number(temperature);
      return shapeRefusal(
        record({ temperature: decimal(0, 1), known_speaker_names: list(anything, 0, MAXIMUM_SPEAKERS) }),
        { temperature: Number.isNaN(given) ? temperature : given, known_speaker_names: names && valuesOf(names) },
      );
    },
  },
];

const MAXIMUM_INPUTS = 2_048;
const MAXIMUM_INPUT_TOKENS = 8_192;
const DIMENSIONS: Readonly<Record<string, number>> = {
  "text-embedding-3-small": 1_536,
  "text-embedding-3-large": 3_072,
};

function isInput(input: unknown): boolean {
  if (typeof input === "string") return input !== "";
  if (!Array.isArray(input) || input.length === 0 || input.length > MAXIMUM_INPUTS) return false;
  const items: readonly unknown[] = input;
  return (
    items.every((item) => typeof item === "string" && item !== "") ||
    items.every(Number.isInteger) ||
    items.every((item) => Array.isArray(item) && item.length > 0 && item.every(Number.isInteger))
  );
}

export const EMBEDDINGS: readonly Rule[] = [
  {
    source: "https://github.com/embeddings-benchmark/mteb/issues/1200, https://github.com/openai-php/client/issues/171",
    refuse: ({ body }) =>
      isInput(body["input"])
        ? undefined
        : new SimError(
            400,
            "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.",
          ),
  },
  {
    source:
      "fixtures openai-openapi openapi.json CreateEmbeddingRequest (8192 tokens), https://github.com/openai/openai-python/issues/519",
    refuse: ({ body: { input } }) => {
      const lists: readonly unknown[] = Array.isArray(input) && Array.isArray(input[0]) ? input : [input];
      const tokens = Math.max(
        ...lists.map((one) => (Array.isArray(one) && typeof one[0] === "number" ? one.length : 0)),
      );
      return tokens > MAXIMUM_INPUT_TOKENS
        ? new SimError(
            400,
            `This model's maximum context length is ${MAXIMUM_INPUT_TOKENS} tokens, however you requested ${tokens} tokens (${tokens} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.`,
          )
        : undefined;
    },
  },
  {
    source: "fixtures openai-openapi openapi.json CreateEmbeddingRequest",
    refuse: ({ body }) =>
      shapeRefusal(
        record(
          {
            input: anything,
            model: text(),
            encoding_format: word("float base64"),
            dimensions: integer(1),
            user: text(),
          },
          { closed: true },
        ),
        body,
      ),
  },
  {
    source: "https://github.com/SciPhi-AI/R2R/pull/768, https://github.com/sbintuitions/JMTEB/pull/14",
    models: /ada-002/,
    refuse: ({ body }) =>
      body["dimensions"] === undefined
        ? undefined
        : new SimError(400, "This model does not support specifying dimensions."),
  },
  {
    source: "https://platform.openai.com/docs/guides/embeddings#embedding-models (sizes; the wording of the form)",
    models: /^text-embedding-3/,
    refuse: ({ model, body: { dimensions } }) => {
      const maximum = DIMENSIONS[model] ?? Infinity;
      return asNumber(dimensions) > maximum
        ? new SimError(
            400,
            `Invalid value for 'dimensions' = ${asNumber(dimensions)}. Must be less than or equal to ${maximum}.`,
          )
        : undefined;
    },
  },
];

const GPT_IMAGE = /^(?:chatgpt|gpt)-image/;
/** What the models of images know: sizes, qualities, the longest prompt, and fields of their own. */
const IMAGES: readonly (readonly [RegExp, Pictures])[] = [
  [/^dall-e-2/, { sizes: "256x256 512x512 1024x1024", qualities: "standard", prompt: 1_000, lacks: "style" }],
  [/^dall-e-3/, { sizes: "1024x1024 1792x1024 1024x1792", qualities: "standard hd", prompt: 4_000, lacks: "" }],
  [GPT_IMAGE, { sizes: "", qualities: "low medium high auto", prompt: 32_000, lacks: "style response_format" }],
];
const GPT_IMAGE_FIELDS = "output_format output_compression stream partial_images moderation background";

interface Pictures {
  readonly sizes: string;
  readonly qualities: string;
  readonly prompt: number;
  readonly lacks: string;
}

export const PICTURES: readonly Rule[] = [
  {
    source: "fixtures openai-openapi openapi.json CreateImageRequest",
    refuse: ({ body }) =>
      shapeRefusal(
        record(
          {
            prompt: text({ minimum: 1 }),
            model: nullable(text()),
            n: nullable(integer(1, 10)),
            quality: nullable(word("standard hd low medium high auto")),
            response_format: nullable(word("url b64_json")),
            output_format: nullable(word("png jpeg webp")),
            output_compression: nullable(integer(0, 100)),
            stream: nullable(flag),
            partial_images: nullable(integer(0, 3)),
            size: nullable(text()),
            moderation: nullable(word("low auto")),
            background: nullable(word("transparent opaque auto")),
            style: nullable(word("vivid natural")),
            ...each(["user"], text()),
          },
          { required: "prompt", closed: true },
        ),
        body,
      ),
  },
  {
    source: "fixtures openai-openapi openapi.json CreateImageRequest (by model)",
    refuse: ({ model, body }) => {
      const known = IMAGES.find(([pattern]) => pattern.test(model))?.[1];
      if (!known) return undefined;
      const lacks = wordSet(GPT_IMAGE.test(model) ? known.lacks : `${known.lacks} ${GPT_IMAGE_FIELDS}`);
      const name = Object.keys(body).find((one) => lacks.has(one) && isGiven(body, one));
      if (name !== undefined) return badParameter(name, `Unknown parameter: '${name}'.`, "unknown_parameter");
      const sizes = known.sizes.split(" ");
      const { size, quality } = body;
      if (known.sizes !== "" && typeof size === "string" && !sizes.includes(size)) return badValue("size", size, sizes);
      const qualities = known.qualities.split(" ");
      if (typeof quality === "string" && !qualities.includes(quality)) return badValue("quality", quality, qualities);
      return shapeRefusal(record({ prompt: text({ maximum: known.prompt }) }), body);
    },
  },
  {
    source: "fixtures openai-openapi openapi.json CreateImageRequest (dall-e-3: one image; the wording of the form)",
    models: /^dall-e-3/,
    refuse: ({ body }) =>
      asNumber(body["n"], 1) > 1
        ? badParameter("n", "You must provide n=1 for this model.", "invalid_value")
        : undefined,
  },
];
