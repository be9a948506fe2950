import { chatFormat, readChat } from "../../dialects/chat/client.ts";
import { embeddingFormat, readEmbedding } from "../../dialects/endpoints/embedding.ts";
import { imageFormat, imageRefusal, readImage } from "../../dialects/endpoints/image.ts";
import { readRerank, rerankFormat } from "../../dialects/endpoints/rerank.ts";
import { readSpeech, speechFormat } from "../../dialects/endpoints/speech.ts";
import { readTranscription, transcriptionFormat } from "../../dialects/endpoints/transcription.ts";
import { messagesRefusal } from "../../dialects/messages/client/errors.ts";
import { messagesFormat, readMessages } from "../../dialects/messages/client/format.ts";
import { responsesFormat } from "../../dialects/responses/client/format.ts";
import { readResponses } from "../../dialects/responses/client/request.ts";
import { withinSchemaBound } from "../../dialects/schemas/work.ts";
import type { ErrorCode, GatewayError, Json } from "../../kit/index.ts";
import {
  type Answer,
  BODY_ERRORS,
  CALLER_ERRORS,
  type Content,
  type Endpoint,
  type Format,
  type InferenceEndpoint,
  json,
  type JsonFormat,
  type Parameter,
  schemaRef,
} from "../endpoint.ts";
import { LIFECYCLE, PLAN_LIMITS } from "../openapi/headers.ts";
import type { ErrorStyle, RefusalBody, RefusedRequest } from "../respond.ts";

const ERRORS: readonly ErrorCode[] = [
  ...BODY_ERRORS,
  ...CALLER_ERRORS,
  "INVALID_MODEL",
  "INSUFFICIENT_CREDITS",
  "MODEL_NOT_ALLOWED",
  "IDEMPOTENCY_CONFLICT",
  "DAILY_REQUEST_LIMIT_EXCEEDED",
  "RATE_LIMIT_ERROR",
  "PROVIDER_ERROR",
  "CIRCUIT_BREAKER_OPEN",
  "OVERLOADED",
  "SHUTTING_DOWN",
  "PROVIDER_TIMEOUT",
];

const EVENTS: Json = {
  type: "string",
  description:
    "Server-sent events. The data of each is a ChatCompletionChunk, or an ApiError when the answer breaks off; the last is [DONE].",
  contentMediaType: "application/json",
  contentSchema: { anyOf: [schemaRef("ChatCompletionChunk"), schemaRef("ApiError")] },
};

const FORM: Json = {
  allOf: [
    schemaRef("TranscriptionForm"),
    {
      type: "object",
      required: ["file"],
      properties: {
        file: { type: "string", format: "binary", description: "The audio; formats are told by its name." },
      },
    },
  ],
};

/** At two addresses: the later one is that of Cohere's current client, whose bodies are the same. */
const RERANK: Format = { endpoint: "rerank", body: "json", read: readRerank, write: rerankFormat };
const MESSAGES: ErrorStyle = { refusal: messagesBody, requestIdHeader: "Request-Id" };

const PARAMETERS: readonly Parameter[] = [
  {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Of this request alone, for 24 hours: sent again with the same body it is not served again, but answered as the first time.",
    schema: { type: "string", pattern: "^[!-~]{1,255}$" },
  },
];

/** What every inference endpoint has in common. */
const COMMON = {
  method: "POST",
  credentials: "API key",
  tag: "Inference",
  parameters: PARAMETERS,
  errors: ERRORS,
} as const;

