import { isJson, type Json, type StreamEvent } from "../../kit/index.ts";
import type { AnswerForm, Decoded, StreamReader } from "../dialect.ts";
import { RewritingReader } from "./answer.ts";
import { objects } from "./json.ts";

/*
 * Structured output of a model that has none of its own: a tool with the schema, which the model must call, and whose
 * arguments are the answer. As @ai-sdk/anthropic does it (`jsonResponseTool`): beside the client's own tools one of them
 * must be called, whichever; text without a call of the tool is the answer after all, text before one is left out. A model
 * that cannot be made to call a tool is only offered it: that it must is then reported as dropped.
 */

const DESCRIPTION = "Respond with a JSON object.";

export interface JsonTool {
  /** The canonical body that asks for a call of the tool in place of structured output. */
  readonly body: Json;
  readonly name: string;
}

/** Whether the answer is to be a call of one of the client's tools: then there is no text to have a format. */
export function mustCall({ tool_choice: choice }: Json): boolean {
  return choice === "required" || isJson(choice);
}

/** The schema that a canonical `response_format` names; null: it names none. */
export function requestedSchema(format: unknown): Json | null {
  const described = isJson(format) && format["type"] === "json_schema" ? format["json_schema"] : null;
  const schema = isJson(described) ? described["schema"] : null;
  return isJson(schema) ? schema : null;
}

/**
 * null where the answer must be a call of one of the client's tools, which has no structured output, or cannot be the call
 * of a tool, whose arguments are an object.
 * @param choice what the request says of the choice: some models cannot be made to call a tool.
 */
export function withJsonTool(body: Json, schema: Json, choice: "required" | "auto" = "required"): JsonTool | null {
  const { response_format: format, tools, tool_choice: asked } = body;
  if (mustCall(body) || (schema["type"] ?? "object") !== "object") return null;
  const described = isJson(format) && isJson(format["json_schema"]) ? format["json_schema"]["description"] : undefined;
  const own = Array.isArray(tools) && asked !== "none" ? (tools as readonly unknown[]) : [];
  const taken = new Set(
    own.map((tool) => (isJson(tool) && isJson(tool["function"]) ? tool["function"]["name"] : null)),
  );
  let name = "json";
  for (let n = 2; taken.has(name); n++) name = `json_${n}`;
  const description = typeof described === "string" && described !== "" ? described : DESCRIPTION;
  const tool = { type: "function", function: { name, description, parameters: schema } };
  return {
    name,
    body: { ...body, response_format: undefined, tools: [...own, tool], tool_choice: choice },
  };
}

/** What reads an answer that is the call of a tool as the text that it stands for. @param form of the codec's answers. */
export function jsonToolForm(form: AnswerForm, name: string): AnswerForm {
  const { decoder } = form;
  return {
    ...form,
    answer: (body, call) => answered(form.answer(body, call), name),
    decoder: decoder === null ? null : (call) => new JsonToolReader(decoder(call), name),
  };
}

function answered({ body, usage }: Decoded, name: string): Decoded {
  const choices = objects(body["choices"]).map((choice) => {
    const { message, native_finish_reason: word, ...rest } = choice;
    const calls = isJson(message) ? objects(message["tool_calls"]) : [];
    const found = calls.find((call) => calledName(call) === name);
    if (!isJson(message) || found === undefined) return choice;
    // One answer is enough.
    const others = calls.filter((call) => calledName(call) !== name);
    const { tool_calls: _calls, ...fields } = message;
    return {
      ...rest,
      ...(others.length > 0 ? { native_finish_reason: word } : {}),
      message: { ...fields, content: argumentsOf(found), ...(others.length > 0 ? { tool_calls: others } : {}) },
      finish_reason: finishOf(rest["finish_reason"], others.length > 0),
    };
  });
  return { body: { ...body, choices }, usage };
}

