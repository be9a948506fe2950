import { cleanDataUrl, dataText, isJson, type Json, readDataUrl } from "../../kit/index.ts";
import {
  ASSISTANT_FIELDS,
  FILE_PART_FIELDS,
  IMAGE_PART_FIELDS,
  MESSAGE_FIELDS,
  NO_OUTPUT,
  SEE_DOCUMENTS,
  TEXT_PART_FIELDS,
} from "../canonical/message.ts";
import { kindOfPart, omittedText, type PartKind } from "../canonical/contents.ts";
import type { Report } from "../canonical/report.ts";
import { pairedMessages } from "../canonical/tool-pairs.ts";
import { type FunctionCall, stripSignature, writtenCalls } from "../canonical/tools.ts";

const TOOL_RESULT_FIELDS: ReadonlySet<string> = new Set([...MESSAGE_FIELDS, "tool_call_id"]);

interface Conversation {
  readonly messages: readonly Json[];
  /** Text files of the messages: Cohere knows them beside the conversation only. */
  readonly documents: readonly Json[];
}

/**
 * @param images whether the model takes images.
 * @throws GatewayError for a message that cannot be written down.
 */
export function messagesOf(messages: unknown, images: boolean, report: Report): Conversation {
  if (!Array.isArray(messages)) throw report.refusal("/messages", "must be a list");
  const documents: Json[] = [];
  const written = pairedMessages(messages).flatMap(({ message, at }) => {
    if (!isJson(message)) throw report.refusal(at, "must be an object");
    const own = writtenMessage(message, at, { documents, images, report });
    return own === null ? [] : [own];
  });
  if (written.length === 0) throw report.refusal("/messages", "must have a message with content");
  return { messages: written, documents };
}

/** null for a message that says nothing. */
function writtenMessage(message: Json, at: string, { documents, images, report }: Place): Json | null {
  const { role, content } = message;
  switch (role) {
    case "system":
    case "developer": {
      report.dropUnknown(message, MESSAGE_FIELDS, at);
      return withContent({ role: "system" }, partsOf(content, `${at}/content`, { report, documents, images: false }));
    }
    case "user": {
      const known = documents.length;
      const parts = partsOf(content, `${at}/content`, { report, documents, images });
      report.dropUnknown(message, MESSAGE_FIELDS, at);
      const asked = parts.length > 0 || documents.length === known ? parts : [{ type: "text", text: SEE_DOCUMENTS }];
      return withContent({ role }, asked);
    }
    case "assistant":
      return assistantMessage(message, at, report);
    case "tool": {
      const { tool_call_id: id } = message;
      if (typeof id !== "string" || id === "") {
        throw report.refusal(`${at}/tool_call_id`, "must be a string that is not empty");
      }
      report.dropUnknown({ ...message, is_error: message["is_error"] === true || null }, TOOL_RESULT_FIELDS, at);
      const parts = partsOf(content, `${at}/content`, { report, documents, images: false });
      return withContent(
        { role, tool_call_id: stripSignature(id) },
        parts.length > 0 ? parts : [{ type: "text", text: NO_OUTPUT }],
      );
    }
    default:
      throw report.refusal(`${at}/role`, "must be system, developer, user, assistant or tool");
  }
}

/** A lone text stands for itself. */
function withContent(message: Json, parts: readonly Json[]): Json | null {
  const [first, ...more] = parts;
  if (first === undefined) return null;
  return { ...message, content: more.length === 0 && first["type"] === "text" ? first["text"] : parts };
}

/**
 * An assistant turn; null for one that says nothing. What was thought before a call is the plan for it, else a part of its
 * own.
 * @throws GatewayError for a message that cannot be written down.
 */
