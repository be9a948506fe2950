import { isJson, type Json } from "../../kit/index.ts";
import { append, list } from "../canonical/json.ts";
import { MESSAGE_FIELDS } from "../canonical/message.ts";
import type { Report } from "../canonical/report.ts";
import { GO_ON, NOTHING_SAID, OPENING } from "../canonical/turns.ts";
import { pairedMessages } from "../canonical/tool-pairs.ts";
import { argumentsObject, readCallId } from "../canonical/tools.ts";
import { type Family, isSigned, readSignature, UNSIGNED } from "./models.ts";
import { mediaPart, partsOf, textsOf } from "./parts.ts";
import { MARKS } from "../canonical/marks.ts";

interface Contents {
  readonly systemInstruction?: Json;
  readonly contents: readonly Json[];
}

interface Turn {
  readonly role: "user" | "model";
  readonly parts: Json[];
  /** Function responses: a turn of their own before the parts, which newer models refuse in one with them. */
  readonly responses: Json[];
}

/** Fields of messages that are carried, or that Gemini has no use for: its parts have an order of their own. */
const FIELDS_OF_ROLE: Readonly<Record<string, ReadonlySet<string>>> = {
  assistant: new Set([
    "tool_calls",
    "reasoning_content",
    "reasoning_details",
    "reasoning",
    "refusal",
    "images",
    "annotations",
    "block_order",
  ]),
  tool: new Set(["tool_call_id", "is_error", "name"]),
};

/** The conversation in Gemini's turns: consecutive ones of one role are one, system messages stand apart. */
export function contentsOf(messages: unknown, family: Family, report: Report): Contents {
  const writer = new ContentsWriter(family, report);
  for (const { message, at } of pairedMessages(list(messages))) writer.add(message, at);
  return writer.contents();
}

class ContentsWriter {
  readonly #family: Family;
  readonly #report: Report;
  readonly #system: Json[] = [];
  readonly #turns: Turn[] = [];
  /** Names of the called functions by the calls' ids. */
  readonly #names = new Map<string, string>();
  /** Pointer to the last message. */
  #last = "/messages";

  constructor(family: Family, report: Report) {
    this.#family = family;
    this.#report = report;
  }

