import {
  type AnswerExtras,
  type AnswerFormat,
  type Call,
  GatewayError,
  isJson,
  type Json,
  type StreamFormat,
} from "../../../kit/index.ts";
import { readUsage } from "../../openai/usage.ts";
import { chatFormat } from "../chat.ts";
import { writeBlocks } from "./blocks.ts";
import { objects } from "./fields.ts";
import { countable } from "./read.ts";
import { stopOf } from "./stop.ts";
import { messageId, MessagesStream } from "./stream.ts";
import { shownUsage } from "./usage.ts";

/** Answers to a Messages client: `model` is the route. */
export function messagesFormat(call: Call): AnswerFormat & { readonly stream: StreamFormat } {
  const chat = chatFormat({ ...call, body: countable(call.body) });
  return {
    contentType: "application/json",
    answer: (body, extras) => write(message(call.model, body, extras)),
    promptText: () => chat.promptText(),
    producedText: (body) => chat.producedText(body),
    stream: new MessagesStream(call.model),
  };
}

function message(model: string, body: Json, extras: AnswerExtras): Json {
  const [choice = {}] = objects(body["choices"]);
  const said = isJson(choice["message"]) ? choice["message"] : {};
  const native = nativeOf(body);
  const content = writeBlocks(said);
  const called = content.some(({ type }) => type === "tool_use");
  const refused = typeof said["refusal"] === "string" && said["refusal"] !== "";
  return {
    ...native,
    id: messageId(body["id"], extras.id),
    type: "message",
    role: "assistant",
    model,
    content,
    ...stopOf(choice, { called, refused }),
    usage: shownUsage(readUsage(body) ?? extras.bill.usage, isJson(native["usage"]) ? native["usage"] : {}),
  };
}

/** What a Messages upstream said beside the canonical fields. */
function nativeOf({ native }: Json): Json {
  return isJson(native) && native["dialect"] === "messages" && isJson(native["message"]) ? native["message"] : {};
}

/** `JSON.parse` accepts deeper nesting, in a tool's arguments, than `JSON.stringify` can write. */
function write(answer: Json): string {
  try {
    return JSON.stringify(answer);
  } catch (error) {
    if (error instanceof RangeError)
      throw new GatewayError("PROVIDER_ERROR", "upstream sent a value nested too deeply");
    throw error;
  }
}