/** A call that was cut off by the limit stays so. */
function finishOf(reason: unknown, called: boolean): unknown {
  return reason === "tool_calls" && !called ? "stop" : reason;
}

function calledName(call: Json): unknown {
  return isJson(call["function"]) ? call["function"]["name"] : undefined;
}

function argumentsOf(call: Json): string {
  const written = isJson(call["function"]) ? call["function"]["arguments"] : undefined;
  return typeof written === "string" ? written : "";
}

class JsonToolReader extends RewritingReader {
  readonly #name: string;
  readonly #choices = new Map<unknown, JsonToolChoice>();
  /** What was produced in events that nothing was left of. */
  #held = "";

  constructor(inner: StreamReader, name: string) {
    super(inner);
    this.#name = name;
  }

  protected override rewrite(event: StreamEvent): StreamEvent | null {
    const listed = objects(event.data["choices"]);
    if (listed.length === 0) return event;
    const choices = listed.flatMap((choice) => this.#choice(choice["index"]).read(choice) ?? []);
    const text = this.#held + event.text;
    this.#held = choices.length === 0 ? text : "";
    // What the upstream wrote is not what is said.
    const { raw: _raw, ...rest } = event;
    if (choices.length > 0) return { ...rest, text, data: { ...event.data, choices } };
    // Counts must not be lost with it.
    return event.usage === undefined ? null : { ...rest, text: "", data: { ...event.data, choices } };
  }

  #choice(index: unknown): JsonToolChoice {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const choice = new JsonToolChoice(this.#name);
    this.#choices.set(index, choice);
    return choice;
  }
}

/** One choice of a stream. Text is held until it is known whether the tool is called. */
class JsonToolChoice {
  readonly #name: string;
  #text = "";
  /** The tool's index among the calls; null: it was not called yet. */
  #tool: unknown = null;
  /** Indexes of further calls of it: one answer is enough. */
  readonly #repeated = new Set<unknown>();
  /** New indexes of the other calls by those they had. */
  readonly #others = new Map<unknown, number>();

  constructor(name: string) {
    this.#name = name;
  }

  /** null for a choice of which nothing is left. */
  read({ delta, native_finish_reason: word, ...choice }: Json): Json | null {
    const { content, tool_calls, annotations, ...fields } = isJson(delta) ? delta : {};
    const calls: Json[] = [];
    let written = "";
    for (const call of objects(tool_calls)) {
      const { index } = call;
      if (calledName(call) === this.#name && index !== this.#tool) {
        if (this.#tool === null) {
          this.#tool = index;
          this.#text = "";
        } else this.#repeated.add(index);
      }
      if (this.#tool !== null && index === this.#tool) written += argumentsOf(call);
      else if (!this.#repeated.has(index)) calls.push({ ...call, index: this.#indexOf(index) });
    }
    if (typeof content === "string" && this.#tool === null) this.#text += content;
    const reason = choice["finish_reason"];
    const ends = reason !== null && reason !== undefined;
    // Nobody else's call may come before the words that announce it.
    if (calls.length > 0 || ends) written = this.#release() + written;
    const left = {
      ...fields,
      ...(written === "" ? {} : { content: written }),
      ...(annotations === undefined || this.#tool !== null ? {} : { annotations }),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    if (!ends && Object.keys(left).length === 0) return null;
    const rewritten = this.#tool !== null && this.#others.size === 0;
    return {
      ...choice,
      delta: left,
      ...(ends ? { finish_reason: rewritten ? finishOf(reason, false) : reason } : {}),
      ...(word === undefined || (rewritten && reason === "tool_calls") ? {} : { native_finish_reason: word }),
    };
  }

  #release(): string {
    const text = this.#tool === null ? this.#text : "";
    this.#text = "";
    return text;
  }

  #indexOf(index: unknown): number {
    const known = this.#others.get(index);
    if (known !== undefined) return known;
    this.#others.set(index, this.#others.size);
    return this.#others.size - 1;
  }
}
