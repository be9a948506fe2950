import type { Json } from "../../../kit/index.ts";
import { chatFormat } from "../chat.ts";
import { countable, readMessages } from "./read.ts";

/** What a count_tokens body that its schema has accepted asks to count, as text for a tokenizer. */
export function readCountTokens(body: Json): { readonly model: string; readonly text: string } {
  const call = readMessages(body);
  return { model: call.model, text: chatFormat({ ...call, body: countable(call.body) }).promptText() };
}
