import { type Json, isJson } from "../../../kit/index.ts";
import { asText, badParameter, isBase64, type SimError } from "../../fields.ts";
import { messagesOf, objects, type Rule } from "../rule.ts";
import { badValue, missing } from "./words.ts";

/* Images, audio and files in the messages of a chat completion. */

const IMAGES = new Set(["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"]);
/** Which parts a message may hold by its role: fixtures openai-openapi openapi.json, ChatCompletionRequest*ContentPart. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  system: ["text"],
  developer: ["text"],
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
  tool: ["text"],
};

/** What is wrong with a data URL of such a type; undefined for a good one, and for any other URL. */
export function dataUrlProblem(url: string, kind: "image" | "application/pdf"): string | undefined {
  const comma = url.indexOf(",");
  const given = comma < 0 ? undefined : /^data:(?<mime>[^;]*)(?<base64>;base64)?$/.exec(url.slice(0, comma))?.groups;
  if (!given) return "a value without the 'data:' prefix";
  const { mime = "", base64 } = given;
  const data = url.slice(comma + 1);
  if (!(kind === "image" ? IMAGES.has(mime.toLowerCase()) : mime === kind)) return `unsupported MIME type '${mime}'`;
  if (data === "") return "empty base64-encoded bytes";
  return base64 === undefined || !isSpacedBase64(data) ? "an invalid base64-encoded value" : undefined;
}

/** White space is passed over. */
function isSpacedBase64(data: string): boolean {
  const text = data.trimEnd();
  return text !== "" && isBase64(text, /[^A-Za-z0-9+/\s]/);
}

interface LocatedPart {
  readonly at: string;
  readonly role: string;
  readonly place: string;
  readonly part: Json;
}

function partsIn(body: Json): readonly LocatedPart[] {
  return messagesOf(body).flatMap(({ at, value }) =>
    objects(value["content"]).map((part, index) => ({
      at,
      role: asText(value["role"]),
      place: `${at}.content[${index}]`,
      part,
    })),
  );
}

/** The first refusal of a part of one type. */
function parts(type: string, refuse: (found: LocatedPart, inner: Json) => SimError | undefined): Rule["refuse"] {
  return ({ body }) => {
    for (const found of partsIn(body)) {
      const { [type]: inner } = found.part;
      const refusal = found.part["type"] === type && isJson(inner) ? refuse(found, inner) : undefined;
      if (refusal) return refusal;
    }
    return undefined;
  };
}

const AUDIO = /audio/;

export const MEDIA: readonly Rule[] = [
  {
    source: "https://github.com/openai/openai-node/issues/1030, https://github.com/OpenHands/OpenHands/issues/7700",
    refuse: parts("image_url", ({ at, role }) => {
      if (role === "user") return undefined;
      const message = `Invalid '${at}'. Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`;
      return badParameter(at, message, "invalid_value");
    }),
  },
  {
    source: "https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages (parts by role)",
    refuse: ({ body }) => {
      const stray = partsIn(body).find(({ role, part }) => !(PARTS[role] ?? []).includes(asText(part["type"])));
      return stray && badValue(`${stray.place}.type`, stray.part["type"], PARTS[stray.role] ?? []);
    },
  },
  {
    source:
      "https://github.com/anomalyco/opencode/issues/23983 (wording), https://platform.openai.com/docs/guides/images-vision#image-input-requirements",
    refuse: parts("image_url", ({ place }, { url }) => {
      const given = asText(url);
      const problem = /^https?:\/\//i.test(given) ? undefined : dataUrlProblem(given, "image");
      if (problem === undefined) return undefined;
      const at = `${place}.image_url.url`;
      const message = `Invalid '${at}'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got ${problem}.`;
      return badParameter(at, message, "invalid_value");
    }),
  },
  {
    source:
      "https://github.com/vercel/ai/issues/7266, https://developers.openai.com/api/docs/guides/file-inputs?api-mode=responses (Chat Completions: PDF alone)",
    refuse: parts("file", ({ place }, { file_data: data, file_id: id }) => {
      const at = `${place}.file`;
      if (data === undefined) return id === undefined ? missing(`${at}.file_id`) : undefined;
      const problem = dataUrlProblem(asText(data), "application/pdf");
      if (problem === undefined) return undefined;
      const message = `Invalid file data: '${at}.file_data'. Expected a base64-encoded data URL with an application/pdf MIME type (e.g. 'data:application/pdf;base64,SGVsbG8sIFdvcmxkIQ=='), but got ${problem}.`;
      return badParameter(`${at}.file_data`, message, "invalid_value");
    }),
  },
  {
    source: "fixtures openai-openapi openapi.json ChatCompletionRequestMessageContentPartAudio (base64)",
    refuse: parts("input_audio", ({ place }, { data }) =>
      isSpacedBase64(asText(data))
        ? undefined
        : badParameter(
            `${place}.input_audio.data`,
            `Invalid '${place}.input_audio.data'. Expected a base64-encoded value, but got an invalid base64-encoded value.`,
            "invalid_value",
          ),
    ),
  },
  {
    source: "https://github.com/CherryHQ/cherry-studio/issues/1179, https://github.com/truefoundry/models/pull/822",
    models: AUDIO,
    refuse: ({ body }) => {
      const { modalities } = body;
      if (Array.isArray(modalities) && modalities.includes("audio")) return undefined;
      if (partsIn(body).some(({ part }) => part["type"] === "input_audio")) return undefined;
      const message = "This model requires that either input content or output modality contain audio.";
      return badParameter("model", message, "invalid_value");
    },
  },
  {
    source: "https://github.com/pollinations/pollinations/issues/2588",
    models: AUDIO,
    refuse: parts("image_url", ({ at }) =>
      badParameter(`${at}.content`, "This model does not support image_url content.", "invalid_value"),
    ),
  },
  {
    source:
      "https://platform.openai.com/docs/guides/audio (which models hear), https://github.com/pollinations/pollinations/issues/2588 (wording of the other part)",
    models: /^(?:gpt-|o\d|chatgpt)(?!.*audio)/,
    refuse: parts("input_audio", ({ at }) =>
      badParameter(`${at}.content`, "This model does not support input_audio content.", "invalid_value"),
    ),
  },
  {
    source: "fixtures openai-openapi openapi.json CreateChatCompletionRequest (audio: required with the modality)",
    refuse: ({ body: { modalities, audio } }) =>
      Array.isArray(modalities) && modalities.includes("audio") && !isJson(audio) ? missing("audio") : undefined,
  },
];
