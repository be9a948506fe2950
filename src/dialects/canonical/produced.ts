import { isJson, type Json } from "../../kit/index.ts";

/*
 * What of an answer the model has produced, as text for a tokenizer. Upstreams count it when they have ended: of a stream
 * that its client leaves it is all there is to go by, so what nobody knows counts as well.
 */

/** Names whose values are no output: identifiers, kinds, signatures, media, sources, what tools gave, padding. */
const NOT_PRODUCED: ReadonlySet<string> = new Set(
  [
    "role type index id call_id item_id tool_use_id object status format mime_type mimeType media_type",
    "signature thought_signature thoughtSignature encrypted_content encrypted extra_content caller",
    "data url uri fileUri b64_json file_data file_id image_url images inlineData fileData partial_image_b64",
    "annotations citations citation search_results sources results output outputs result logprobs",
    "obfuscation p padding native provider provider_metadata provider_specific_fields block_order",
  ].flatMap((names) => names.split(" ")),
);
/** Names of a thought in the deltas and messages of vendors, the first that has one counts: some say it twice. */
const THOUGHTS = [
  "reasoning_content",
  "reasoning",
  "reasoning_text",
  "thinking",
  "reasoning_details",
  "thinking_blocks",
];
/** What is read by itself. */
const APART: ReadonlySet<string> = new Set([...THOUGHTS, "content", "tool_calls"]);

/** Everything in a delta or message that the model produced and that costs tokens. */
export function producedText(part: Json): string {
  let text = textIn(part["content"], "content");
  for (const name of THOUGHTS) {
    const thought = textIn(part[name], name);
    if (thought === "") continue;
    text += thought;
    break;
  }
  for (const name in part) if (!APART.has(name)) text += textIn(part[name], name);
  const calls = part["tool_calls"];
  if (Array.isArray(calls)) for (const call of calls) if (isJson(call)) text += calledText(call);
  return text;
}

/** The name and arguments of a call, or the input of a `custom` one. */
function calledText({ function: called, custom }: Json): string {
  const { name, arguments: args, input } = isJson(called) ? called : isJson(custom) ? custom : {};
  return textIn(name, "name") + textIn(args, "arguments") + textIn(input, "input");
}

/** The texts in a value that stands under a name, each with what is within it. */
function textIn(value: unknown, name: string): string {
  if (typeof value === "string") return NOT_PRODUCED.has(name) ? "" : value;
  if (typeof value !== "object" || value === null || NOT_PRODUCED.has(name)) return "";
  // A stack of our own: an answer nested deeper than the call stack must not throw here.
  const open: (readonly [value: unknown, name: string])[] = [[value, name]];
  let text = "";
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [item, of] = next;
    if (NOT_PRODUCED.has(of)) continue;
    if (typeof item === "string") text += item;
    else if (Array.isArray(item)) for (const inner of item.toReversed()) open.push([inner, of]);
    else if (isJson(item)) for (const key of Object.keys(item).toReversed()) open.push([item[key], key]);
  }
  return text;
}
