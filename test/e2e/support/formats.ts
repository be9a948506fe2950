import { type Endpoint, isJson, type Json } from "../../../src/kit/index.ts";
import { CHAT, MESSAGES, type TestGateway, type TestUser } from "./in-process.ts";
import type { Answer, Exchange, Sent } from "./http.ts";
import { ENDPOINTS, type KindEndpoint, openKind, PLACES } from "./kinds.ts";

export const FORMAT_NAMES = ["chat", "messages", "responses"] as const;
/** The ways in which a client may write to a chat model. */
export type FormatName = (typeof FORMAT_NAMES)[number];

/** How a client asks in one of them, and reads what it is answered. */
export interface ClientFormat {
  readonly path: string;
  /** The same two words in every format; the model is still missing. */
  readonly body: Json;
  /** The field that limits the answer's tokens. */
  readonly limit: string;
  /** Names the body of a bad request, and where it is wrong. */
  readonly wrong: readonly [body: Json, pointer: string];
  /** What a complete answer says. */
  readonly text: (answer: Json) => string;
  /** Tokens of prompt and answer, as shown. */
  readonly counts: (answer: Json) => readonly [prompt: unknown, completion: unknown];
  /** A tool as the format declares it. */
  readonly tool: (name: string, schema: Json) => Json;
  /** A prompt in place of the two words. */
  readonly prompt: (text: string) => Json;
  /** Of a complete answer that its limit ended. */
  readonly limited: Json;
  /** Types of the last events of a stream that was killed while a text came. */
  readonly killedTypes: readonly string[];
  /** Name and arguments of the tools that a stream's events call, once they are whole. */
  readonly streamedCalls: (events: readonly Json[]) => readonly unknown[];
  /** What one event adds to the text. */
  readonly delta: (event: Json) => string;
  /** What a whole stream ends in. */
  readonly done: RegExp;
  /** What a stream ends in after a failure. */
  readonly failed: (message: string) => RegExp;
  /** What a stream ends in that its user killed, and all of one that had not begun. */
  readonly killed: RegExp;
  readonly beat: string;
}

const escape = (text: string): string => RegExp.escape(JSON.stringify(text));
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
const object = (value: unknown): Json => (isJson(value) ? value : {});

