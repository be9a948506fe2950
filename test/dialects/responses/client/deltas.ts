import type { Json } from "../../../../src/kit/index.ts";

/* What the streams of the suites are made of. */

const CUSTOM = {
  type: "custom",
  name: "patch",
  format: { type: "grammar", syntax: "lark", definition: "start: /.+/" },
};
export const TOOLS = { tools: [{ type: "function", name: "add", parameters: { type: "object" } }, CUSTOM] };
/** The first delta of a call. */
export const call = (index: number, id: string, name: string, args: string): Json => ({
  tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }],
});
/** A later one. */
export const more = (index: number, args: string): Json => ({ tool_calls: [{ index, function: { arguments: args } }] });
