import { isJson, type Json } from "../../kit/index.ts";

/** Everything in a delta or message that the model produced and that costs tokens. */
export function producedText(part: Json): string {
  let text = "";
  for (const key of ["content", "reasoning_content", "reasoning", "refusal"]) {
    const value = part[key];
    if (typeof value === "string") text += value;
  }
  const calls = part["tool_calls"];
  if (Array.isArray(calls)) {
    for (const call of calls) if (isJson(call)) text += calledText(call);
  }
  return text;
}

/** The name and arguments of a call, or the input of a `custom` one. */
function calledText({ function: called, custom }: Json): string {
  const use = isJson(called) ? called : isJson(custom) ? custom : {};
  let text = "";
  for (const value of [use["name"], use["arguments"], use["input"]]) if (typeof value === "string") text += value;
  return text;
}
