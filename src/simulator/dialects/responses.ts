import { isJson, type Json } from "../../kit/index.ts";
import {
  type Answer,
  answer,
  ANY_JSON,
  argumentDeltas,
  type Choice,
  countTokens,
  CREATED_SECONDS,
  onlyChoice,
  type Question,
  sign,
  type Tool,
  type ToolCall,
  toolsToCall,
  type ToolUse,
} from "../answer.ts";
import {
  bodyPart,
  jsonOf,
  jsonReply,
  MALFORMED,
  namedEvent,
  type ParsedRequest,
  type Part,
  type ReceivedRequest,
  streamReply,
} from "../endpoint.ts";
import { asNumber, asText, badParameter, integer, parseModel, type SimError, wrong } from "../fields.ts";
import type { Script } from "../script.ts";
import { RESPONSES_FORM } from "../strict/openai/responses.ts";
import { refusalOf, type StrictVendor } from "../strict/rule.ts";

/** `POST /v1/responses`: as strict about the form as OpenAI is, but where the address names a vendor with limits of its own. */
export function readResponses(received: ReceivedRequest): ParsedRequest {
  const { sim, ...body } = jsonOf(received);
  const request = parseResponses(body, received.vendor);
  return {
    model: request.question.model,
    sim,
    reply: (script) => {
      const made = answer(request.question, script, received.body.toString());
      return request.stream
        ? streamReply(events(made, request, script), frame)
        : jsonReply(200, response(made, request, script));
    },
  };
}

function frame(error: SimError | null): string {
  if (error === null) return `event: response.output_text.delta\ndata: ${MALFORMED}\n\n`;
  const { message, code, param } = error;
  return namedEvent("error", { code: code ?? "server_error", message, param, sequence_number: 0 });
}

/** What a body of the Responses API asks for. */
export interface ResponsesRequest {
  readonly question: Question;
  readonly stream: boolean;
  /** Whether the client sees a summary of the reasoning. */
  readonly summary: boolean;
  /** Whether reasoning can be brought back, encrypted. */
  readonly encrypted: boolean;
  /** Settings that the response repeats. */
  readonly echo: Json;
}

/** Whose form it is. Others took the endpoint over: xAI has tools, users and reasoning of other bounds. */
const OWN_FORM: ReadonlySet<unknown> = new Set([undefined, "openai", "azure"]);

/** @throws SimError 400 in the interface's own words. */
export function parseResponses(body: Json, vendor?: StrictVendor): ResponsesRequest {
  const refusal = OWN_FORM.has(vendor) && refusalOf(RESPONSES_FORM, { model: asText(body["model"] ?? ""), body });
  if (refusal) throw refusal;
  const model = parseModel(body["model"]);
  const { input, instructions, stream, store, include, reasoning, text, tools: declared } = body;
  if (stream !== undefined && stream !== null && typeof stream !== "boolean")
    throw wrong("stream", "a boolean", stream);
  const items = typeof input === "string" ? [{ role: "user", content: input }] : Array.isArray(input) ? input : [];
  const userText = textsOf(items.findLast((item: unknown) => isJson(item) && item["role"] === "user")).join(" ");
  const { effort, summary } = isJson(reasoning) ? reasoning : {};
  const format = isJson(text) ? text["format"] : undefined;
  const tools = parseTools(declared);
  const maximum = integer("max_output_tokens", body["max_output_tokens"]);
  return {
    question: {
      model,
      prompt: [...(typeof instructions === "string" ? [instructions] : []), ...items.flatMap(textsOf)],
      userText,
      choices: 1,
      maximum: maximum ?? Infinity,
      stop: [],
      calls: toolsToCall({
        tools,
        choice: parseChoice(body["tool_choice"], tools),
        parallel: body["parallel_tool_calls"] !== false,
        userText,
        answered: isJson(items.at(-1)) && items.at(-1)["type"] === "function_call_output",
      }),
      ...(typeof effort === "string" && { thinks: effort !== "none" }),
      schema: isJson(format) ? schemaOf(format) : undefined,
    },
    stream: stream === true,
    summary: typeof summary === "string",
    encrypted: Array.isArray(include) && include.includes("reasoning.encrypted_content"),
    echo: {
      instructions: instructions ?? null,
      max_output_tokens: maximum ?? null,
      metadata: body["metadata"] ?? {},
      parallel_tool_calls: body["parallel_tool_calls"] ?? true,
      reasoning: { effort: effort ?? null, summary: summary ?? null },
      store: store ?? true,
      temperature: body["temperature"] ?? 1,
      text: { format: format ?? { type: "text" } },
      tool_choice: body["tool_choice"] ?? "auto",
      tools: declared ?? [],
      top_p: body["top_p"] ?? 1,
      truncation: body["truncation"] ?? "disabled",
    },
  };
}

