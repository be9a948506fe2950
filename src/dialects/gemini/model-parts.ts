import { isJson, type Json } from "../../kit/index.ts";
import { inputOf } from "../functions.ts";
import type { Report } from "../report.ts";
import { readCallId } from "../tool-ids.ts";
import { type Family, isSigned } from "./family.ts";
import { mediaPart } from "./media.ts";
import { partsOf } from "./parts.ts";
import { readSignature, UNSIGNED } from "./signatures.ts";

/**
 * An assistant's message in Gemini's parts: thoughts, text, media, what was signed apart, function calls.
 * @param names gets the names of the calls by their ids.
 */
export function modelParts(
  message: Json,
  at: string,
  family: Family,
  report: Report,
  names: Map<string, string>,
): Json[] {
  const { content, refusal, images } = message;
  const reasoning = readReasoning(message, at, report);
  const parts = partsOf(content, `${at}/content`, report);
  if (typeof refusal === "string" && refusal !== "" && parts.length === 0) parts.push({ text: refusal });
  const last = parts.findLastIndex((part) => part["text"] !== undefined);
  const bearer = parts[last];
  const [thoughtSignature, ...others] = reasoning.onText;
  const attached = bearer !== undefined && thoughtSignature !== undefined;
  if (attached) parts[last] = { ...bearer, thoughtSignature };
  const signed = [...(attached ? others : reasoning.onText), ...reasoning.apart];
  return [
    ...reasoning.thoughts,
    ...parts,
    ...imageParts(images),
    ...signed.map((one) => ({ text: "", thoughtSignature: one })),
    ...callParts(message["tool_calls"], `${at}/tool_calls`, family, report, names),
  ];
}

interface Reasoning {
  readonly thoughts: readonly Json[];
  readonly onText: readonly string[];
  readonly apart: readonly string[];
}

/** Text of any provider is a thought; a signature counts only where it is Gemini's own. */
function readReasoning(message: Json, at: string, report: Report): Reasoning {
  const thoughts: Json[] = [];
  const onText: string[] = [];
  const apart: string[] = [];
  const details: readonly unknown[] = Array.isArray(message["reasoning_details"]) ? message["reasoning_details"] : [];
  for (const [index, detail] of details.entries()) {
    const place = `${at}/reasoning_details/${index}`;
    const { text, summary, signature, data } = isJson(detail) ? detail : {};
    const thought = text ?? summary;
    if (typeof thought === "string") {
      const own = readSignature(signature);
      if (own) thoughts.push({ text: thought, thought: true, thoughtSignature: own.signature });
      else if (thought !== "") thoughts.push({ text: thought, thought: true });
      if (own === null && signature !== undefined && signature !== null) report.drop(`${place}/signature`);
      continue;
    }
    const own = readSignature(data);
    if (own === null) report.drop(place);
    else (own.bearer === "text" ? onText : apart).push(own.signature);
  }
  const plain = message["reasoning_content"] ?? message["reasoning"];
  if (thoughts.length === 0 && typeof plain === "string" && plain !== "") thoughts.push({ text: plain, thought: true });
  return { thoughts, onText, apart };
}

/** Images of an earlier answer, as answers carry them. */
function imageParts(images: unknown): Json[] {
  if (!Array.isArray(images)) return [];
  return images.flatMap((image: unknown) => {
    const url = isJson(image) && isJson(image["image_url"]) ? image["image_url"]["url"] : null;
    const part = typeof url === "string" ? mediaPart(url) : null;
    return part === null ? [] : [part];
  });
}

const CALL_FIELDS: ReadonlySet<string> = new Set(["id", "type", "index", "function", "extra_content", "cache_control"]);

function callParts(calls: unknown, at: string, family: Family, report: Report, names: Map<string, string>): Json[] {
  if (!Array.isArray(calls)) return [];
  const parts: Json[] = [];
  for (const [index, call] of (calls as readonly unknown[]).entries()) {
    const called = isJson(call) ? call["function"] : null;
    const name = isJson(called) ? called["name"] : null;
    if (!isJson(call) || !isJson(called) || typeof name !== "string" || name === "") {
      throw report.refusal(`${at}/${index}/function/name`, "must be the name of a function");
    }
    report.dropBeside(call, CALL_FIELDS, `${at}/${index}`);
    const carried = typeof call["id"] === "string" ? readCallId(call["id"]) : null;
    if (carried !== null) names.set(carried.id, name);
    const functionCall = { ...(carried?.id && { id: carried.id }), name, args: inputOf(called["arguments"]) };
    const signature = ownSignature(call) ?? carried?.signature ?? (index === 0 && isSigned(family) ? UNSIGNED : null);
    parts.push(signature === null ? { functionCall } : { functionCall, thoughtSignature: signature });
  }
  return parts;
}

function ownSignature({ extra_content: extra }: Json): string | null {
  const signature = isJson(extra) && isJson(extra["google"]) ? extra["google"]["thought_signature"] : null;
  return typeof signature === "string" && signature !== "" ? signature : null;
}
