import type { Json } from "../../../kit/index.ts";
import { parseJson } from "../../canonical/json.ts";
import type { Item, ItemParts, ItemStatus } from "./item.ts";
import { freeformInput, type ToolName } from "./tools.ts";

/** A call of one of the client's functions. */
export class FunctionItem implements Item {
  readonly type = "function_call";
  readonly #at: ItemParts;
  readonly #call: Json;
  #arguments = "";

  constructor(at: ItemParts, callId: string, tool: ToolName) {
    this.#at = at;
    this.#call = head(this.type, at, callId, tool);
    at.emit("response.output_item.added", { item: { ...this.#call, arguments: "", status: "in_progress" } });
  }

  add(delta: string): void {
    if (delta === "") return;
    this.#arguments += delta;
    this.#at.emit("response.function_call_arguments.delta", { item_id: this.#at.id, delta });
  }

  close(status: ItemStatus): Json {
    // No arguments are an empty object; cut off before the first one they are nothing.
    if (this.#arguments === "" && status === "completed") this.add("{}");
    const { name } = this.#call;
    const ended = { arguments: this.#arguments };
    this.#at.emit("response.function_call_arguments.done", { item_id: this.#at.id, name, ...ended });
    const item = { ...this.#call, ...ended, status };
    this.#at.emit("response.output_item.done", { item });
    return item;
  }
}

/** What arguments of one text begin with, as far as the text. */
const WRAPPED = /^\s*\{\s*"input"\s*:\s*"/;
/** What can be read of a JSON text that goes on: whole characters and escapes, up to its end. */
const READABLE = /(?:[^"\\]+|\\(?:u[\da-fA-F]{4}|[^u]))*/y;
/** The first half of a character that comes as two escapes or units. */
const HALF = /(?:\\u[dD][89abAB][\da-fA-F]{2}|[\uD800-\uDBFF])$/;

/** A call of one of the client's tools that take free text, which stands in JSON while it comes. */
export class CustomItem implements Item {
  readonly type = "custom_tool_call";
  readonly #at: ItemParts;
  readonly #call: Json;
  #arguments = "";
  /** Of the arguments: where the text that was not told yet begins; -1 before it has begun. */
  #next = -1;
  #told = "";

  constructor(at: ItemParts, callId: string, tool: ToolName) {
    this.#at = at;
    this.#call = head(this.type, at, callId, tool);
    at.emit("response.output_item.added", { item: { ...this.#call, input: "" } });
  }

  add(delta: string): void {
    this.#arguments += delta;
    if (this.#next < 0) this.#next = WRAPPED.exec(this.#arguments)?.[0].length ?? -1;
    if (this.#next < 0) return;
    READABLE.lastIndex = this.#next;
    const text = READABLE.exec(this.#arguments)?.[0] ?? "";
    const whole = text.slice(0, text.length - (HALF.exec(text)?.[0].length ?? 0));
    const read = parseJson(`"${whole}"`);
    if (typeof read !== "string") return;
    this.#next += whole.length;
    this.#tell(read);
  }

  close(): Json {
    const input = freeformInput(this.#arguments);
    // Arguments in another shape are known at their end.
    if (input.startsWith(this.#told)) this.#tell(input.slice(this.#told.length));
    this.#at.emit("response.custom_tool_call_input.done", { item_id: this.#at.id, input });
    const item = { ...this.#call, input };
    this.#at.emit("response.output_item.done", { item });
    return item;
  }

  #tell(delta: string): void {
    if (delta === "") return;
    this.#told += delta;
    this.#at.emit("response.custom_tool_call_input.delta", { item_id: this.#at.id, delta });
  }
}

/** What a call says of itself from its beginning to its end. */
function head(type: string, { id, beside }: ItemParts, callId: string, { name, namespace }: ToolName): Json {
  return { type, id, call_id: callId, name, ...(namespace !== undefined && { namespace }), ...beside };
}
