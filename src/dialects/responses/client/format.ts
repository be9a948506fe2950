import {
  type AnswerExtras,
  type AnswerFormat,
  type Bill,
  type Call,
  isJson,
  type Json,
  type StreamEvent,
  type StandIn,
  type StreamFormat,
  type Usage,
} from "../../../kit/index.ts";
import { readUsage } from "../../canonical/usage.ts";
import { chatFormat } from "../../chat/client.ts";
import { objects, outputOf } from "../items.ts";
import type { ItemStatus } from "./item.ts";
import { Output } from "./output.ts";
import { seal } from "./reasoning.ts";
import { askedOf, bareId, incompleteBy, requestOf, responseObject } from "./response.ts";
import { readTools, type ToolName } from "./tools.ts";

/** Answers to a Responses client: `model` is the route, usage is always shown. */
export function responsesFormat(call: Call, standIn?: StandIn): AnswerFormat & { readonly stream: StreamFormat } {
  const { tools, reasoning } = requestOf(call);
  const wish = isJson(reasoning) ? (reasoning["summary"] ?? reasoning["generate_summary"]) : null;
  const shape = { names: readTools(tools).names, summary: typeof wish === "string" };
  const asked = askedOf(call);
  const chat = chatFormat(call);
  return {
    contentType: chat.contentType,
    answer: (body, extras) => answer(asked, shape, body, extras),
    promptText: () => chat.promptText(),
    producedText: (body) => chat.producedText(body),
    stream: new ResponsesStream(asked, shape, standIn?.created ?? 0),
  };
}

interface Shape {
  readonly names: ReadonlyMap<string, ToolName>;
  readonly summary: boolean;
}

function answer(asked: Json, shape: Shape, body: Json, extras: AnswerExtras): string {
  const { id: upstream, created, choices, service_tier: serviceTier } = body;
  const id = bareId(typeof upstream === "string" && upstream !== "" ? upstream : extras.id);
  const choice = firstOf(choices);
  const incomplete = incompleteBy(choice["finish_reason"]);
  const status = incomplete === null ? "completed" : "incomplete";
  return JSON.stringify(
    responseObject(asked, {
      id,
      created: seconds(created) ?? extras.created,
      status,
      incomplete,
      output: sameOutput(body, choice) ?? writtenOutput(shape, id, choice, status),
      usage: readUsage(body) ?? extras.bill.usage,
      serviceTier,
    }),
  );
}

function writtenOutput(shape: Shape, id: string, { message, logprobs }: Json, status: ItemStatus): readonly Json[] {
  const output = new Output({ ...shape, id, emit: () => {} });
  if (isJson(message)) output.add(message, logprobs);
  return output.close(status);
}

/** The items of an upstream of the same format, their encrypted reasoning marked as its own; null where there are none. */
function sameOutput(body: Json, { message }: Json): readonly Json[] | null {
  const details = isJson(message) ? objects(message["reasoning_details"]) : [];
  return (
    outputOf(body, message)?.map((item) => {
      if (item["type"] !== "reasoning" || typeof item["encrypted_content"] !== "string") return item;
      const own = details.filter(({ id }) => id === item["id"]);
      return { ...item, encrypted_content: seal(own) ?? item["encrypted_content"] };
    }) ?? null
  );
}

class ResponsesStream implements StreamFormat {
  readonly heartbeat = ": keep-alive\n\n";
  readonly #asked: Json;
  readonly #shape: Shape;
  /** Unix seconds; stands in for a time that the upstream left out. */
  readonly #created: number;
  #begun: { readonly id: string; readonly created: number; readonly output: Output } | null = null;
  #text = "";
  #number = 0;
  #finish: unknown = null;
  #usage: Usage | undefined;
  #serviceTier: unknown;

  constructor(asked: Json, shape: Shape, created: number) {
    this.#asked = asked;
    this.#shape = shape;
    this.#created = created;
  }

  event({ data, usage, partial }: StreamEvent): string {
    // One of a part of the answer would be less than what is charged.
    if (partial !== true) this.#usage = usage ?? this.#usage;
    this.#serviceTier = data["service_tier"] ?? this.#serviceTier;
    const { output } = this.#begin(data);
    const choice = firstOf(data["choices"]);
    if (isJson(choice["delta"])) output.add(choice["delta"], choice["logprobs"]);
    this.#finish = choice["finish_reason"] ?? this.#finish;
    return this.#take();
  }

  /** The fields stand in `error` as well: older SDKs look for a failure only there, and end without one. */
  failure(message: string): string {
    const error = { code: "server_error", message, param: null };
    this.#emit("error", { ...error, error: { type: error.code, ...error } });
    return this.#take();
  }

  done({ usage }: Bill): string {
    const incomplete = incompleteBy(this.#finish);
    return this.#end(incomplete === null ? "completed" : "incomplete", this.#usage ?? usage);
  }

  killed({ usage }: Bill): string {
    return this.#end("incomplete", usage);
  }

  keptBytes(): number {
    return JSON.stringify(this.#asked).length;
  }

  #begin(data: Json) {
    if (this.#begun !== null) return this.#begun;
    const id = bareId(data["id"]);
    const output = new Output({ ...this.#shape, id, emit: (type, fields) => this.#emit(type, fields) });
    this.#begun = { id, created: seconds(data["created"]) ?? this.#created, output };
    const response = responseObject(this.#asked, { ...this.#begun, status: "in_progress", output: [] });
    this.#emit("response.created", { response });
    this.#emit("response.in_progress", { response });
    return this.#begun;
  }

  #end(status: "completed" | "incomplete", usage: Usage | undefined): string {
    const begun = this.#begin({});
    const response = responseObject(this.#asked, {
      ...begun,
      status,
      incomplete: incompleteBy(this.#finish),
      output: begun.output.close(status),
      usage,
      serviceTier: this.#serviceTier,
    });
    this.#emit(`response.${status}`, { response });
    return this.#take();
  }

  #emit(type: string, fields: Json): void {
    const data = { type, sequence_number: this.#number, ...fields };
    this.#number += 1;
    this.#text += `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

/** The API has one answer a request. */
function firstOf(choices: unknown): Json {
  if (!Array.isArray(choices)) return {};
  const found: unknown = choices.find((choice) => isJson(choice) && (choice["index"] ?? 0) === 0);
  return isJson(found) ? found : {};
}

function seconds(created: unknown): number | null {
  return typeof created === "number" && Number.isSafeInteger(created) && created > 0 ? created : null;
}