  add(message: unknown, at: string): void {
    if (!isJson(message)) throw this.#report.refusal(at, "must be an object");
    const { role, content } = message;
    this.#last = at;
    if (role === "system" || role === "developer") {
      append(
        this.#system,
        textsOf(content, `${at}/content`, this.#report).map((text) => ({ text })),
      );
    } else if (role === "user") this.#user(content, at);
    else if (role === "assistant") this.#model(message, at);
    else if (role === "tool") this.#response(message, at);
    else return this.#report.drop(at);
    const own = FIELDS_OF_ROLE[role];
    this.#report.dropUnknown(message, own ? MESSAGE_FIELDS.union(own) : MESSAGE_FIELDS, at);
  }

  contents(): Contents {
    const contents = this.#turns.flatMap(({ role, responses, parts }) =>
      [responses, parts].filter((one) => one.length > 0).map((one) => ({ role, parts: one })),
    );
    this.#ends(contents);
    // A request without contents is refused, so instructions alone are what is asked.
    if (contents.length === 0) return { contents: [{ role: "user", parts: this.#system }] };
    return this.#system.length === 0 ? { contents } : { systemInstruction: { parts: this.#system }, contents };
  }

  /**
   * The user's turns that Gemini demands: "function call turn comes immediately after a user turn or after a function
   * response turn" (https://github.com/lbjlaq/Antigravity-Manager/pull/3396), and "Requests ending with a model turn are not
   * supported" (https://github.com/google/oss-rebuild/pull/1559, https://github.com/crewAIInc/crewAI/pull/6973).
   */
  #ends(contents: Json[]): void {
    if (contents[0]?.["role"] === "model") contents.unshift({ role: "user", parts: [{ text: OPENING }] });
    if (contents.at(-1)?.["role"] !== "model") return;
    contents.push({ role: "user", parts: [{ text: GO_ON }] });
    this.#report.drop(this.#last);
  }

  #turn(role: Turn["role"]): Turn {
    const last = this.#turns.at(-1);
    if (last?.role === role) return last;
    const turn: Turn = { role, parts: [], responses: [] };
    this.#turns.push(turn);
    return turn;
  }

  #user(content: unknown, at: string): void {
    const parts = partsOf(content, `${at}/content`, this.#report);
    append(this.#turn("user").parts, parts.length > 0 ? parts : [{ text: NOTHING_SAID }]);
  }

  #model(message: Json, at: string): void {
    const parts = modelParts(message, at, this.#family, this.#report, this.#names);
    if (parts.length > 0) append(this.#turn("model").parts, parts);
  }

  /** Responses come first in their turn; media that a response cannot hold follows them. */
  #response(message: Json, at: string): void {
    const { tool_call_id: carried, is_error: failed } = message;
    if (typeof carried !== "string") throw this.#report.refusal(`${at}/tool_call_id`, "must be the id of a tool call");
    const { id } = readCallId(carried);
    const name = this.#names.get(id) ?? message["name"];
    if (typeof name !== "string" || name === "") {
      throw this.#report.refusal(`${at}/tool_call_id`, "must be the id of a tool call in an earlier message");
    }
    const all = partsOf(message["content"], `${at}/content`, this.#report);
    const text = all.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
    const media = all.filter((part) => part["text"] === undefined);
    const holds = (part: Json): boolean => isSigned(this.#family) && part["inlineData"] !== undefined;
    const held = media.filter(holds);
    const response = { id, name, response: { [failed === true ? "error" : "output"]: text } };
    const turn = this.#turn("user");
    turn.responses.push({ functionResponse: held.length > 0 ? { ...response, parts: held } : response });
    append(
      turn.parts,
      media.filter((part) => !holds(part)),
    );
  }
}

/**
 * An assistant's message in Gemini's parts: thoughts, text, media, what was signed apart, function calls.
 * @param names gets the names of the calls by their ids.
 */
function modelParts(message: Json, at: string, family: Family, report: Report, names: Map<string, string>): Json[] {
  const { content, refusal, images } = message;
  const reasoning = readReasoning(message, at, report);
  const parts = partsOf(content, `${at}/content`, report);
  const last = parts.findLastIndex((part) => part["text"] !== undefined);
  const bearer = parts[last];
  const [thoughtSignature, ...others] = reasoning.onText;
  const attached = bearer !== undefined && thoughtSignature !== undefined;
  if (attached) parts[last] = { ...bearer, thoughtSignature };
  if (typeof refusal === "string" && refusal !== "") parts.push({ text: refusal });
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

const CALL_FIELDS: ReadonlySet<string> = new Set(["id", "type", "index", "function", "extra_content", ...MARKS]);

function callParts(calls: unknown, at: string, family: Family, report: Report, names: Map<string, string>): Json[] {
  if (!Array.isArray(calls)) return [];
  const parts: Json[] = [];
  for (const [index, call] of (calls as readonly unknown[]).entries()) {
    const called = isJson(call) ? call["function"] : null;
    const name = isJson(called) ? called["name"] : null;
    if (!isJson(call) || !isJson(called) || typeof name !== "string" || name === "") {
      throw report.refusal(`${at}/${index}/function/name`, "must be the name of a function");
    }
    report.dropUnknown(call, CALL_FIELDS, `${at}/${index}`);
    const carried = typeof call["id"] === "string" ? readCallId(call["id"]) : null;
    if (carried !== null) names.set(carried.id, name);
    const functionCall = { ...(carried?.id && { id: carried.id }), name, args: argumentsObject(called["arguments"]) };
    const signature = ownSignature(call) ?? carried?.signature ?? (index === 0 && isSigned(family) ? UNSIGNED : null);
    parts.push(signature === null ? { functionCall } : { functionCall, thoughtSignature: signature });
  }
  return parts;
}

function ownSignature({ extra_content: extra }: Json): string | null {
  const signature = isJson(extra) && isJson(extra["google"]) ? extra["google"]["thought_signature"] : null;
  return typeof signature === "string" && signature !== "" ? signature : null;
}