function schemaOf({ type, schema }: Json): unknown {
  if (type === "json_object") return ANY_JSON;
  return type === "json_schema" ? (schema ?? {}) : undefined;
}

/** Every text of an item: what was said, or what a tool gave. */
function textsOf(item: unknown): readonly string[] {
  if (!isJson(item)) return [];
  const content = item["type"] === "function_call_output" ? item["output"] : item["content"];
  if (typeof content === "string") return [content];
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.filter(isJson).flatMap(({ text }) => (typeof text === "string" ? [text] : []));
}

/** Functions; tools of other types are accepted and never called. */
function parseTools(value: unknown): readonly Tool[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter(isJson)
    .flatMap(({ type, name, parameters }) =>
      type === "function" ? [{ name: asText(name), parameters: parameters ?? {} }] : [],
    );
}

function parseChoice(choice: unknown, tools: readonly Tool[]): ToolUse["choice"] {
  if (!isJson(choice)) return choice === "required" || choice === "none" ? choice : "auto";
  if (choice["type"] === "allowed_tools") {
    const allowed: readonly unknown[] = Array.isArray(choice["tools"]) ? choice["tools"] : [];
    const only = allowed.filter(isJson).map(({ name }) => asText(name));
    return choice["mode"] === "required" ? { only } : "auto";
  }
  if (choice["type"] !== "function") return "auto";
  if (!tools.some(({ name }) => name === choice["name"]))
    throw badParameter("tool_choice", `Tool choice 'function' not found in 'tools' parameter.`);
  return { only: [asText(choice["name"])] };
}

type ResponseOptions = Pick<ResponsesRequest, "summary" | "encrypted" | "echo">;

/** The body of a `response` that is over. */
export function response(answer: Answer, options: ResponseOptions, script: Script): Part<string> {
  return bodyPart(answer, ended(answer, options, script));
}

/** The events of a stream, numbered; the last one is its ending, with the whole response in it. */
export function* events(answer: Answer, options: ResponseOptions, script: Script): Generator<Part<string>> {
  let number = 0;
  const event = (type: string, data: object): string => {
    return namedEvent(type, { ...data, sequence_number: number++ });
  };
  const begun = head(answer, options, "in_progress");
  yield { data: event("response.created", { response: begun }), units: { prompt: answer.prompt } };
  yield { data: event("response.in_progress", { response: begun }) };
  for (const [output_index, item] of streamedItems(answer, options).entries()) {
    yield { data: event("response.output_item.added", { output_index, item: item.start }), tokens: item.tokens };
    for (const { type, data, tokens } of item.events) {
      yield { data: event(type, { item_id: item.id, output_index, ...data }), ...(tokens !== undefined && { tokens }) };
    }
    yield { data: event("response.output_item.done", { output_index, item: item.end }) };
  }
  if (script.no_done) return;
  const last = ended(answer, options, script);
  yield {
    data: event(`response.${last.status}`, { response: last }),
    claims: answer.claims,
    uncounted: true,
  };
}

interface ResponseBody extends Json {
  readonly status: string;
}

function ended(answer: Answer, options: ResponseOptions, script: Script): ResponseBody {
  const choice = onlyChoice(answer);
  const reason = script.finish ?? (choice.finish === "length" ? "max_output_tokens" : undefined);
  const status = reason === undefined ? "completed" : "incomplete";
  return {
    ...head(answer, options, status),
    incomplete_details: reason === undefined ? null : { reason },
    output: streamedItems(answer, options).map(({ end }) => end),
    usage: script.no_usage ? null : usageOf(answer),
  };
}

function head({ seed, model }: Answer, { echo }: ResponseOptions, status: string): ResponseBody {
  return {
    id: `resp_sim_${seed}`,
    object: "response",
    created_at: CREATED_SECONDS,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    model,
    output: [],
    previous_response_id: null,
    service_tier: "default",
    top_logprobs: 0,
    usage: null,
    ...echo,
  };
}

