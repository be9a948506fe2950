import { type Json, isJson } from "../../kit/index.ts";
import {
  type Answer,
  answer,
  ANY_JSON,
  argumentDeltas,
  type Choice,
  countTokens,
  CREATED_SECONDS,
  type Question,
  type Tool,
  type ToolCall,
  toolsToCall,
  type ToolUse,
} from "../answer.ts";
import { asText, badParameter, integer, parseBody, parseModel, wrong } from "../fields.ts";
import { type LedgerEntry, NO_UNITS } from "../ledger.ts";
import { jsonReply, note, type Part, type Reply, streamReply } from "../endpoint.ts";
import { parseScript, type Script } from "../script.ts";
import { checkVendor, habitsOf } from "../strict/vendors.ts";
import { defectiveAnswer, defectiveChunks } from "./chat-variants.ts";

const REMEMBERED_REQUEST_CHARACTERS = 16_384;
const REMEMBERED_ANSWERS = 128;

/** A healthy answer, encoded whole. */
export interface Encoded {
  readonly reply: Reply<string>;
  readonly payload: Buffer;
  /** Enters it into the ledger. */
  readonly facts: Pick<
    LedgerEntry,
    "model" | "stream" | "status" | "events" | "bytes" | "tokens" | "units" | "claimed"
  >;
}

/** Answers chat completions; remembers the healthy answers to the last requests, which repeat in benchmarks. */
export class Chat {
  readonly #encoded = new Map<string, Encoded>();

  /** The whole answer to a request that has been answered before without any script. */
  recall(text: string): Encoded | undefined {
    return this.#encoded.get(text);
  }

  /** @throws SimError 400 */
  read(text: string, ...scripts: readonly unknown[]): { readonly request: ChatRequest; readonly script: Script } {
    const body = parseBody(text);
    const script = parseScript(...scripts, body["sim"]);
    checkVendor(script, "/chat/completions", body);
    // A vendor has a limit of its own, or none.
    return { script, request: parseChat(body, script.vendor ? Infinity : undefined) };
  }

  /** The reply as `script` shapes it; its faults are not in it yet. */
  reply(text: string, { question, stream, includeUsage }: ChatRequest, script: Script): Reply<string> {
    const made = answer(question, script, text);
    const defects = habitsOf(script);
    if (!stream) {
      const whole = completion(made, !script.no_usage, script.finish);
      return jsonReply(200, defects ? defectiveAnswer(whole, defects) : whole);
    }
    // Some vendors tell it without being asked, and some refuse to be asked.
    const unasked = !script.defect && defects?.some((defect) => defect.startsWith("usage-"));
    const healthy = chunks(made, (includeUsage || unasked === true) && !script.no_usage, script.finish);
    const parts = defects ? defectiveChunks(healthy, made, defects) : healthy;
    return streamReply(ended(parts, script.no_done || defects?.includes("no-done") ? "" : DONE));
  }

