import { type Json, isJson } from "../../../kit/index.ts";
import { asText, isBase64, SimError } from "../../fields.ts";
import { objects, type Rule } from "../rule.ts";
import { claudeOf } from "./models.ts";

/* Texts, marks, images and results, wherever in a request they are. */

const IMAGES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const MAXIMUM_IMAGE_BYTES = 5 * 1024 * 1024;
const MAXIMUM_IMAGE_PIXELS = 8_000;
const MANY_IMAGES = 20;
const MAXIMUM_MANY_IMAGE_PIXELS = 2_000;

interface Block {
  /** With the tags of the blocks around it, as the interface names places. */
  readonly at: string;
  readonly value: Json;
  /** In a tool's result. */
  readonly inner: boolean;
}

/** Every block of the messages, those of tools' results behind their own. */
export function blocksOf({ messages }: Json): readonly Block[] {
  return objects(messages).flatMap(({ content }, index) => nested(content, `messages.${index}.content`, false));
}

function nested(content: unknown, at: string, inner: boolean): readonly Block[] {
  return objects(content).flatMap((value, index) => {
    const place = `${at}.${index}`;
    const own = value["type"] === "tool_result" ? nested(value["content"], `${place}.tool_result.content`, true) : [];
    return [{ at: place, value, inner }, ...own];
  });
}

/** The first refusal of a block of a type. */
function blocks(type: string, refuse: (block: Block, body: Json) => SimError | undefined): Rule["refuse"] {
  return ({ body }) => {
    for (const block of blocksOf(body)) {
      const refusal = block.value["type"] === type ? refuse(block, body) : undefined;
      if (refusal) return refusal;
    }
    return undefined;
  };
}

function located(values: readonly Json[], at: string): readonly (readonly [at: string, value: Json])[] {
  return values.map((value, index) => [`${at}.${index}`, value]);
}

/** Marks in the order in which they are processed. */
function marksOf({ tools, system, messages }: Json): readonly (readonly [at: string, mark: Json])[] {
  const blocksIn = blocksOf({ messages }).map(({ at, value }) => [at, value] as const);
  return [...located(objects(tools), "tools"), ...located(objects(system), "system"), ...blocksIn].flatMap(
    ([at, { cache_control: mark }]) => (isJson(mark) ? [[at, mark] as const] : []),
  );
}

/** Width and height of a PNG. */
function sizeOf(data: string): readonly number[] {
  const head = Buffer.from(data.slice(0, 64), "base64");
  return head.length >= 24 && head.toString("latin1", 1, 4) === "PNG"
    ? [head.readUInt32BE(16), head.readUInt32BE(20)]
    : [];
}

function imagesOf(body: Json): number {
  return blocksOf(body).filter(({ value }) => value["type"] === "image").length;
}

