import { isJson, type Json } from "../../../src/kit/index.ts";
import { type Answer, answer, type Question, type Tool } from "../../../src/simulator/answer.ts";
import { parseMessages } from "../../../src/simulator/dialects/anthropic-request.ts";
import { events as messageEvents, message } from "../../../src/simulator/dialects/anthropic.ts";
import { parseConverse } from "../../../src/simulator/dialects/bedrock-request.ts";
import { converse, EVENT_STREAM, events as converseEvents } from "../../../src/simulator/dialects/bedrock.ts";
import { parseChat } from "../../../src/simulator/dialects/chat-request.ts";
import { chunks, completion, DONE, ended } from "../../../src/simulator/dialects/chat.ts";
import { parseGenerate } from "../../../src/simulator/dialects/gemini-request.ts";
import { generated, streamedAnswers } from "../../../src/simulator/dialects/gemini.ts";
import { events as responseEvents, parseResponses, response } from "../../../src/simulator/dialects/responses.ts";
import { jsonReply, type Reply, streamReply } from "../../../src/simulator/endpoint.ts";

export interface Asked {
  /** As it was called, decoded. */
  readonly path: string;
  readonly version: string | undefined;
  readonly body: Json;
}

/** What a conversation has come to, in no dialect's own terms. */
export interface Scene {
  /** Every text of the prompt. */
  readonly prompt: string;
  readonly tools: readonly Tool[];
  /** What tools gave, as JSON. */
  readonly results: readonly string[];
}

/** Answers a question as it is told to, with the scene before its eyes. */
export type Act = (question: Question, scene: Scene) => Answer;

/** One dialect: requests are judged as strictly as by the simulator, answers are written as by it. */
interface Speaker {
  readonly path: RegExp;
  /** @throws SimError 400 for what the provider would refuse. */
  reply(asked: Asked, act: Act): Reply;
}

export const SPEAKERS = {
  openai: {
    path: /\/chat\/completions$/,
    reply({ body }, act) {
      const { question, stream, includeUsage } = parseChat(body);
      const made = act(question, {
        prompt: question.prompt.join("\n"),
        tools: objects(body["tools"]).flatMap(({ function: made }) => toolOf(made, "parameters")),
        results: objects(body["messages"]).flatMap((one) => (one["role"] === "tool" ? [JSON.stringify(one)] : [])),
      });
      return stream ? streamReply(ended(chunks(made, includeUsage), DONE)) : jsonReply(200, completion(made, true));
    },
  },
  responses: {
    path: /\/responses$/,
    reply({ body }, act) {
      const request = parseResponses(body);
      const made = act(request.question, {
        prompt: request.question.prompt.join("\n"),
        tools: objects(body["tools"]).flatMap((tool) => toolOf(tool, "parameters")),
        results: objects(body["input"]).flatMap((one) =>
          one["type"] === "function_call_output" ? [JSON.stringify(one)] : [],
        ),
      });
      return request.stream
        ? streamReply(responseEvents(made, request, {}))
        : jsonReply(200, response(made, request, {}));
    },
  },
  anthropic: {
    path: /\/v1\/messages$/,
    reply({ body, version }, act) {
      const { question, stream, thinking } = parseMessages(body, version);
      const made = act(question, {
        prompt: question.prompt.join("\n"),
        tools: objects(body["tools"]).flatMap((tool) => toolOf(tool, "input_schema")),
        results: partsOf(body["messages"], "content", (part) => part["type"] === "tool_result"),
      });
      return stream ? streamReply(messageEvents(made, thinking, {})) : jsonReply(200, message(made, thinking, {}));
    },
  },
  gemini: {
    path: /\/models\/[^/]+:(?:stream)?[gG]enerateContent$/,
    reply({ body, path }, act) {
      const [, model = "", method] = /\/models\/([^/]+):([a-zA-Z]+)$/.exec(path) ?? [];
      const { question, ...shown } = parseGenerate(body, model);
      const made = act(question, {
        prompt: question.prompt.join("\n"),
        tools: objects(body["tools"])
          .flatMap(({ functionDeclarations }) => objects(functionDeclarations))
          .flatMap((tool) => toolOf(tool, "parametersJsonSchema" in tool ? "parametersJsonSchema" : "parameters")),
        results: partsOf(body["contents"], "parts", (part) => part["functionResponse"] !== undefined),
      });
      if (method === "generateContent") return jsonReply(200, generated(made, shown, {}));
      const parts = Iterator.from(streamedAnswers(made, shown, {}));
      return streamReply(parts.map((part) => ({ ...part, data: `data: ${part.data}\r\n\r\n` })));
    },
  },
  bedrock: {
    path: /\/model\/[^/]+\/converse(?:-stream)?$/,
    reply({ body, path }, act) {
      const [, model = "", stream] = /\/model\/([^/]+)\/converse(-stream)?$/.exec(path) ?? [];
      const question = parseConverse(body, model);
      const { toolConfig: config } = body;
      const made = act(question, {
        prompt: question.prompt.join("\n"),
        tools: objects(isJson(config) ? config["tools"] : []).flatMap(({ toolSpec: spec }) => {
          const schema = isJson(spec) ? spec["inputSchema"] : undefined;
          return toolOf({ ...(isJson(spec) && spec), schema: isJson(schema) ? schema["json"] : {} }, "schema");
        }),
        results: partsOf(body["messages"], "content", (part) => part["toolResult"] !== undefined),
      });
      if (stream === undefined) return jsonReply(200, converse(made, {}));
      const headers = { "content-type": EVENT_STREAM };
      return { status: 200, headers, type: "events", parts: converseEvents(made, {}) };
    },
  },
} as const satisfies Readonly<Record<string, Speaker>>;

export type SpeakerName = keyof typeof SPEAKERS;

/** An answer that calls a tool or says something, with true counts of what was asked. */
export function performed(question: Question, deed: Deed, source: string): Answer {
  const call = "call" in deed ? [{ name: deed.call, parameters: { const: deed.arguments } }] : [];
  const userText = "say" in deed ? deed.say : "";
  return answer({ ...question, userText, calls: call, choices: 1 }, {}, source);
}

export type Deed = { readonly say: string } | { readonly call: string; readonly arguments: Json };

function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

function toolOf(value: unknown, schema: string): readonly Tool[] {
  if (!isJson(value) || typeof value["name"] !== "string") return [];
  return [{ name: value["name"], parameters: value[schema] ?? {} }];
}

/** The chosen parts of all messages, as JSON. */
function partsOf(messages: unknown, name: string, chosen: (part: Json) => boolean): readonly string[] {
  return objects(messages)
    .flatMap((one) => objects(one[name]).filter(chosen))
    .map((part) => JSON.stringify(part));
}