/** The endpoints that reach models. */
export const INFERENCE: readonly InferenceEndpoint[] = [
  {
    ...COMMON,
    path: "/v1/chat/completions",
    format: {
      endpoint: "chat",
      body: "json",
      read: bounded((json, _headers, longTexts) => readChat(json, longTexts)),
      write: chatFormat,
    },
    id: "createChatCompletion",
    summary: "Chat completion, optionally streamed",
    request: body("ChatRequest"),
    answers: answer("The answer, or with `stream` its events.", {
      ...json("ChatCompletion"),
      "text/event-stream": { schema: EVENTS },
    }),
  },
  {
    ...COMMON,
    path: "/v1/messages",
    format: { endpoint: "messages", body: "json", read: bounded(readMessages), write: messagesFormat, ...MESSAGES },
    id: "createMessage",
    summary: "Chat in the Messages format, optionally streamed",
    description: "Errors are in the Messages format when the request carries an anthropic-version header.",
    request: body("MessagesRequest"),
    answers: answer("The answer, or with `stream` its events.", {
      ...json("Message"),
      "text/event-stream": { schema: namedEvents("Messages") },
    }),
    messagesErrors: true,
  },
  {
    ...COMMON,
    path: "/v1/responses",
    format: { endpoint: "responses", body: "json", read: bounded(readResponses), write: responsesFormat },
    id: "createResponse",
    summary: "Chat in the Responses format, optionally streamed",
    description: "Stateless: every request brings its whole input.",
    request: body("ResponsesRequest"),
    answers: answer("The answer, or with `stream` its events.", {
      ...json("Response"),
      "text/event-stream": { schema: namedEvents("Responses") },
    }),
  },
  {
    ...COMMON,
    path: "/v1/embeddings",
    format: { endpoint: "embeddings", body: "json", read: readEmbedding, write: embeddingFormat },
    id: "createEmbeddings",
    summary: "Embeddings",
    request: body("EmbeddingsRequest"),
    answers: answer("One vector for each input.", json("EmbeddingList")),
  },
  {
    ...COMMON,
    path: "/v1/rerank",
    format: RERANK,
    id: "rerank",
    summary: "Rerank documents against a query",
    request: body("RerankRequest"),
    answers: answer("The documents' places by relevance, best first.", json("RerankResult")),
  },
  {
    ...COMMON,
    path: "/v2/rerank",
    format: RERANK,
    id: "rerankV2",
    summary: "Rerank, at the address of Cohere's current client",
    description: "The same as /v1/rerank.",
    request: body("RerankRequest"),
    answers: answer("The documents' places by relevance, best first.", json("RerankResult")),
  },
  {
    ...COMMON,
    path: "/v1/audio/speech",
    format: { endpoint: "speech", body: "json", read: readSpeech, write: speechFormat },
    id: "createSpeech",
    summary: "Text-to-speech",
    request: body("SpeechRequest"),
    answers: answer("The audio.", { "audio/*": { schema: { type: "string", format: "binary" } } }),
  },
  {
    ...COMMON,
    path: "/v1/audio/transcriptions",
    format: { endpoint: "transcription", body: "form", read: readTranscription, write: transcriptionFormat },
    id: "createTranscription",
    summary: "Speech-to-text",
    request: { required: true, content: { "multipart/form-data": { schema: FORM } } },
    answers: answer("The text; with `response_format` text, srt or vtt as plain text.", {
      ...json("Transcription"),
      "text/plain": { schema: { type: "string" } },
    }),
  },
  {
    ...COMMON,
    path: "/v1/images/generations",
    format: { endpoint: "image", body: "json", read: readImage, write: imageFormat, refusal: imageBody },
    id: "createImages",
    summary: "Image generation",
    request: body("ImageRequest"),
    answers: answer("The images.", json("ImageList")),
    errors: [...ERRORS, "MODEL_NOT_FOUND"],
    apiErrors: true,
  },
];

/** Events whose data have a `type` of their own. */
function namedEvents(format: string): Json {
  return {
    type: "string",
    description: `Server-sent events of the ${format} format. The name of each is the type in its data.`,
    contentMediaType: "application/json",
    contentSchema: { type: "object", required: ["type"], properties: { type: { type: "string" } } },
  };
}

function body(title: string): Endpoint["request"] {
  return { required: true, content: json(title) };
}

function answer(description: string, content: Content): Readonly<Record<number, Answer>> {
  return { 200: { description, content, headers: [...PLAN_LIMITS, ...LIFECYCLE, "Idempotency-Replayed"] } };
}

/** How errors are written below a client format's own paths, whether or not there is anything at them. */
export function errorStyleOf(path: string): ErrorStyle | null {
  return path === "/v1/messages" || path.startsWith("/v1/messages/") ? MESSAGES : null;
}

/** The header says that the client reads errors in the Messages format. */
function messagesBody(error: GatewayError, { requestId, headers }: RefusedRequest): RefusalBody | null {
  return headers["anthropic-version"] === undefined ? null : messagesRefusal(error, requestId);
}

function imageBody(error: GatewayError, { form }: RefusedRequest): RefusalBody | null {
  return imageRefusal(error, form !== "text");
}

/** The JSON schemas of a conversation, whose work is not in proportion to their bytes, are no larger than they may be. */
function bounded(read: JsonFormat["read"]): JsonFormat["read"] {
  return (...request) => withinSchemaBound(read(...request));
}
