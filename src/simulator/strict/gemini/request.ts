import { type Json, isJson } from "../../../kit/index.ts";
import { asText, SimError } from "../../fields.ts";
import { objects, type Rule, wordSet } from "../rule.ts";
import { MODELS } from "./models.ts";
import { configOf, functionsOf, SCHEMAS } from "./schema.ts";

/* What Gemini refuses beside what the simulator always checks: names, turns, signatures. */

const REFERENCE = "https://ai.google.dev/api/generate-content";

/** Scalars of `generationConfig`: their type in protobuf, and their bounds. */
const SCALARS: Readonly<Record<string, readonly [type: string, minimum: number, maximum: number]>> = {
  temperature: ["TYPE_FLOAT", 0, 2],
  topP: ["TYPE_FLOAT", 0, 1],
  topK: ["TYPE_INT32", 1, 2 ** 31],
  presencePenalty: ["TYPE_FLOAT", -2, 2],
  frequencyPenalty: ["TYPE_FLOAT", -2, 2],
  seed: ["TYPE_INT32", -(2 ** 31), 2 ** 31 - 1],
  logprobs: ["TYPE_INT32", 0, 20],
};
const MIME_TYPES = wordSet("text/plain application/json application/xml application/yaml text/x.enum");
/** https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats, audio, video-understanding, document-processing */
const IMAGES = wordSet("image/png image/jpeg image/webp image/heic image/heif");
const CATEGORIES = wordSet(
  "HARM_CATEGORY_HARASSMENT HARM_CATEGORY_HATE_SPEECH HARM_CATEGORY_SEXUALLY_EXPLICIT " +
    "HARM_CATEGORY_DANGEROUS_CONTENT HARM_CATEGORY_CIVIC_INTEGRITY",
);
const THRESHOLDS = wordSet(
  "HARM_BLOCK_THRESHOLD_UNSPECIFIED BLOCK_LOW_AND_ABOVE BLOCK_MEDIUM_AND_ABOVE BLOCK_ONLY_HIGH BLOCK_NONE OFF",
);
const MODALITIES = wordSet("TEXT IMAGE AUDIO");

/** A name as it is in protobuf. */
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function badScalar(config: Json): SimError | undefined {
  for (const [name, [type, minimum, maximum]] of Object.entries(SCALARS)) {
    const { [name]: value } = config;
    if (value === undefined || value === null) continue;
    const at = `generation_config.${snake(name)}`;
    // Numbers may be written as texts.
    const given = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    if (typeof given !== "number" || Number.isNaN(given) || (type === "TYPE_INT32" && !Number.isInteger(given)))
      return new SimError(400, `Invalid value at '${at}' (${type}), ${JSON.stringify(value)}`);
    if (given < minimum || given > maximum)
      return new SimError(
        400,
        `* GenerateContentRequest.${at}: ${snake(name)} must be in the range [${minimum}, ${maximum}].\n`,
      );
  }
  return undefined;
}

function inlineOf({ contents, systemInstruction: system }: Json): readonly Json[] {
  return [...objects(contents), ...(isJson(system) ? [system] : [])]
    .flatMap(({ parts }) => objects(parts))
    .flatMap(({ inlineData }) => (isJson(inlineData) ? [inlineData] : []));
}

/** Images of other formats, and what is no kind of medium at all. */
function isUnreadable(type: string): boolean {
  if (type.startsWith("image/")) return !IMAGES.has(type);
  return !/^(?:audio|video|text)\/[\w.+-]+$|^application\/(?:pdf|json|xml|x-javascript|x-python|rtf)$/.test(
    type.split(";")[0] ?? "",
  );
}

