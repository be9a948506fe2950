import { invalidRequest, isJson, type Json } from "../../../kit/index.ts";
import type { Unreadable } from "../../canonical/source-map.ts";
import { Conversation, type Said } from "./conversation.ts";

export interface ReadInput {
  readonly said: readonly Said[];
  /** What provider-side tools did in earlier answers, nothing that another provider could read: pointers to them. */
  readonly records: readonly string[];
  /** Items without which the conversation is another one, and which no upstream of another format can read. */
  readonly own: readonly Unreadable[];
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

const REFERENCE =
  "needs stored responses, which this gateway does not keep; send store: false and the items themselves";
const COMPACTION = "can only be read by the provider that made it; send the items it stands for";

/** Who may speak in an item. */
const ROLES: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "developer"]);

/** @throws GatewayError naming the item that cannot be carried. */
export function readInput(input: unknown, instructions: unknown): ReadInput {
  const conversation = new Conversation();
  const records: string[] = [];
  const own: Unreadable[] = [];
  if (typeof instructions === "string" && instructions !== "")
    conversation.say("system", instructions, "/instructions", "/instructions");
  if (typeof input === "string") conversation.say("user", input, "/input", "/input");
  else if (!Array.isArray(input)) throw invalidRequest("/input", "must be a string or an array");
  else {
    for (const [index, item] of input.entries()) {
      const pointer = `/input/${index}`;
      if (!isJson(item)) throw invalidRequest(pointer, "must be an object");
      if (RECORDS.has(item["type"])) records.push(pointer);
      else if (!readItem(item, pointer, conversation)) own.push(kept(item, pointer, conversation));
    }
  }
  const said = conversation.messages();
  if (said.length === 0) throw invalidRequest("/input", "must hold a message");
  return { said, records, own };
}

/** @returns false for an item without a canonical form. */
function readItem(item: Json, pointer: string, conversation: Conversation): boolean {
  switch (item["type"]) {
    case undefined:
    case null:
    case "message":
      readMessage(item, pointer, conversation);
      return true;
    case "reasoning":
      conversation.reason(item, pointer);
      return true;
    case "function_call":
    case "custom_tool_call":
      conversation.call(item, pointer);
      return true;
    case "function_call_output":
    case "custom_tool_call_output":
      conversation.output(item, pointer);
      return true;
    default:
      return false;
  }
}

function kept(item: Json, pointer: string, conversation: Conversation): Unreadable {
  const { type } = item;
  const at = `${pointer}/type`;
  if (typeof type !== "string") throw invalidRequest(at, "must be a string; leave the item out");
  if (type === "item_reference") throw invalidRequest(at, REFERENCE);
  conversation.keep(item, pointer);
  const foreign = `${type.slice(0, 64)} cannot be carried to other providers; leave the item out`;
  return { at, what: type === "compaction" ? COMPACTION : foreign };
}

function readMessage(item: Json, pointer: string, conversation: Conversation): void {
  const { role, content } = item;
  if (!ROLES.has(role)) {
    throw invalidRequest(`${pointer}/role`, 'must be one of "user", "assistant", "system", "developer"');
  }
  if (role === "assistant") conversation.answer(content, pointer);
  else conversation.say(String(role), content, pointer);
}