export const FORMATS: Readonly<Record<FormatName, ClientFormat>> = {
  chat: {
    path: CHAT,
    body: { messages: MESSAGES },
    limit: "max_tokens",
    wrong: [{ messages: [{ content: "x" }] }, "/messages/0/role"],
    text: ({ choices }) => String(object(list(choices)[0]?.["message"])["content"]),
    counts: ({ usage }) => [object(usage)["prompt_tokens"], object(usage)["completion_tokens"]],
    tool: (name, parameters) => ({ type: "function", function: { name, parameters } }),
    prompt: (content) => ({ messages: [{ role: "user", content }] }),
    limited: { choices: [{ finish_reason: "length" }] },
    killedTypes: [],
    streamedCalls: (events) => {
      const calls = events.flatMap(({ choices }) => list(object(list(choices)[0]?.["delta"])["tool_calls"]));
      return joinedCalls(calls.map(({ index, function: called }) => ({ ...object(called), index })));
    },
    delta: ({ choices }) => said(object(list(choices)[0]?.["delta"])["content"]),
    done: /data: \[DONE\]\n\n$/,
    failed: (message) =>
      new RegExp(`data: \\{"error":\\{"message":${escape(message)},"type":"api_error"\\}\\}\n\ndata: \\[DONE\\]\n\n$`),
    killed: /data: \[DONE\]\n\n$/,
    beat: ": keep-alive\n\n",
  },
  messages: {
    path: "/v1/messages",
    body: { messages: MESSAGES, max_tokens: 1_024 },
    limit: "max_tokens",
    wrong: [{ messages: [{ content: "x" }] }, "/messages/0/role"],
    text: ({ content }) =>
      list(content)
        .map(({ text }) => said(text))
        .join(""),
    counts: ({ usage }) => [object(usage)["input_tokens"], object(usage)["output_tokens"]],
    tool: (name, input_schema) => ({ name, input_schema }),
    prompt: (content) => ({ messages: [{ role: "user", content }] }),
    limited: { stop_reason: "max_tokens" },
    killedTypes: ["content_block_stop", "message_delta", "message_stop"],
    streamedCalls: (events) =>
      joinedCalls(
        events.flatMap(({ index, content_block: block, delta }): Json[] => {
          if (object(block)["type"] === "tool_use") return [{ index, name: object(block)["name"] }];
          return object(delta)["type"] === "input_json_delta"
            ? [{ index, arguments: object(delta)["partial_json"] }]
            : [];
        }),
      ),
    delta: ({ type, delta }) => (type === "content_block_delta" ? said(object(delta)["text"]) : ""),
    done: /event: message_delta\ndata: [^\n]*\n\nevent: message_stop\ndata: \{"type":"message_stop"\}\n\n$/,
    failed: (message) =>
      new RegExp(
        `event: error\ndata: \\{"type":"error","error":\\{"type":"(?:api|timeout)_error","message":${escape(message)}\\}\\}\n\n$`,
      ),
    killed:
      /event: message_delta\ndata: \{"type":"message_delta","delta":\{"stop_reason":"end_turn","stop_sequence":null\}[^\n]*\n\nevent: message_stop\ndata: \{"type":"message_stop"\}\n\n$/,
    beat: 'event: ping\ndata: {"type":"ping"}\n\n',
  },
  responses: {
    path: "/v1/responses",
    body: { input: "Hello there" },
    limit: "max_output_tokens",
    wrong: [{ input: 5 }, "/input"],
    text: ({ output }) =>
      list(output)
        .flatMap(({ content }) => list(content).map(({ text }) => said(text)))
        .join(""),
    counts: ({ usage }) => [object(usage)["input_tokens"], object(usage)["output_tokens"]],
    tool: (name, parameters) => ({ type: "function", name, parameters }),
    prompt: (input) => ({ input }),
    limited: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
    killedTypes: [
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.incomplete",
    ],
    streamedCalls: (events) =>
      list(object(events.at(-1)?.["response"])["output"])
        .filter(({ type }) => type === "function_call")
        .map(({ name, arguments: args }) => [name, JSON.parse(said(args))]),
    delta: ({ type, delta }) => (type === "response.output_text.delta" ? said(delta) : ""),
    done: /event: response\.completed\ndata: [^\n]*\n\n$/,
    failed: (message) => {
      const fields = `"code":"server_error","message":${escape(message)},"param":null`;
      const error = String.raw`"error":\{"type":"server_error",${fields}\}`;
      const told = `event: error\ndata: \\{"type":"error","sequence_number":\\d+,${fields},${error}\\}\n\n`;
      const failed = String.raw`"status":"failed",[^\n]*"error":\{"code":"server_error","message":${escape(message)}\}`;
      return new RegExp(`${told}event: response\\.failed\ndata: [^\n]*${failed}[^\n]*\n\n$`);
    },
    killed: /event: response\.incomplete\ndata: [^\n]*"status":"incomplete"[^\n]*\n\n$/,
    beat: ": keep-alive\n\n",
  },
};

/** Pieces of calls, told apart by their `index`. */
function joinedCalls(pieces: readonly Json[]): readonly unknown[] {
  return [...Map.groupBy(pieces, ({ index }) => index).values()].map((group) => [
    group.map(({ name }) => said(name)).join(""),
    JSON.parse(group.map((piece) => said(piece["arguments"])).join("")),
  ]);
}

function said(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A user's request in a format, for `route/one` unless `changes` name another model. */
export function openFormat(
  gateway: TestGateway,
  user: Pick<TestUser, "key">,
  name: FormatName,
  changes: Json = {},
  { headers, ...more }: Sent & { readonly url?: string; readonly query?: string } = {},
): Exchange {
  const { path, body } = FORMATS[name];
  const { query = "", ...sent } = more;
  return gateway.request(path + query, {
    headers: { authorization: `Bearer ${user.key}`, "content-type": "application/json", ...headers },
    body: { model: "route/one", ...body, ...changes },
    ...sent,
  });
}

export const ALL_ENDPOINTS: readonly Endpoint[] = [...ENDPOINTS, "messages", "responses"];

export function isKind(endpoint: Endpoint): endpoint is KindEndpoint {
  return endpoint in PLACES;
}

/** Where an inference endpoint is, and a model for it. */
export function placeOf(endpoint: Endpoint): { readonly path: string; readonly model: string } {
  if (isKind(endpoint)) return PLACES[endpoint];
  return { path: FORMATS[endpoint].path, model: PLACES.chat.model };
}

/** A user's good request to an inference endpoint, changed field by field. */
export function openAt(
  gateway: TestGateway,
  user: Pick<TestUser, "key">,
  endpoint: Endpoint,
  changes: Json,
  sent: Sent,
): Exchange {
  if (isKind(endpoint)) return openKind(gateway, user, endpoint, changes, sent);
  return openFormat(gateway, user, endpoint, changes, sent);
}

/** The same, to its end. */
export function askFormat(...request: Parameters<typeof openFormat>): Promise<Answer> {
  return openFormat(...request).whole();
}

/** The events of a stream, without [DONE]. */
export function eventsOf(text: string): readonly Json[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as Json);
}

/** The text that a stream's events make. */
export function streamedText(name: FormatName, text: string): string {
  return eventsOf(text).map(FORMATS[name].delta).join("");
}

/** Every `model` that is anywhere in an answer. */
export function modelsIn(value: unknown): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  JSON.stringify(value, (key, inner: unknown) => {
    if (key === "model") found.add(inner);
    return inner;
  });
  return found;
}
