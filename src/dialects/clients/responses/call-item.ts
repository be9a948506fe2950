import type { Json } from "../../../kit/index.ts";
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

/** A call of one of the client's tools that take free text, which is known once its arguments are whole. */
export class CustomItem implements Item {
  readonly type = "custom_tool_call";
  readonly #at: ItemParts;
  readonly #call: Json;
  #arguments = "";

  constructor(at: ItemParts, callId: string, tool: ToolName) {
    this.#at = at;
    this.#call = head(this.type, at, callId, tool);
    at.emit("response.output_item.added", { item: { ...this.#call, input: "" } });
  }

  add(delta: string): void {
    this.#arguments += delta;
  }

  close(): Json {
    const input = freeformInput(this.#arguments);
    if (input !== "") this.#at.emit("response.custom_tool_call_input.delta", { item_id: this.#at.id, delta: input });
    this.#at.emit("response.custom_tool_call_input.done", { item_id: this.#at.id, input });
    const item = { ...this.#call, input };
    this.#at.emit("response.output_item.done", { item });
    return item;
  }
}

/** What a call says of itself from its beginning to its end. */
function head(type: string, { id, beside }: ItemParts, callId: string, { name, namespace }: ToolName): Json {
  return { type, id, call_id: callId, name, ...(namespace !== undefined && { namespace }), ...beside };
}
