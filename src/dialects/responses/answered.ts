import type { Json } from "../../kit/index.ts";
import { append, stringOf } from "../canonical/json.ts";
import { NO_RESULT } from "../canonical/tool-pairs.ts";

const OUTPUTS: Readonly<Record<string, string>> = {
  function_call: "function_call_output",
  custom_tool_call: "custom_tool_call_output",
};

/** With an output for each call, behind the calls beside it: "No tool output found for function call". */
export function answered(items: readonly Json[]): readonly Json[] {
  const known = new Set(items.filter(({ output }) => output !== undefined).map(({ call_id: id }) => id));
  const written: Json[] = [];
  let waiting: Json[] = [];
  for (const item of items) {
    const type = OUTPUTS[stringOf(item["type"])];
    if (type === undefined) {
      append(written, waiting);
      waiting = [];
    }
    written.push(item);
    if (type !== undefined && !known.has(item["call_id"]))
      waiting.push({ type, call_id: item["call_id"], output: NO_RESULT });
  }
  append(written, waiting);
  return written.length === items.length ? items : written;
}
