import {
  type AnswerExtras,
  type AnswerFormat,
  type Call,
  GatewayError,
  isJson,
  type Json,
  type StreamFormat,
} from "../../../kit/index.ts";
import { guardDepth, list, objects, stringOf } from "../../canonical/json.ts";
import { inOrder, webCitations } from "../../canonical/message.ts";
import { argumentsObject } from "../../canonical/tools.ts";
import { readUsage } from "../../canonical/usage.ts";
import { chatFormat } from "../../chat/client.ts";
import { nativeBlock, nativeFields, sealedData } from "../native.ts";
import { shownUsage, stopOf } from "./events.ts";
import { countable } from "./request.ts";
import { messageId, MessagesStream } from "./stream.ts";

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
  const message = isJson(choice["message"]) ? choice["message"] : {};
  const native = nativeOf(body);
  const content = writeBlocks(message);
  const called = content.some(({ type }) => type === "tool_use");
  const refused = typeof message["refusal"] === "string" && message["refusal"] !== "";
  return {
    ...native,
    id: messageId(body["id"], extras.id),
    type: "message",
    role: "assistant",
    model,
    content,
    ...stopOf(choice, { called, refused, verbatim: native !== null }),
    usage: shownUsage(readUsage(body) ?? extras.bill.usage, isJson(native?.["usage"]) ? native["usage"] : {}),
  };
}

/** What a Messages upstream said beside the canonical fields; null for any other upstream's answer. */
function nativeOf({ native }: Json): Json | null {
  return isJson(native) && native["dialect"] === "messages" && isJson(native["message"]) ? native["message"] : null;
}

function write(answer: Json): string {
  return guardDepth(
    () => JSON.stringify(answer),
    () => new GatewayError("PROVIDER_ERROR", "upstream sent a value nested too deeply"),
  );
}

/** The content blocks of a canonical answer, in their order. */
function writeBlocks(message: Json): readonly Json[] {
  const lists = {
    reasoning: writeReasoning(message),
    content: writeContent(message),
    tool_call: objects(message["tool_calls"]).map(writeCall),
  };
  const order = list(message["block_order"]).filter(
    (place) => typeof place === "string" && Object.hasOwn(lists, place),
  );
  return inOrder(lists, order);
}

/** Details bring what must go back verbatim; a provider without them gives the text alone. */
function writeReasoning({ reasoning_details, reasoning_content }: Json): Json[] {
  const blocks = objects(reasoning_details).map(writeDetail);
  const whole = stringOf(reasoning_content);
  if (whole === "" || blocks.some((block) => stringOf(block["thinking"]) !== "")) return blocks;
  const signed = blocks.findIndex(({ type }) => type === "thinking");
  if (signed < 0) return [thinking(whole, ""), ...blocks];
  return blocks.map((block, index) => (index === signed ? { ...block, thinking: whole } : block));
}

function writeDetail(detail: Json): Json {
  const { type, summary, signature } = detail;
  const fields = nativeFields(detail, true);
  if (type === "reasoning.encrypted") return { ...fields, type: "redacted_thinking", data: sealedData(detail) };
  return { ...fields, ...thinking(stringOf(detail["text"]) + stringOf(summary), stringOf(signature)) };
}

function thinking(thought: string, signature: string): Json {
  return { type: "thinking", thinking: thought, signature };
}

function writeContent({ content, refusal, annotations }: Json): Json[] {
  const blocks = typeof content === "string" ? textBlocks(content) : objects(content).map(writePart);
  return [
    ...cited(
      blocks.filter((block) => block !== null),
      annotations,
    ),
    ...textBlocks(stringOf(refusal)),
  ];
}

/** The pages that an answer names, with its last text. */
function cited(blocks: Json[], annotations: unknown): Json[] {
  const citations = webCitations(list(annotations));
  const last = blocks.findLastIndex(({ type }) => type === "text");
  return citations.length === 0 ? blocks : blocks.map((block, at) => (at === last ? { ...block, citations } : block));
}

function textBlocks(text: string): Json[] {
  return text === "" ? [] : [{ type: "text", text }];
}

/** null for a part that Messages has no block for. */
function writePart(part: Json): Json | null {
  if (part["type"] === "native") return nativeBlock(part);
  if (typeof part["text"] !== "string") return null;
  return { ...nativeFields(part, true), type: "text", text: part["text"] };
}

function writeCall(call: Json): Json {
  const { id, function: called } = call;
  const { name, arguments: args } = isJson(called) ? called : {};
  return {
    ...nativeFields(call, true),
    type: "tool_use",
    id: stringOf(id),
    name: stringOf(name),
    input: argumentsObject(args),
  };
}

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
};

/** An error's body in the Messages format, for a request with an `anthropic-version` header. */
export function messagesRefusal(
  { status, message }: GatewayError,
  requestId: string,
): { readonly contentType: string; readonly body: string } {
  const type = TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return {
    contentType: "application/json",
    body: JSON.stringify({ type: "error", error: { type, message }, request_id: requestId }),
  };
}
