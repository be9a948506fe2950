import { invalidRequest, isJson, type Json } from "../../../kit/index.ts";
import { Conversation, type Said } from "./conversation.ts";

export interface ReadInput {
  readonly said: readonly Said[];
  /** What provider-side tools did in earlier answers, nothing that another provider could read: pointers to them. */
  readonly records: readonly string[];
}

/** Items that tell of tools run at a provider; the answer that came of them stands beside them. */
const RECORDS: ReadonlySet<unknown> = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_list_tools",
  "mcp_call",
]);

/** Items that mean something only to the provider that keeps or made them, and what to do about it. */
const REFUSED: ReadonlyMap<unknown, string> = new Map([
  [
    "item_reference",
    "needs stored responses, which this gateway does not keep; send store: false and the items themselves",
  ],
  ["compaction", "can only be read by the provider that made it; send the items it stands for"],
]);

/** Who may speak in an item. */
const ROLES: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "developer"]);

/** @throws GatewayError naming the item that cannot be carried. */
export function readInput(input: unknown, instructions: unknown): ReadInput {
  const conversation = new Conversation();
  const records: string[] = [];
  if (typeof instructions === "string" && instructions !== "")
    conversation.say("system", instructions, "/instructions", "/instructions");
  if (typeof input === "string") conversation.say("user", input, "/input", "/input");
  else if (!Array.isArray(input)) throw invalidRequest("/input", "must be a string or an array");
  else {
    for (const [index, item] of input.entries()) {
      const pointer = `/input/${index}`;
      if (!isJson(item)) throw invalidRequest(pointer, "must be an object");
      if (RECORDS.has(item["type"])) records.push(pointer);
      else readItem(item, pointer, conversation);
    }
  }
  const said = conversation.messages();
  if (said.length === 0) throw invalidRequest("/input", "must hold a message");
  return { said, records };
}

function readItem(item: Json, pointer: string, conversation: Conversation): void {
  switch (item["type"]) {
    case undefined:
    case null:
    case "message":
      return readMessage(item, pointer, conversation);
    case "reasoning":
      return conversation.reason(item, pointer);
    case "function_call":
    case "custom_tool_call":
      return conversation.call(item, pointer);
    case "function_call_output":
    case "custom_tool_call_output":
      return conversation.output(item, pointer);
    default:
      throw invalidRequest(`${pointer}/type`, REFUSED.get(item["type"]) ?? `${unknown(item)}; leave the item out`);
  }
}

function unknown({ type }: Json): string {
  return typeof type === "string" ? `${type.slice(0, 64)} cannot be carried to other providers` : "must be a string";
}

function readMessage(item: Json, pointer: string, conversation: Conversation): void {
  const { role, content } = item;
  if (!ROLES.has(role)) {
    throw invalidRequest(`${pointer}/role`, 'must be one of "user", "assistant", "system", "developer"');
  }
  if (role === "assistant") conversation.answer(content, pointer);
  else conversation.say(String(role), content, pointer);
}
