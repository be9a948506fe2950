import { readResponses } from "../../../../src/dialects/responses/client/request.ts";
import { GatewayError, type Json } from "../../../../src/kit/index.ts";
import { request } from "./support.ts";

/* Items as clients send them, and what they are in the canonical middle. */

export const call = (id: string, name = "f", args = "{}"): Json => ({
  type: "function_call",
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: args,
  status: "completed",
});
export const output = (id: string, output: unknown = "ok"): Json => ({
  type: "function_call_output",
  call_id: id,
  output,
});
export const toolCall = (id: string, name = "f", args = "{}"): Json => ({
  id,
  type: "function",
  function: { name, arguments: args },
});
export const answered = (id: string, content: unknown = "ok"): Json => ({ role: "tool", tool_call_id: id, content });
export const user = (content: unknown): Json => ({ role: "user", content });
export const reasoning = (more: Json): Json => ({ type: "reasoning", id: "rs_1", summary: [], ...more });

export const read = (more: Json = {}) => readResponses(request(more));

/** What a request is refused with; empty when it is read. */
export const refusal = (more: Json): string => {
  try {
    read(more);
  } catch (error) {
    if (error instanceof GatewayError && error.code === "INVALID_REQUEST") return error.message;
    throw error;
  }
  return "";
};
