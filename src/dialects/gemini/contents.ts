import { isJson, type Json } from "../../kit/index.ts";
import type { Report } from "../report.ts";
import { readCallId } from "../tool-ids.ts";
import { type Family, isSigned } from "./family.ts";
import { modelParts } from "./model-parts.ts";
import { partsOf, textsOf } from "./parts.ts";
import { append } from "../json-fields.ts";

export interface Contents {
  readonly systemInstruction?: Json;
  readonly contents: readonly Json[];
}

interface Turn {
  readonly role: "user" | "model";
  readonly parts: Json[];
  /** How many function responses the parts begin with. */
  responses: number;
}

/** Fields of messages that are carried, or that Gemini has no use for: its parts have an order of their own. */
const FIELDS: ReadonlySet<string> = new Set(["role", "content", "cache_control"]);
const FIELDS_OF: Readonly<Record<string, ReadonlySet<string>>> = {
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
  const writer = new Writer(family, report);
  for (const [index, message] of (Array.isArray(messages) ? messages : []).entries()) {
    writer.add(message, `/messages/${index}`);
  }
  return writer.contents();
}

class Writer {
  readonly #family: Family;
  readonly #report: Report;
  readonly #system: Json[] = [];
  readonly #turns: Turn[] = [];
  /** Names of the called functions by the calls' ids. */
  readonly #names = new Map<string, string>();

  constructor(family: Family, report: Report) {
    this.#family = family;
    this.#report = report;
  }

  add(message: unknown, at: string): void {
    if (!isJson(message)) throw this.#report.refusal(at, "must be an object");
    const { role, content } = message;
    if (role === "system" || role === "developer") {
      append(
        this.#system,
        textsOf(content, `${at}/content`, this.#report).map((text) => ({ text })),
      );
    } else if (role === "user") this.#user(content, at);
    else if (role === "assistant") this.#model(message, at);
    else if (role === "tool") this.#response(message, at);
    else return this.#report.drop(at);
    const own = FIELDS_OF[role];
    this.#report.dropBeside(message, own ? FIELDS.union(own) : FIELDS, at);
  }

  contents(): Contents {
    const contents = this.#turns.map(({ role, parts }) => ({ role, parts }));
    // A request without contents is refused, so instructions alone are what is asked.
    if (contents.length === 0) return { contents: [{ role: "user", parts: this.#system }] };
    return this.#system.length === 0 ? { contents } : { systemInstruction: { parts: this.#system }, contents };
  }

  #turn(role: Turn["role"]): Turn {
    const last = this.#turns.at(-1);
    if (last?.role === role) return last;
    const turn: Turn = { role, parts: [], responses: 0 };
    this.#turns.push(turn);
    return turn;
  }

  #user(content: unknown, at: string): void {
    const parts = partsOf(content, `${at}/content`, this.#report);
    append(this.#turn("user").parts, parts.length > 0 ? parts : [{ text: "" }]);
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
    turn.parts.splice(turn.responses, 0, {
      functionResponse: held.length > 0 ? { ...response, parts: held } : response,
    });
    turn.responses += 1;
    append(
      turn.parts,
      media.filter((part) => !holds(part)),
    );
  }
}