  /** Encodes a healthy reply once, for this request and its repetitions. */
  encode(text: string, model: string, reply: Reply<string>): Encoded {
    const parts = [...reply.parts];
    const payload = Buffer.from(parts.map((part) => part.data).join(""));
    const facts: Encoded["facts"] = {
      model,
      stream: reply.type === "events",
      status: reply.status,
      events: 0,
      bytes: payload.length,
      tokens: 0,
      units: NO_UNITS,
      claimed: null,
    };
    for (const part of parts) note(facts, part);
    const encoded: Encoded = { reply, payload, facts };
    if (this.#encoded.size >= REMEMBERED_ANSWERS) this.#encoded.clear();
    if (text.length <= REMEMBERED_REQUEST_CHARACTERS) this.#encoded.set(text, encoded);
    return encoded;
  }
}

/** A stream with its ending. */
export function* ended(parts: Iterable<Part<string>>, ending: string): Generator<Part<string>> {
  yield* parts;
  yield { data: ending, uncounted: true };
}

/** What a chat-completions body asks for. */
export interface ChatRequest {
  readonly question: Question;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

const ROLES = ["system", "developer", "user", "assistant", "tool", "function"];
const MAXIMUM_CHOICES = 128;
const MAXIMUM_STOPS = 4;

/** @param stops most stop sequences @throws SimError 400 naming the parameter. */
export function parseChat(body: Json, stops = MAXIMUM_STOPS): ChatRequest {
  const { n, stream, stop, stream_options: options } = body;
  const model = parseModel(body["model"]);
  const messages = parseMessages(body["messages"]);
  const userText = textOf(messages.findLast((message) => message["role"] === "user")?.["content"]);
  const limits = ["max_completion_tokens", "max_tokens"].map((name) => integer(name, body[name]));
  if (stream !== undefined && stream !== null && typeof stream !== "boolean")
    throw wrong("stream", "a boolean", stream);
  if (options !== undefined && options !== null && !isJson(options))
    throw wrong("stream_options", "an object", options);
  if (isJson(options) && stream !== true) {
    throw badParameter("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
  }
  return {
    question: {
      model,
      prompt: messages.map((message) => textOf(message["content"])),
      userText,
      choices: integer("n", n, MAXIMUM_CHOICES) ?? 1,
      maximum: limits[0] ?? limits[1] ?? Infinity,
      stop: parseStop(stop, stops),
      calls: parseCalls(body, userText, messages.at(-1)?.["role"] === "tool"),
      schema: parseFormat(body["response_format"]),
    },
    stream: stream === true,
    includeUsage: isJson(options) && options["include_usage"] === true,
  };
}

function parseMessages(value: unknown): readonly Json[] {
  if (!Array.isArray(value)) throw wrong("messages", "an array of objects", value);
  if (value.length === 0) throw badParameter("messages", "Invalid 'messages': empty array.", "empty_array");
  return value.map((message: unknown, index) => {
    const at = `messages[${index}]`;
    if (!isJson(message)) throw wrong(at, "an object", message);
    const { role, content } = message;
    if (typeof role !== "string" || !ROLES.includes(role))
      throw wrong(`${at}.role`, `one of ${ROLES.join(", ")}`, role);
    const absent = content === undefined || content === null;
    if (absent ? role !== "assistant" : typeof content !== "string" && !Array.isArray(content)) {
      throw wrong(`${at}.content`, "a string or an array of content parts", content);
    }
    return message;
  });
}

function parseStop(stop: unknown, max: number): readonly string[] {
  if (stop === undefined || stop === null) return [];
  const sequences: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  const usable = sequences.filter((sequence) => typeof sequence === "string");
  if (usable.length < sequences.length || usable.length > max)
    throw wrong("stop", `a string or up to ${max} strings`, stop);
  return usable.filter((sequence) => sequence !== "");
}

/** The schema that is asked for. */
function parseFormat(format: unknown): unknown {
  if (format === undefined || format === null) return undefined;
  if (!isJson(format)) throw wrong("response_format", "an object", format);
  const { type, json_schema: described } = format;
  if (type === "json_object") return ANY_JSON;
  if (type !== "json_schema") return undefined;
  if (!isJson(described)) throw wrong("response_format.json_schema", "an object", described);
  return described["schema"] ?? {};
}

function parseCalls(body: Json, userText: string, answered: boolean): readonly Tool[] {
  const tools = parseTools(body["tools"]);
  return toolsToCall({
    tools,
    choice: parseToolChoice(body["tool_choice"], tools),
    parallel: body["parallel_tool_calls"] !== false,
    userText,
    answered,
  });
}

function parseToolChoice(choice: unknown, tools: readonly Tool[]): ToolUse["choice"] {
  if (isJson(choice)) {
    const name = isJson(choice["function"]) ? choice["function"]["name"] : undefined;
    const found = tools.filter((tool) => tool.name === name);
    if (found.length === 0) throw badParameter("tool_choice", `Tool choice '${asText(name)}' not found in 'tools'.`);
    return { only: found.map((tool) => tool.name) };
  }
  if (choice === "required" && tools.length === 0) {
    throw badParameter("tool_choice", "'tool_choice' is only allowed when 'tools' are specified.");
  }
  return choice === "required" || choice === "none" ? choice : "auto";
}

/** Function tools; tools of other types are accepted and never called. */
function parseTools(value: unknown): readonly Tool[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrong("tools", "an array of objects", value);
  return value.flatMap((tool: unknown, index): readonly Tool[] => {
    if (!isJson(tool) || typeof tool["type"] !== "string")
      throw wrong(`tools[${index}]`, "an object with a type", tool);
    if (tool["type"] !== "function") return [];
    const made = tool["function"];
    if (!isJson(made) || typeof made["name"] !== "string" || made["name"] === "") {
      throw badParameter(
        `tools[${index}].function.name`,
        `Missing required parameter: 'tools[${index}].function.name'.`,
      );
    }
    return [{ name: made["name"], parameters: made["parameters"] ?? {} }];
  });
}

/** The text of a message's content: a string, or the text parts of an array. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.map((part) => (isJson(part) && typeof part["text"] === "string" ? part["text"] : "")).join(" ");
}

const FINGERPRINT = "simulated";

export const DONE = "data: [DONE]\n\n";

/** The body of a `chat.completion`. `withUsage` false leaves the token counts out; `finish` stands for the true reason. */
export function completion(answer: Answer, withUsage: boolean, finish?: string): Part<string> {
  const body = {
    id: idOf(answer),
    object: "chat.completion",
    created: CREATED_SECONDS,
    model: answer.model,
    choices: answer.choices.map((choice, index) => ({
      index,
      message: messageOf(choice),
      logprobs: null,
      finish_reason: finish ?? choice.finish,
    })),
    usage: withUsage ? usageOf(answer) : undefined,
    system_fingerprint: FINGERPRINT,
  };
  return {
    data: JSON.stringify(body),
    tokens: answer.choices.reduce((sum, choice) => sum + choice.tokens, 0),
    claims: withUsage ? answer.usage : undefined,
    units: { prompt: answer.prompt },
  };
}

/** The events of a stream without their ending: with `withUsage` the counts come last and are null until then. */
export function* chunks(answer: Answer, withUsage: boolean, finishReason?: string): Generator<Part<string>> {
  // Only what differs is serialised for each event: a long stream's cost is here.
  const head = `data: ${JSON.stringify({
    id: idOf(answer),
    object: "chat.completion.chunk",
    created: CREATED_SECONDS,
    model: answer.model,
    system_fingerprint: FINGERPRINT,
  }).slice(0, -1)},"choices":[`;
  const tail = withUsage ? '],"usage":null}\n\n' : "]}\n\n";
  let units: Part["units"] = { prompt: answer.prompt };
  for (const [index, choice] of answer.choices.entries()) {
    for (const { delta, finish, tokens } of deltas(choice)) {
      const reason = finish === undefined ? "null" : JSON.stringify(finishReason ?? finish);
      const data = `${head}{"index":${index},"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${reason}}${tail}`;
      yield { data, tokens, units };
      units = undefined;
    }
  }
  if (withUsage) {
    yield { data: `${head}],"usage":${JSON.stringify(usageOf(answer))}}\n\n`, claims: answer.usage };
  }
}

interface Delta {
  readonly delta: object;
  readonly finish?: string;
  readonly tokens: number;
}

function* deltas({ reasoning, content, calls, finish }: Choice): Generator<Delta> {
  yield { delta: { role: "assistant", content: calls.length > 0 ? null : "", refusal: null }, tokens: 0 };
  for (const text of reasoning) yield { delta: { reasoning_content: text }, tokens: countTokens(text) };
  for (const text of content) yield { delta: { content: text }, tokens: countTokens(text) };
  for (const [index, call] of calls.entries()) yield* callDeltas(call, index);
  yield { delta: {}, finish, tokens: 0 };
}

function* callDeltas(call: ToolCall, index: number): Generator<Delta> {
  const { id, name } = call;
  yield { delta: { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }, tokens: 1 };
  for (const { text, tokens } of argumentDeltas(call)) {
    yield { delta: { tool_calls: [{ index, function: { arguments: text } }] }, tokens };
  }
}

function messageOf({ reasoning, content, calls }: Choice): object {
  return {
    role: "assistant",
    content: calls.length > 0 ? null : content.join(""),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join("") }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: text }) => ({
        id,
        type: "function",
        function: { name, arguments: text },
      })),
    }),
    refusal: null,
  };
}

function usageOf({ usage }: Answer): object {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: Number(usage.prompt) + Number(usage.completion),
    prompt_tokens_details: {
      cached_tokens: usage.cached,
      ...(usage.cacheWrite !== 0 && { cache_write_tokens: usage.cacheWrite }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

function idOf(answer: Answer): string {
  return `chatcmpl-sim-${answer.seed}`;
}
