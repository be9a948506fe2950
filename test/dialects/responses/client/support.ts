import { expect } from "vitest";
import { readResponses } from "../../../../src/dialects/responses/client/request.ts";
import { responsesFormat } from "../../../../src/dialects/responses/client/format.ts";
import {
  type AnswerExtras,
  type Bill,
  type Json,
  type StreamEvent,
  type Usage,
  streamBroken,
} from "../../../../src/kit/index.ts";
import { type Check, schemaOf } from "./contract.ts";

export const ROUTE = "route/a";
export const used = (prompt: number, completion: number): Usage => ({ prompt, completion, cached: 0, reasoning: 0 });
export const BILL: Bill = { usage: used(7, 5), estimated: true, charge: 1n };
export const EXTRAS: AnswerExtras = { id: "e1", created: 11, provider: "P", latencyMs: 1, bill: BILL };

export const request = (more: Json = {}): Json => ({ model: ROUTE, input: "hi", ...more });

/** What the messages of a request are read as. */
export const messagesOf = (more: Json): unknown => readResponses(request(more)).body["messages"];

/** A complete canonical answer. */
export function completion(message: Json, finish = "stop", more: Json = {}): Json {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }];
  return { id: "chatcmpl-1", object: "chat.completion", created: 5, model: "up", choices, ...more };
}

const event = (delta: Json, finish_reason: string | null): StreamEvent => ({
  data: {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 5,
    model: "up",
    choices: [{ index: 0, delta, finish_reason }],
  },
  text: "",
});

/** Canonical chunks: the deltas, a finish reason, a count. */
export function chunks(deltas: readonly Json[], finish: string | null = "stop", usage = used(3, 4)): StreamEvent[] {
  const events = deltas.map((delta) => event(delta, null));
  if (finish === null) return events;
  const count = { id: "chatcmpl-1", created: 5, choices: [], usage: {} };
  return [...events, event({}, finish), { data: count, text: "", usage }];
}

export function answer(body: Json, more: Json = {}): Json {
  return JSON.parse(responsesFormat(readResponses(request(more))).answer(body, EXTRAS)) as Json;
}

/** The items of a complete answer. */
export const outputOf = (body: Json, more: Json = {}): readonly Json[] =>
  answer(body, more)["output"] as readonly Json[];

/** Tools of every kind that a client runs. */
export const TOOLS = {
  tools: [
    { type: "function", name: "add" },
    { type: "custom", name: "patch" },
    {
      type: "namespace",
      name: "mcp",
      description: "d",
      tools: [
        { type: "function", name: "add" },
        { type: "custom", name: "say" },
      ],
    },
  ],
};

export interface Frame extends Json {
  readonly type: string;
  readonly sequence_number: number;
}

/** What a client reads; frames are checked as SDKs do: the name is the type, the numbers run from 0. */
export function frames(text: string): readonly Frame[] {
  return text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame, index) => {
      const [, type, json] = /^event: ([\w.]+)\ndata: ([^\n]*)$/.exec(frame) ?? [];
      const data = JSON.parse(json ?? "null") as Frame;
      expect([data.type, data.sequence_number]).toEqual([type, index]);
      return data;
    });
}

export type Ending = "done" | "killed" | "failure";

export function stream(events: readonly StreamEvent[], more: Json = {}, ending: Ending = "done"): string {
  const format = responsesFormat(readResponses(request({ stream: true, ...more }))).stream;
  const text = events.map((event) => format.event(event)).join("");
  if (ending === "failure") return text + format.failure(streamBroken("it broke"));
  return text + (ending === "done" ? format.done(BILL) : format.killed(BILL));
}

/** The types of a stream, those that repeat one after the other once. */
export const typesOf = (all: readonly Frame[]): readonly string[] =>
  all.map(({ type }) => type.replace("response.", "")).filter((type, index, types) => type !== types[index - 1]);

export const words = (value: unknown): string => (typeof value === "string" ? value : "");

const WHOLE: ReadonlySet<unknown> = new Set([
  "image_generation_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
]);

/** Puts items together from deltas alone, as a client without the `done` events would. */
export function assemble(all: readonly Frame[]): readonly Json[] {
  const items: Record<string, unknown>[] = [];
  for (const frame of all) {
    const index = Number(frame["output_index"]);
    const item = items[index]!;
    const list = (name: string): Record<string, unknown>[] => (item[name] ??= []) as Record<string, unknown>[];
    const append = (target: Record<string, unknown>, name: string): void => {
      target[name] = words(target[name]) + words(frame["delta"]);
    };
    const content = () => list("content")[Number(frame["content_index"])]!;
    switch (frame.type.replace("response.", "")) {
      case "output_item.done":
        // Images and what runs at the client come whole, in the end.
        if (WHOLE.has(item["type"])) items[index] = { ...(frame["item"] as Json) };
        break;
      case "output_item.added":
        expect(index).toBe(items.length);
        items.push(structuredClone(frame["item"]) as Record<string, unknown>);
        break;
      case "content_part.added":
        expect(frame["content_index"]).toBe(list("content").length);
        list("content").push(structuredClone(frame["part"]) as Record<string, unknown>);
        break;
      case "reasoning_summary_part.added":
        list("summary").push(structuredClone(frame["part"]) as Record<string, unknown>);
        break;
      case "output_text.delta":
      case "reasoning_text.delta":
        append(content(), "text");
        break;
      case "reasoning_summary_text.delta":
        append(list("summary")[Number(frame["summary_index"])]!, "text");
        break;
      case "refusal.delta":
        append(content(), "refusal");
        break;
      case "output_text.annotation.added":
        (content()["annotations"] as unknown[]).push(frame["annotation"]);
        break;
      case "function_call_arguments.delta":
        append(item, "arguments");
        break;
      case "custom_tool_call_input.delta":
        append(item, "input");
        break;
    }
    if ("item_id" in frame) expect(item["id"]).toBe(frame["item_id"]);
  }
  return items;
}

/** Of items put together from deltas and of whole ones: what both must agree on. */
export const essence = (items: unknown): readonly Json[] =>
  (items as readonly Json[]).map((item) => {
    const { status: _status, encrypted_content: _sealed, content, ...rest } = item;
    const parts = Array.isArray(content) && content.length > 0 ? { content } : {};
    return JSON.parse(
      JSON.stringify({ ...rest, ...parts }, (key, value: unknown) => (key === "logprobs" ? [] : value)),
    ) as Json;
  });

/** Every event by its own schema. */
export function faults(check: Check, all: readonly Frame[]): readonly string[] {
  return all.flatMap((frame) => check(schemaOf(frame.type), frame).map((fault) => `${frame.type}: ${fault}`));
}
