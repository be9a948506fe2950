import { isJson, type Json } from "../../kit/index.ts";
import { ASSISTANT_FIELDS } from "../fields.ts";
import type { Report } from "../report.ts";
import { stripSignature } from "../tool-ids.ts";
import { partsOf } from "./parts.ts";

/** `extra_content` is another provider's state. */
const CALL: ReadonlySet<string> = new Set(["id", "index", "function", "cache_control", "extra_content"]);

/**
 * An assistant turn; null for one that says nothing. What was thought before a call is the plan for it, else a part of its
 * own.
 * @throws GatewayError for a message that cannot be written down.
 */
export function assistantMessage(message: Json, at: string, report: Report): Json | null {
  report.dropBeside(message, ASSISTANT_FIELDS, at);
  const { refusal } = message;
  const said = [...partsOf(message["content"], `${at}/content`, { report, documents: [], images: false })];
  if (typeof refusal === "string" && refusal !== "") said.push({ type: "text", text: refusal });
  const thought = thoughtOf(message, at, report);
  const calls = toolCalls(message["tool_calls"], `${at}/tool_calls`, report);
  const thinking: readonly Json[] =
    thought !== "" && calls.length === 0 ? [{ type: "thinking", thinking: thought }] : [];
  if (said.length === 0 && calls.length === 0) return null;
  const [only, ...more] = [...thinking, ...said];
  const content = more.length === 0 && only?.["type"] === "text" ? only["text"] : [...thinking, ...said];
  return {
    role: "assistant",
    ...(only === undefined ? {} : { content }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(calls.length > 0 && thought !== "" ? { tool_plan: thought } : {}),
  };
}

/** Reasoning as text; what is encrypted for, or summed up by, another provider is reported. */
function thoughtOf(message: Json, at: string, report: Report): string {
  const details: readonly unknown[] = Array.isArray(message["reasoning_details"]) ? message["reasoning_details"] : [];
  const texts = details.map((detail, index) => {
    if (isJson(detail) && detail["type"] === "reasoning.text" && typeof detail["text"] === "string")
      return detail["text"];
    report.drop(`${at}/reasoning_details/${index}`);
    return "";
  });
  const whole = message["reasoning_content"] ?? message["reasoning"];
  return typeof whole === "string" && whole !== "" ? whole : texts.join("");
}

function toolCalls(calls: unknown, at: string, report: Report): readonly Json[] {
  if (calls === null || calls === undefined) return [];
  if (!Array.isArray(calls)) throw report.refusal(at, "must be a list");
  return calls.flatMap((call: unknown, index) => toolCall(call, `${at}/${index}`, report));
}

function toolCall(call: unknown, at: string, report: Report): readonly Json[] {
  if (!isJson(call)) throw report.refusal(at, "must be an object");
  const { id, function: called } = call;
  if (!isJson(called)) {
    report.drop(at);
    return [];
  }
  const { name, arguments: args } = called;
  if (typeof id !== "string" || id === "") throw report.refusal(`${at}/id`, "must be a string that is not empty");
  if (typeof name !== "string" || name === "") throw report.refusal(`${at}/function/name`, "must be a string");
  report.dropBeside(call, CALL, at);
  return [
    {
      id: stripSignature(id),
      type: "function",
      function: { name, arguments: argumentsOf(args, `${at}/function`, report) },
    },
  ];
}

function argumentsOf(args: unknown, at: string, report: Report): string {
  if (args === undefined || args === null) return "{}";
  if (typeof args !== "string") throw report.refusal(`${at}/arguments`, "must be a string");
  return args.trim() === "" ? "{}" : args;
}