interface StreamedItem {
  readonly id: string;
  readonly start: object;
  readonly end: object;
  /** In the start itself. */
  readonly tokens: number;
  readonly events: readonly { readonly type: string; readonly data: object; readonly tokens?: number }[];
}

function streamedItems(answer: Answer, options: ResponseOptions): readonly StreamedItem[] {
  const choice = onlyChoice(answer);
  const { reasoning, content, calls } = choice;
  return [
    ...(reasoning.length > 0 ? [reasoningItem(choice, answer.seed, options)] : []),
    ...(content.length > 0 || calls.length === 0 ? [messageItem(choice, answer)] : []),
    ...calls.map((call) => callItem(call)),
  ];
}

/** Its text is seen only as a summary that was asked for; its tokens are counted all the same. */
function reasoningItem({ reasoning }: Choice, seed: string, { summary, encrypted }: ResponseOptions): StreamedItem {
  const id = `rs_sim_${seed}`;
  const text = reasoning.join("");
  const all = reasoning.reduce((sum, text) => sum + countTokens(text), 0);
  const item = { id, type: "reasoning", ...(encrypted && { encrypted_content: sealed(seed) }) };
  if (!summary) {
    const whole = { ...item, summary: [] };
    return { id, start: whole, end: whole, tokens: all, events: [] };
  }
  const at = { summary_index: 0 };
  return {
    id,
    start: { ...item, summary: [] },
    end: { ...item, summary: [{ type: "summary_text", text }] },
    tokens: 0,
    events: [
      {
        type: "response.reasoning_summary_part.added",
        data: { ...at, part: { type: "summary_text", text: "" } },
      },
      ...reasoning.map((delta) => ({
        type: "response.reasoning_summary_text.delta",
        data: { ...at, delta },
        tokens: countTokens(delta),
      })),
      { type: "response.reasoning_summary_text.done", data: { ...at, text } },
      { type: "response.reasoning_summary_part.done", data: { ...at, part: { type: "summary_text", text } } },
    ],
  };
}

function textPart(text: string): object {
  return { type: "output_text", annotations: [], logprobs: [], text };
}

function messageItem({ content, finish }: Choice, { seed, model }: Answer): StreamedItem {
  const id = `msg_sim_${seed}`;
  const text = content.join("");
  const item = { id, type: "message", role: "assistant", ...(hasPhases(model) && { phase: "final_answer" }) };
  const at = { content_index: 0 };
  return {
    id,
    start: { ...item, status: "in_progress", content: [] },
    end: { ...item, status: finish === "length" ? "incomplete" : "completed", content: [textPart(text)] },
    tokens: 0,
    events: [
      { type: "response.content_part.added", data: { ...at, part: textPart("") } },
      ...content.map((delta) => ({
        type: "response.output_text.delta",
        data: { ...at, delta, logprobs: [] },
        tokens: countTokens(delta),
      })),
      { type: "response.output_text.done", data: { ...at, text, logprobs: [] } },
      { type: "response.content_part.done", data: { ...at, part: textPart(text) } },
    ],
  };
}

function callItem(call: ToolCall): StreamedItem {
  const id = call.id.replace("call_", "fc_");
  const item = { id, type: "function_call", call_id: call.id, name: call.name };
  return {
    id,
    start: { ...item, status: "in_progress", arguments: "" },
    end: { ...item, status: "completed", arguments: call.arguments },
    tokens: 1,
    events: [
      ...[...argumentDeltas(call)].map(({ text, tokens }) => ({
        type: "response.function_call_arguments.delta",
        data: { delta: text },
        tokens,
      })),
      { type: "response.function_call_arguments.done", data: { name: call.name, arguments: call.arguments } },
    ],
  };
}

/** What the provider knows its own reasoning by when it comes back. */
export function sealed(seed: string): string {
  return sign("openai", seed, "reasoning");
}

/** Messages of the newer models say whether they are the answer or on the way to it. */
function hasPhases(model: string): boolean {
  return /^gpt-(?:5\.[3-9]|[6-9])/.test(model);
}

function usageOf({ usage }: Answer): object {
  return {
    input_tokens: usage.prompt,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.completion,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: asNumber(usage.prompt) + asNumber(usage.completion),
  };
}
