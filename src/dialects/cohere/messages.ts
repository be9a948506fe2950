import { isJson, type Json } from "../../kit/index.ts";
import type { Report } from "../report.ts";
import { stripSignature } from "../tool-ids.ts";
import { assistantMessage } from "./assistant.ts";
import { partsOf } from "./parts.ts";

/**
 * Said about a message or part and needless here: Cohere caches prefixes by itself.
 */
const MESSAGE: ReadonlySet<string> = new Set(["role", "content", "cache_control"]);
const TOOL: ReadonlySet<string> = new Set([...MESSAGE, "tool_call_id"]);
/** Every message needs content. */
const NO_OUTPUT = "(no output)";

export interface Conversation {
  readonly messages: readonly Json[];
  /** Text files of the messages: Cohere knows them beside the conversation only. */
  readonly documents: readonly Json[];
}

/** @throws GatewayError for a message that cannot be written down. */
export function messagesOf(messages: unknown, report: Report): Conversation {
  if (!Array.isArray(messages)) throw report.refusal("/messages", "must be a list");
  const documents: Json[] = [];
  const written = messages.flatMap((message: unknown, index) => {
    const at = `/messages/${index}`;
    if (!isJson(message)) throw report.refusal(at, "must be an object");
    const own = writtenMessage(message, at, documents, report);
    return own === null ? [] : [own];
  });
  if (written.length === 0) throw report.refusal("/messages", "must have a message with content");
  return { messages: written, documents };
}

/** null for a message that says nothing. */
function writtenMessage(message: Json, at: string, documents: Json[], report: Report): Json | null {
  const { role, content } = message;
  switch (role) {
    case "system":
    case "developer": {
      report.dropBeside(message, MESSAGE, at);
      return withContent({ role: "system" }, partsOf(content, `${at}/content`, { report, documents, images: false }));
    }
    case "user": {
      const before = report.count;
      const known = documents.length;
      const parts = partsOf(content, `${at}/content`, { report, documents, images: true });
      // A question without the file it is about is another question.
      if (parts.length === 0 && report.count > before) throw report.unsupported(`${at}/content`);
      report.dropBeside(message, MESSAGE, at);
      const asked =
        parts.length > 0 || documents.length === known ? parts : [{ type: "text", text: "(see documents)" }];
      return withContent({ role }, asked);
    }
    case "assistant":
      return assistantMessage(message, at, report);
    case "tool": {
      const { tool_call_id: id } = message;
      if (typeof id !== "string" || id === "") {
        throw report.refusal(`${at}/tool_call_id`, "must be a string that is not empty");
      }
      report.dropBeside({ ...message, is_error: message["is_error"] === true || null }, TOOL, at);
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