function assistantMessage(message: Json, at: string, report: Report): Json | null {
  report.dropUnknown(message, ASSISTANT_FIELDS, at);
  const { refusal } = message;
  const parts = [...partsOf(message["content"], `${at}/content`, { report, documents: [], images: false })];
  if (typeof refusal === "string" && refusal !== "") parts.push({ type: "text", text: refusal });
  const thought = thoughtOf(message, at, report);
  const calls = toolCalls(message["tool_calls"], `${at}/tool_calls`, report);
  const thinking: readonly Json[] =
    thought !== "" && calls.length === 0 ? [{ type: "thinking", thinking: thought }] : [];
  if (parts.length === 0 && calls.length === 0) return null;
  const [only, ...more] = [...thinking, ...parts];
  const content = more.length === 0 && only?.["type"] === "text" ? only["text"] : [...thinking, ...parts];
  return {
    role: "assistant",
    ...(only === undefined ? {} : { content }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(calls.length > 0 && thought !== "" ? { tool_plan: thought } : {}),
  };
}

/** Reasoning as text; what is encrypted for, or summed up by, another provider is reported. */
function thoughtOf(message: Json, at: string, report: Report): string {
  const details: readonly unknown[] = Array.isArray(message["reasoning_details"]) ? message["reasoning_details"] : [];
  const texts = details.map((detail, index) => {
    if (isJson(detail) && detail["type"] === "reasoning.text" && typeof detail["text"] === "string")
      return detail["text"];
    report.drop(`${at}/reasoning_details/${index}`);
    return "";
  });
  const whole = message["reasoning_content"] ?? message["reasoning"];
  return typeof whole === "string" && whole !== "" ? whole : texts.join("");
}

function toolCalls(calls: unknown, at: string, report: Report): readonly Json[] {
  const write = ({ id, name, written, at }: FunctionCall): readonly Json[] => {
    const args = argumentsOf(written, `${at}/function`, report);
    return [{ id: stripSignature(id), type: "function", function: { name, arguments: args } }];
  };
  return writtenCalls(calls, at, report, write).flat();
}

function argumentsOf(args: unknown, at: string, report: Report): string {
  if (args === undefined || args === null) return "{}";
  if (typeof args !== "string") throw report.refusal(`${at}/arguments`, "must be a string");
  return args.trim() === "" ? "{}" : args;
}

/** A document is always cited. */
const DOCUMENT_FIELDS: ReadonlySet<string> = new Set(["file_data", "filename", "title", "citations"]);

interface Place {
  readonly report: Report;
  /** Takes the text files. */
  readonly documents: Json[];
  /** Whether images may stand there. */
  readonly images: boolean;
}

/**
 * A message's content in Cohere's parts; empty texts are left out.
 * @param at pointer to it.
 * @throws GatewayError for content that is none.
 */
function partsOf(content: unknown, at: string, place: Place): readonly Json[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return textPart(content);
  if (!Array.isArray(content)) throw place.report.refusal(at, "must be a string or a list of parts");
  return content.flatMap((part: unknown, index) => partOf(part, `${at}/${index}`, place));
}

function partOf(part: unknown, at: string, place: Place): readonly Json[] {
  const { report } = place;
  if (!isJson(part)) throw report.refusal(at, "must be an object");
  const { type } = part;
  if (type === "text" || type === "refusal") {
    const text = part[type];
    if (typeof text !== "string") throw report.refusal(`${at}/${type}`, "must be a string");
    report.dropUnknown(part, TEXT_PART_FIELDS, at);
    return textPart(text);
  }
  if (type === "image_url" && place.images) return [imagePart(part, at, report)];
  const document = type === "file" && isJson(part["file"]) ? documentOf(part["file"], `${at}/file`, report) : null;
  if (document === null) {
    const kind = kindOfPart(part);
    report.drop(at);
    return kind === null ? [] : [{ type: "text", text: omittedText(kind, place.images ? IMAGES : NONE) }];
  }
  report.dropUnknown(part, FILE_PART_FIELDS, at);
  place.documents.push(document);
  return [];
}

const IMAGES: ReadonlySet<PartKind> = new Set(["image"]);
const NONE: ReadonlySet<PartKind> = new Set();

function textPart(text: string): readonly Json[] {
  return text === "" ? [] : [{ type: "text", text }];
}

/** Some clients write the URL itself where the object belongs. */
function imagePart(part: Json, at: string, report: Report): Json {
  const { image_url: image } = part;
  const { url, detail } = isJson(image) ? image : { url: image };
  if (typeof url !== "string") throw report.refusal(`${at}/image_url/url`, "must be a string");
  report.dropUnknown(part, IMAGE_PART_FIELDS, at);
  const clean = cleanDataUrl(url) ?? url;
  return { type: "image_url", image_url: { url: clean, ...(typeof detail === "string" ? { detail } : {}) } };
}

/** A text file as a document; null for any other. */
function documentOf(file: Json, at: string, report: Report): Json | null {
  const { file_data: url, title, filename } = file;
  const inlined = typeof url === "string" ? readDataUrl(url) : null;
  const text = inlined && dataText(inlined);
  if (text === null) return null;
  report.dropUnknown(file, DOCUMENT_FIELDS, at);
  const name = [title, filename].find((one) => typeof one === "string" && one !== "");
  return { data: { ...(name === undefined ? {} : { title: name }), text } };
}