const REQUEST: readonly Rule[] = [
  {
    source: `${REFERENCE}#generationconfig (types and ranges), https://github.com/GoogleCloudPlatform/gcc-creative-studio/pull/260 (0.0 to 2.0); the wording of the form`,
    refuse: ({ body }) => badScalar(configOf(body)),
  },
  {
    source: `${REFERENCE}#generationconfig (logprobs: only with responseLogprobs; the wording of the form)`,
    refuse: ({ body }) => {
      const { logprobs, responseLogprobs: asked } = configOf(body);
      return logprobs !== undefined && asked !== true
        ? new SimError(400, "logprobs can only be set when response_logprobs is true.")
        : undefined;
    },
  },
  {
    source: `${REFERENCE}#generationconfig (responseMimeType)`,
    refuse: ({ body }) => {
      const { responseMimeType: type } = configOf(body);
      return type === undefined || MIME_TYPES.has(asText(type))
        ? undefined
        : new SimError(
            400,
            "* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are `text/plain`, `application/json`, `application/xml`, `application/yaml` and `text/x.enum`.\n",
          );
    },
  },
  {
    source: `${REFERENCE}#Modality`,
    refuse: ({ body }) => {
      const { responseModalities: modalities } = configOf(body);
      const bad = (Array.isArray(modalities) ? modalities : []).findIndex(
        (one) => !MODALITIES.has(asText(one).toUpperCase()),
      );
      return bad < 0
        ? undefined
        : new SimError(
            400,
            `Invalid value at 'generation_config.response_modalities[${bad}]' (type.googleapis.com/google.ai.generativelanguage.v1beta.GenerationConfig.Modality), ${JSON.stringify((modalities as readonly unknown[])[bad])}`,
          );
    },
  },
  {
    source:
      "https://github.com/brianpetro/obsidian-smart-connections/issues/1238, https://github.com/microsoft/vscode/issues/286628, https://github.com/waooAI/waoowaoo/issues/89, https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats",
    refuse: ({ body }) => {
      const types = inlineOf(body).map(({ mimeType }) => asText(mimeType));
      const bad = types.find((type) => type !== "undefined" && isUnreadable(type));
      return bad === undefined ? undefined : new SimError(400, `Unsupported MIME type: ${bad}`);
    },
  },
  {
    source: `${REFERENCE}#safetysetting, #harmcategory, #harmblockthreshold`,
    refuse: ({ body }) => {
      for (const [index, { category, threshold }] of objects(body["safetySettings"]).entries()) {
        const [name, value, type] = CATEGORIES.has(asText(category))
          ? ["threshold", threshold, "SafetySetting.HarmBlockThreshold"]
          : ["category", category, "HarmCategory"];
        if (name === "threshold" && THRESHOLDS.has(asText(threshold))) continue;
        return new SimError(
          400,
          `Invalid value at 'safety_settings[${index}].${name}' (type.googleapis.com/google.ai.generativelanguage.v1beta.${asText(type)}), ${JSON.stringify(value)}`,
        );
      }
      return undefined;
    },
  },
  {
    source: `${REFERENCE}#safetysetting (no more than one of a category; the wording of the form)`,
    refuse: ({ body }) => {
      const categories = objects(body["safetySettings"]).map(({ category }) => category);
      const index = categories.findIndex((one, at) => categories.indexOf(one) < at);
      return index < 0
        ? undefined
        : new SimError(
            400,
            `* GenerateContentRequest.safety_settings[${index}]: only one setting is allowed for each category.\n`,
          );
    },
  },
  {
    source:
      "https://github.com/owndev/Open-WebUI-Functions/issues/135, https://github.com/googleapis/dotnet-genai/issues/189",
    refuse: ({ body }) => {
      const names = functionsOf(body).map(([, { name }]) => name);
      const twice = names.find((name, at) => names.indexOf(name) < at);
      return twice === undefined
        ? undefined
        : new SimError(400, `Duplicate function declaration found: ${asText(twice)}`);
    },
  },
  {
    source:
      "https://github.com/AstrBotDevs/AstrBot/pull/7407, https://github.com/musistudio/claude-code-router/pull/1207",
    refuse: ({ body: { toolConfig: config, ...body } }) =>
      isJson(config) && config["functionCallingConfig"] !== undefined && functionsOf(body).length === 0
        ? new SimError(400, "Function calling config is set without function_declarations.")
        : undefined,
  },
  {
    source: "https://ai.google.dev/gemini-api/docs/caching, https://github.com/googleapis/python-genai/issues/1119",
    refuse: ({ body }) =>
      body["cachedContent"] !== undefined &&
      ["systemInstruction", "tools", "toolConfig"].some((name) => body[name] !== undefined)
        ? new SimError(
            400,
            "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.\n\nProposed fix: move those values to CachedContent from GenerateContent request.",
          )
        : undefined,
  },
];

export const GEMINI: readonly Rule[] = [...REQUEST, ...SCHEMAS, ...MODELS];
