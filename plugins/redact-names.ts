import { definePlugin, isJson } from "#kit";
import type { RedactNamesOptions } from "#schema";

/** A worked example of a local plugin: replaces names in the messages before any upstream sees them. */
export default definePlugin<RedactNamesOptions>({
  name: "redact-names",
  stage: "transform",
  schema: new URL("../schemas/plugins/redact-names.schema.json", import.meta.url),
  setup({ names, replacement = "[name]" }) {
    // Compiled once per configuration, not per request. Longest first, so that "Ada" does not split "Ada Lovelace".
    const words = names.toSorted((a, b) => b.length - a.length).map((name) => RegExp.escape(name));
    const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${words.join("|")})(?![\p{L}\p{N}])`, "giu");
    const redact = (text: string): string => text.replace(pattern, () => replacement);
    return {
      transform(call) {
        const messages = call.body["messages"];
        if (!Array.isArray(messages)) return call;
        return { ...call, body: { ...call.body, messages: messages.map((message) => redactMessage(message, redact)) } };
      },
    };
  },
});

function redactMessage(message: unknown, redact: (text: string) => string): unknown {
  if (!isJson(message)) return message;
  const { content } = message;
  if (typeof content === "string") return { ...message, content: redact(content) };
  if (!Array.isArray(content)) return message;
  return { ...message, content: content.map((part) => redactPart(part, redact)) };
}

function redactPart(part: unknown, redact: (text: string) => string): unknown {
  return isJson(part) && typeof part["text"] === "string" ? { ...part, text: redact(part["text"]) } : part;
}
