import { chatFormat, readChat } from "../dialects/clients/chat.ts";
import { embeddingFormat, readEmbedding } from "../dialects/clients/embedding.ts";
import { imageFormat, imageRefusal, readImage } from "../dialects/clients/image.ts";
import { readRerank, rerankFormat } from "../dialects/clients/rerank.ts";
import { readSpeech, speechFormat } from "../dialects/clients/speech.ts";
import { readTranscription, transcriptionFormat } from "../dialects/clients/transcription.ts";
import type { AnswerFormat, Call, Endpoint, GatewayError, Json, Upload } from "../kit/index.ts";
import type { RefusalBody } from "./refusal.ts";

/** How an endpoint's client dialect reads a request and writes its answer. */
export type Format = JsonFormat | FormFormat;

interface AnyFormat {
  readonly endpoint: Endpoint;
  readonly write: (call: Call) => AnswerFormat;
  /** The endpoint's own body for an error; null for the one of the error table. */
  readonly refusal?: (error: GatewayError) => RefusalBody | null;
}

interface JsonFormat extends AnyFormat {
  readonly body: "json";
  readonly read: (body: Json) => Call;
}

/** `multipart/form-data` with one file. */
interface FormFormat extends AnyFormat {
  readonly body: "form";
  readonly read: (fields: Json, upload: Upload) => Promise<Call>;
}

/** Served by POST, past the router: these are the hot path. */
export const INFERENCE: ReadonlyMap<string, Format> = new Map<string, Format>([
  ["/v1/chat/completions", { endpoint: "chat", body: "json", read: readChat, write: chatFormat }],
  ["/v1/embeddings", { endpoint: "embeddings", body: "json", read: readEmbedding, write: embeddingFormat }],
  ["/v1/rerank", { endpoint: "rerank", body: "json", read: readRerank, write: rerankFormat }],
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
