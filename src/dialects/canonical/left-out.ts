import { isJson, type Json } from "../../kit/index.ts";
import { objects, stringOf } from "./json.ts";

/*
 * A tool result must not look empty because the target does not take what it holds: the model would believe that nothing
 * was found. Each part that has to stay behind leaves a text in its place. Every dialect takes the text from here.
 */

/** What stands in a tool result in place of a part. */
export interface StandIn {
  readonly text: string;
  /** The text says all that the part said. Otherwise the part is missed, and reported. */
  readonly isWhole: boolean;
}

/** Canonical parts by what a person calls them. */
const KINDS: Readonly<Record<string, string>> = {
  image_url: "image",
  input_audio: "audio",
  video_url: "video",
  file: "file",
};

/** The text for a part of a tool result that the target has no form for. */
export function standInFor(part: unknown): StandIn {
  const { type, block, file } = isJson(part) ? part : {};
  const native = type === "native" && isJson(block) ? block : null;
  const whole = native === null ? null : spelledOut(native);
  if (whole !== null) return { text: whole, isWhole: true };
  const kind = stringOf(native?.["type"] ?? type);
  const name = isJson(file) ? stringOf(file["filename"]) : stringOf(native?.["title"]);
  const what = Object.hasOwn(KINDS, kind) ? KINDS[kind]! : kind.replaceAll("_", " ") || "part";
  const called = name === "" ? what : `${what} "${name}"`;
  return { text: `[${called} omitted: this model does not take it here]`, isWhole: false };
}

/** Whether a message of the user's holds media: without them it would be another question. */
export function asksAboutMedia({ content }: Json): boolean {
  return objects(content).some(({ type }) => typeof type === "string" && Object.hasOwn(KINDS, type));
}

/** The text of a block that is made of texts; null for any other. */
function spelledOut(block: Json): string | null {
  const { type, source, title, content, tool_name } = block;
  if (type === "search_result") return lines([title, source, ...objects(content).map(({ text }) => text)]);
  if (type === "tool_reference" && typeof tool_name === "string") return `Tool: ${tool_name}`;
  const inner = type === "document" && isJson(source) ? source["content"] : undefined;
  if (typeof inner === "string") return lines([title, inner]);
  const parts = objects(inner);
  const isText = parts.length > 0 && parts.every((one) => typeof one["text"] === "string");
  return isText ? lines([title, ...parts.map(({ text }) => text)]) : null;
}

function lines(texts: readonly unknown[]): string {
  return texts.filter((text) => typeof text === "string" && text !== "").join("\n");
}
