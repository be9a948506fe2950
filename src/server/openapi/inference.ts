import type { ErrorCode, Json } from "../../kit/index.ts";
import { PLAN_LIMITS } from "./headers.ts";
import { type Answer, BODY_ERRORS, CALLER_ERRORS, type Content, json, type Operation, schemaRef } from "./operation.ts";

const ERRORS: readonly ErrorCode[] = [
  ...BODY_ERRORS,
  ...CALLER_ERRORS,
  "INVALID_MODEL",
  "INSUFFICIENT_CREDITS",
  "MODEL_NOT_ALLOWED",
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

/** What every inference call has in common. */
const INFERENCE = { method: "POST", credentials: "API key", tag: "Inference", errors: ERRORS } as const;

/** The calls that reach models. */
export const INFERENCE_OPERATIONS: readonly Operation[] = [
  {
    ...INFERENCE,
    path: "/v1/chat/completions",
    id: "createChatCompletion",
    summary: "Chat completion, optionally streamed",
    request: body("ChatRequest"),
    answers: answer("The answer, or with `stream` its events.", {
      ...json("ChatCompletion"),
      "text/event-stream": { schema: EVENTS },
    }),
  },
  {
    ...INFERENCE,
    path: "/v1/messages",
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
    ...INFERENCE,
    path: "/v1/messages/count_tokens",
    id: "countMessageTokens",
    summary: "Count a Messages request's tokens",
    description:
      "By the gateway's own tokenizer; counts against no limit and costs nothing. At most 4 MiB, four at once a user.",
    request: body("CountTokensRequest"),
    answers: { 200: { description: "The count.", content: json("TokenCount") } },
    errors: [...BODY_ERRORS, ...CALLER_ERRORS, "INVALID_MODEL", "MODEL_NOT_ALLOWED", "RATE_LIMIT_ERROR", "OVERLOADED"],
    messagesErrors: true,
  },
  {
    ...INFERENCE,
    path: "/v1/responses",
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
    ...INFERENCE,
    path: "/v1/embeddings",
    id: "createEmbeddings",
    summary: "Embeddings",
    request: body("EmbeddingsRequest"),
    answers: answer("One vector for each input.", json("EmbeddingList")),
  },
  {
    ...INFERENCE,
    path: "/v1/rerank",
    id: "rerank",
    summary: "Rerank documents against a query",
    request: body("RerankRequest"),
    answers: answer("The documents' places by relevance, best first.", json("RerankResult")),
  },
  {
    ...INFERENCE,
    path: "/v2/rerank",
    id: "rerankV2",
    summary: "Rerank, at the address of Cohere's current client",
    description: "The same as /v1/rerank.",
    request: body("RerankRequest"),
    answers: answer("The documents' places by relevance, best first.", json("RerankResult")),
  },
  {
    ...INFERENCE,
    path: "/v1/audio/speech",
    id: "createSpeech",
    summary: "Text-to-speech",
    request: body("SpeechRequest"),
    answers: answer("The audio.", { "audio/*": { schema: { type: "string", format: "binary" } } }),
  },
  {
    ...INFERENCE,
    path: "/v1/audio/transcriptions",
    id: "createTranscription",
    summary: "Speech-to-text",
    request: { required: true, content: { "multipart/form-data": { schema: FORM } } },
    answers: answer("The text; with `response_format` text, srt or vtt as plain text.", {
      ...json("Transcription"),
      "text/plain": { schema: { type: "string" } },
    }),
  },
  {
    ...INFERENCE,
    path: "/v1/images/generations",
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

function body(title: string): Operation["request"] {
  return { required: true, content: json(title) };
}

function answer(description: string, content: Content): Readonly<Record<number, Answer>> {
  return { 200: { description, content, headers: PLAN_LIMITS } };
}
