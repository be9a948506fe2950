import type { IncomingHttpHeaders } from "node:http";
import { chatFormat, readChat } from "../dialects/chat/client.ts";
import { embeddingFormat, readEmbedding } from "../dialects/endpoints/embedding.ts";
import { imageFormat, imageRefusal, readImage } from "../dialects/endpoints/image.ts";
import { readRerank, rerankFormat } from "../dialects/endpoints/rerank.ts";
import { readSpeech, speechFormat } from "../dialects/endpoints/speech.ts";
import { readTranscription, transcriptionFormat } from "../dialects/endpoints/transcription.ts";
import { messagesFormat, messagesRefusal } from "../dialects/messages/client/format.ts";
import { readMessages } from "../dialects/messages/client/request.ts";
import { readResponses } from "../dialects/responses/client/request.ts";
import { responsesFormat } from "../dialects/responses/client/format.ts";
import type { AnswerFormat, Call, Endpoint, GatewayError, Json, StandIn, Upload } from "../kit/index.ts";
import type { RefusalBody } from "./refusal.ts";

/** How an endpoint's client dialect reads a request and writes its answer. */
export type Format = JsonFormat | FormFormat;

interface AnyFormat extends Manner {
  readonly endpoint: Endpoint;
  readonly write: (call: Call, standIn: StandIn) => AnswerFormat;
}

/** What a client's format has of its own besides the bodies. */
export interface Manner {
  /** The endpoint's own body for an error; null for the one of the error table. */
  readonly refusal?: (error: GatewayError, request: RefusedRequest) => RefusalBody | null;
  /** Another name under which the request's id is sent as well. */
  readonly requestIdHeader?: string;
}

/** What an error's body may hang on. */
export interface RefusedRequest {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
}

interface JsonFormat extends AnyFormat {
  readonly body: "json";
  /** Names of headers are in lower case. */
  readonly read: (body: Json, headers: IncomingHttpHeaders) => Call;
}

/** `multipart/form-data` with one file. */
interface FormFormat extends AnyFormat {
  readonly body: "form";
  readonly read: (fields: Json, upload: Upload) => Promise<Call>;
}

/** At two addresses: the later one is Cohere's current client's, whose bodies are the same. */
const RERANK: Format = { endpoint: "rerank", body: "json", read: readRerank, write: rerankFormat };
const MESSAGES: Manner = { refusal: messagesBody, requestIdHeader: "Request-Id" };

/** Served by POST, past the router: these are the hot path. */
export const INFERENCE: ReadonlyMap<string, Format> = new Map<string, Format>([
  ["/v1/chat/completions", { endpoint: "chat", body: "json", read: readChat, write: chatFormat }],
  ["/v1/messages", { endpoint: "messages", body: "json", read: readMessages, write: messagesFormat, ...MESSAGES }],
  ["/v1/responses", { endpoint: "responses", body: "json", read: readResponses, write: responsesFormat }],
  ["/v1/embeddings", { endpoint: "embeddings", body: "json", read: readEmbedding, write: embeddingFormat }],
  ["/v1/rerank", RERANK],
  ["/v2/rerank", RERANK],
  ["/v1/audio/speech", { endpoint: "speech", body: "json", read: readSpeech, write: speechFormat }],
  [
    "/v1/audio/transcriptions",
    { endpoint: "transcription", body: "form", read: readTranscription, write: transcriptionFormat },
  ],
  [
    "/v1/images/generations",
    { endpoint: "image", body: "json", read: readImage, write: imageFormat, refusal: imageRefusal },
  ],
]);

/** The manner of a path that belongs to a client's format, whether or not there is anything at it. */
export function mannerOf(path: string): Manner | undefined {
  return path === "/v1/messages" || path.startsWith("/v1/messages/") ? MESSAGES : undefined;
}

/** Decisions 7: the header says that the client reads errors in the Messages format. */
function messagesBody(error: GatewayError, { requestId, headers }: RefusedRequest): RefusalBody | null {
  return headers["anthropic-version"] === undefined ? null : messagesRefusal(error, requestId);
}
