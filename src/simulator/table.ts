import { readMessages } from "./anthropic/messages.ts";
import { readCountTokens } from "./anthropic/count.ts";
import { azure, readAzureChat } from "./azure.ts";
import { readConverse } from "./bedrock/converse.ts";
import { readCohereChat } from "./cohere/chat.ts";
import { readListen, readSpeak } from "./endpoints/deepgram.ts";
import { readCohereEmbed, readEmbeddings } from "./endpoints/embedding.ts";
import { readSpeechToText, readTextToSpeech } from "./endpoints/elevenlabs.ts";
import type { Endpoint } from "./endpoints/endpoint.ts";
import { readImage } from "./endpoints/image.ts";
import { readRerank } from "./endpoints/rerank.ts";
import { readSpeech } from "./endpoints/speech.ts";
import { readTranscription } from "./endpoints/transcription.ts";
import { readGemini } from "./gemini/methods.ts";
import { readResponses } from "./responses/responses.ts";
import type { Dialect } from "./dialect.ts";

export interface Row {
  readonly path: RegExp;
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
}

/** Azure's own form of what OpenAI has, at a deployment or under `/openai/v1`. */
const AZURE: readonly (readonly [string, Endpoint])[] = [
  ["chat/completions", readAzureChat],
  ["embeddings", readEmbeddings],
  ["audio/speech", readSpeech],
  ["audio/transcriptions", readTranscription],
  ["images/generations", readImage],
  ["responses", readResponses],
];

/** The first that fits decides. Chat completions of OpenAI, which are remembered, have a way of their own. */
const ROWS: readonly Row[] = [
  ...AZURE.map(([end, endpoint]): Row => ({
    path: new RegExp(String.raw`/openai/(?:deployments/[^/]+|v1)/${end}$`),
    dialect: "azure",
    endpoint: azure(endpoint),
  })),
  { path: /\/models\/[^/]+:[a-zA-Z]+$/, dialect: "gemini", endpoint: readGemini },
  { path: /\/model\/[^/]+\/converse(?:-stream)?$/, dialect: "bedrock", endpoint: readConverse },
  { path: /\/openai\/responses$/, dialect: "azure", endpoint: readResponses },
  { path: /\/responses$/, dialect: "openai", endpoint: readResponses },
  { path: /\/messages$/, dialect: "anthropic", endpoint: readMessages },
  { path: /\/messages\/count_tokens$/, dialect: "anthropic", endpoint: readCountTokens },
  { path: /\/chat$/, dialect: "cohere", endpoint: readCohereChat },
  { path: /\/embed$/, dialect: "cohere", endpoint: readCohereEmbed },
  { path: /\/v2\/rerank$/, dialect: "cohere", endpoint: readRerank },
  { path: /\/text-to-speech\/[^/]+(?:\/stream)?$/, dialect: "elevenlabs", endpoint: readTextToSpeech },
  { path: /\/speech-to-text$/, dialect: "elevenlabs", endpoint: readSpeechToText },
  { path: /\/listen$/, dialect: "deepgram", endpoint: readListen },
  { path: /\/speak$/, dialect: "deepgram", endpoint: readSpeak },
  { path: /\/embeddings$/, dialect: "openai", endpoint: readEmbeddings },
  { path: /\/rerank$/, dialect: "openai", endpoint: readRerank },
  { path: /\/audio\/speech$/, dialect: "openai", endpoint: readSpeech },
  { path: /\/audio\/transcriptions$/, dialect: "openai", endpoint: readTranscription },
  { path: /\/images\/generations$/, dialect: "openai", endpoint: readImage },
];

export function rowOf(path: string): Row | undefined {
  return ROWS.find((row) => row.path.test(path));
}
