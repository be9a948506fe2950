import { isJson, type Json, type StreamEvent } from "../../kit/index.ts";
import type { AnswerCodec, AnswerForm, Decoded } from "../dialect.ts";
import { RewritingReader } from "./answer.ts";
import { objects } from "./json.ts";

/*
 * `functions` and `function_call`, which `tools` and `tool_choice` have replaced (SDK openai
 * resources/chat/completions/completions.d.ts, deprecated). Few servers still know them, so every target is asked by tools,
 * and what it calls is told as the client asked: as the one `function_call` of the message.
 */

/** The codec of a dialect that knows tools alone, for clients that still send functions. */
export function takingFunctions<Codec extends AnswerCodec>(codec: Codec): Codec {
  return {
    ...codec,
    request(call, target, apiKey) {
      const body = withTools(call.body);
      if (body === null) return codec.request(call, target, apiKey);
      const { dropped, form, ...request } = codec.request({ ...call, body }, target, apiKey);
      const told = (dropped ?? []).flatMap(asFunctionPointer);
      return { ...request, ...(told.length > 0 && { dropped: told }), form: functionForm(form ?? codec) };
    },
  };
}

/** The body with tools in place of functions; null where there is nothing to replace. */
function withTools(body: Json): Json | null {
  const { functions, function_call: choice, ...rest } = body;
  if (!Array.isArray(functions) || functions.length === 0 || body["tools"] !== undefined) return null;
  const tools = objects(functions).map((described) => ({ type: "function", function: described }));
  const named = isJson(choice) ? { type: "function", function: { name: choice["name"] } } : choice;
  // A message has one call.
  return { ...rest, tools, ...(named !== undefined && { tool_choice: named }), parallel_tool_calls: false };
}

/** A pointer into the tools as one into the client's functions. */
function asFunctionPointer(pointer: string): readonly string[] {
  if (pointer === "/parallel_tool_calls") return [];
  return [
    pointer
      .replace(/^\/tools\/(\d+)(?:\/function)?/, "/functions/$1")
      .replace(/^\/tools$/, "/functions")
      .replace(/^\/tool_choice/, "/function_call"),
  ];
}

function functionForm(form: AnswerForm): AnswerForm {
  const { decoder } = form;
  return {
    ...form,
    answer: (bytes, call) => answered(form.answer(bytes, call)),
    decoder: decoder === null ? null : (call) => new FunctionCallReader(decoder(call)),
  };
}

function answered({ body, usage }: Decoded): Decoded {
  const choices = objects(body["choices"]).map((choice) => withFunctionCall(choice, "message"));
  return { body: { ...body, choices }, usage };
}

/** A choice whose first call is the message's `function_call`; the very same without calls. */
function withFunctionCall(choice: Json, part: "message" | "delta"): Json {
  const { [part]: said, finish_reason: reason } = choice;
  const { tool_calls: calls, ...rest } = isJson(said) ? said : {};
  const ended = reason === "tool_calls" ? { finish_reason: "function_call" } : {};
  if (calls === undefined) return reason === "tool_calls" ? { ...choice, ...ended } : choice;
  const first = objects(calls).find(({ index }) => index === undefined || index === 0);
  const called = first === undefined ? {} : { function_call: first["function"] };
  return { ...choice, ...ended, [part]: { ...rest, ...called } };
}

class FunctionCallReader extends RewritingReader {
  /** Without the upstream's own text where that is not what is said. */
  protected override rewrite(event: StreamEvent): StreamEvent {
    const own = objects(event.data["choices"]);
    const choices = own.map((choice) => withFunctionCall(choice, "delta"));
    if (choices.every((choice, index) => choice === own[index])) return event;
    const { raw: _raw, ...rest } = event;
    return { ...rest, data: { ...event.data, choices } };
  }
}
