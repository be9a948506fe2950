import { isJson, type Json } from "../../src/kit/index.ts";

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const words = (value: unknown): string => (typeof value === "string" ? value : "");

/** The pieces of a list whose items carry their own `index`, put together; texts of the same name are joined. */
function join(into: Json[], pieces: readonly unknown[]): void {
  for (const piece of pieces.filter(isJson)) {
    const { index, ...fields } = piece;
    const at = Number(index);
    const item: Record<string, unknown> = { ...into[at] };
    for (const [name, value] of Object.entries(fields)) {
      if (isJson(value)) {
        const before = isJson(item[name]) ? item[name] : {};
        const said = name === "custom" ? "input" : "arguments";
        item[name] = { ...before, ...value, [said]: words(before[said]) + words(value[said]) };
      } else item[name] = name === "type" || name === "id" ? value : words(item[name]) + words(value);
    }
    into[at] = item;
  }
}

/** A thought of which only the signature was told has an empty text. */
const whole = (detail: Json): Json =>
  detail["type"] === "reasoning.text" ? { type: "", text: "", ...detail } : detail;

/** The choice that a client puts together from the canonical chunks of one answer, as a complete answer has it. */
export function assemble(chunks: readonly Json[]): Json {
  const calls: Json[] = [];
  const details: Json[] = [];
  const annotations: unknown[] = [];
  let content = "";
  let reasoning = "";
  let refusal = "";
  let role: unknown;
  let finish: Json = {};
  for (const choice of chunks.flatMap((chunk) => list(chunk["choices"])).filter(isJson)) {
    const { delta, index: _index, ...rest } = choice;
    if (!isJson(delta)) continue;
    role ??= delta["role"];
    content += words(delta["content"]);
    reasoning += words(delta["reasoning_content"]);
    refusal += words(delta["refusal"]);
    join(calls, list(delta["tool_calls"]));
    join(details, list(delta["reasoning_details"]));
    annotations.push(...list(delta["annotations"]));
    if (rest["finish_reason"] !== null) finish = rest;
  }
  const message = {
    role,
    content: content === "" && calls.length > 0 ? null : content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details.map(whole) }),
    ...(refusal === "" ? {} : { refusal }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(annotations.length === 0 ? {} : { annotations }),
  };
  return { index: 0, message, ...finish };
}