export const CONTENT: readonly Rule[] = [
  {
    source:
      "https://github.com/NousResearch/hermes-agent/pull/1216, https://github.com/anthropics/claude-code/issues/50082",
    refuse: blocks("text", ({ at, value }) =>
      value["text"] === "" && isJson(value["cache_control"])
        ? new SimError(400, `${at}.text: cache_control cannot be set for empty text blocks`)
        : undefined,
    ),
  },
  {
    source: "https://github.com/anthropics/claude-code/issues/23369",
    refuse: ({ body }) => {
      const texts = objects(body["messages"]).flatMap(({ content }) =>
        typeof content === "string"
          ? [content]
          : objects(content).map(({ type, text }) => (type === "text" ? text : "a")),
      );
      return texts.some((text) => typeof text === "string" && text !== "" && text.trim() === "")
        ? new SimError(400, "messages: text content blocks must contain non-whitespace text")
        : undefined;
    },
  },
  {
    source:
      "https://github.com/kristianvast/hermes-claude-auth/issues/31, https://github.com/headroomlabs-ai/headroom/issues/2939",
    refuse: ({ body }) => {
      const marks = marksOf(body);
      const short = marks.findIndex(([, mark]) => mark["ttl"] !== "1h");
      const late = marks.find(([, mark], index) => short >= 0 && index > short && mark["ttl"] === "1h");
      return late
        ? new SimError(
            400,
            `${late[0]}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`,
          )
        : undefined;
    },
  },
  {
    source: "https://github.com/vellum-ai/vellum-assistant/pull/18387",
    refuse: blocks("tool_result", ({ at, value }) =>
      value["is_error"] === true && objects(value["content"]).some(({ type }) => type !== "text")
        ? new SimError(400, `${at}.tool_result: all content must be type \`text\` if \`is_error\` is true`)
        : undefined,
    ),
  },
  {
    source:
      "https://platform.claude.com/docs/en/build-with-claude/vision#supported-formats, @anthropic-ai/sdk resources/messages/messages.d.ts Base64ImageSource",
    refuse: blocks("image", ({ at, value: { source } }) => {
      if (!isJson(source) || source["type"] !== "base64") return undefined;
      const place = `${at}.image.source.base64`;
      if (!IMAGES.has(asText(source["media_type"])))
        return new SimError(
          400,
          `${place}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
        );
      const data = asText(source["data"]);
      return data !== "" && isBase64(data) ? undefined : new SimError(400, `${place}: invalid base64 data`);
    }),
  },
  {
    source: "https://github.com/anthropics/claude-code/issues/19631, https://github.com/daya0576/pi-imessage/issues/5",
    refuse: blocks("image", ({ at, value: { source } }) => {
      const size = isJson(source) && source["type"] === "base64" ? asText(source["data"]).length : 0;
      return size > MAXIMUM_IMAGE_BYTES
        ? new SimError(
            400,
            `${at}.image.source.base64: image exceeds 5 MB maximum: ${size} bytes > ${MAXIMUM_IMAGE_BYTES} bytes`,
          )
        : undefined;
    }),
  },
  {
    source:
      "https://github.com/anthropics/claude-code/issues/4778 (8,000), https://github.com/anthropics/claude-code/issues/24630 (2,000)",
    refuse: blocks("image", ({ at, value: { source } }, body) => {
      if (!isJson(source) || source["type"] !== "base64") return undefined;
      const many = imagesOf(body) > MANY_IMAGES;
      const maximum = many ? MAXIMUM_MANY_IMAGE_PIXELS : MAXIMUM_IMAGE_PIXELS;
      return sizeOf(asText(source["data"])).some((side) => side > maximum)
        ? new SimError(
            400,
            `${at}.image.source.base64.data: At least one of the image dimensions exceed max allowed size${many ? " for many-image requests" : ""}: ${maximum} pixels`,
          )
        : undefined;
    }),
  },
  {
    source:
      "https://platform.claude.com/docs/en/build-with-claude/vision.md (General limits: 100 of a model with a context of 200,000 tokens, 600 of others; the wording of the form)",
    refuse: ({ model, body }) => {
      const maximum = (claudeOf(model)?.maximum ?? 0) < 128_000 ? 100 : 600;
      const images = imagesOf(body);
      return images > maximum
        ? new SimError(400, `messages: Too much media: 0 document pages + ${images} images > ${maximum}`)
        : undefined;
    },
  },
  {
    source:
      "https://platform.claude.com/docs/en/build-with-claude/vision#url-based-image-example (https; the wording of the form)",
    refuse: ({ body }) => {
      const found = blocksOf(body).find(
        ({ value: { type, source } }) =>
          (type === "image" || type === "document") &&
          isJson(source) &&
          source["type"] === "url" &&
          !asText(source["url"]).startsWith("https://"),
      );
      return found
        ? new SimError(400, `${found.at}.${asText(found.value["type"])}.source.url.url: Only HTTPS URLs are supported.`)
        : undefined;
    },
  },
];
