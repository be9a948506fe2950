import { definePlugin, escapeRegExp, isJson } from "#kit";
import type { RedactNamesOptions } from "#schema";

/** What a client writes for a model to read, in the bodies of all endpoints. */
const FIELDS = ["messages", "input", "prompt", "instructions", "query", "documents"] as const;

/** A worked example of a local plugin: replaces names in what is asked before any upstream sees it. */
export default definePlugin<RedactNamesOptions>({
  name: "redact-names",
  apiVersion: 1,
  stage: "transform",
  schema: new URL("../schemas/plugins/redact-names.schema.json", import.meta.url),
  setup({ names, replacement = "[name]" }) {
    // Compiled once per configuration, not per request. Longest first, so that "Ada" does not split "Ada Lovelace".
    const words = names.toSorted((a, b) => b.length - a.length).map((name) => escapeRegExp(name));
    const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${words.join("|")})(?![\p{L}\p{N}])`, "giu");
    const redact = (text: string): string => text.replace(pattern, () => replacement);
    return {
      transform(call) {
        const body: Record<string, unknown> = { ...call.body };
        for (const field of FIELDS) if (Object.hasOwn(body, field)) body[field] = redactIn(body[field], redact);
        return { ...call, body };
      },
    };
  },
});

/** Where people write: a message, a part, a document, a list of any of them, or plain text. */
function redactIn(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactIn(item, redact));
  if (!isJson(value)) return value;
  const copy: Record<string, unknown> = { ...value };
  for (const key of ["content", "text"]) if (Object.hasOwn(copy, key)) copy[key] = redactIn(copy[key], redact);
  return copy;
}
