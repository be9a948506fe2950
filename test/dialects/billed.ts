import { DIALECTS } from "../../src/dialects/capabilities.ts";
import { readChat } from "../../src/dialects/chat/client.ts";
import type { AnswerCodec, Location } from "../../src/dialects/dialect.ts";
import { readMessages } from "../../src/dialects/messages/client/format.ts";
import { readResponses } from "../../src/dialects/responses/client/request.ts";
import {
  type Call,
  type ClientDialect,
  type DialectName,
  type Json,
  type Vendor,
  VENDORS,
} from "../../src/kit/index.ts";
import { testTarget } from "../support/snapshot.ts";

/*
 * Every way from a client's format to an upstream, for rules that hold whatever the two are: each chat dialect, each place
 * and endpoint of it, and each vendor.
 */

export interface Way {
  readonly name: string;
  readonly dialect: DialectName;
  readonly location: Partial<Location>;
  /** The upstream's name for a model. */
  readonly model: string;
}

const VERTEX = "https://aiplatform.googleapis.com/v1/projects/p/locations/l/publishers";

/** A model of each vendor that has most of what a request may ask for. */
const MODELS: Readonly<Partial<Record<Vendor, string>>> = {
  openai: "gpt-5.6-sol",
  openrouter: "anthropic/claude-opus-4.5",
  alibaba: "qwen3-max",
  perplexity: "sonar-pro",
};

function vendorWays(vendor: Vendor): readonly Way[] {
  const model = MODELS[vendor] ?? "m";
  const way = { name: vendor, dialect: "openai", location: { vendor }, model } as const;
  return [way, { ...way, name: `${vendor} at /responses`, location: { vendor, api: "responses" } }];
}

export const WAYS: readonly Way[] = [
  { name: "anthropic", dialect: "anthropic", location: {}, model: "claude-opus-4-5" },
  {
    name: "Claude on Vertex AI",
    dialect: "anthropic",
    location: { baseUrl: `${VERTEX}/anthropic` },
    model: "claude-opus-4-5",
  },
  { name: "bedrock", dialect: "bedrock", location: {}, model: "anthropic.claude-opus-4-5-v1:0" },
  { name: "Nova on bedrock", dialect: "bedrock", location: {}, model: "amazon.nova-pro-v1:0" },
  { name: "Llama on bedrock", dialect: "bedrock", location: {}, model: "meta.llama3-1-70b-instruct-v1:0" },
  { name: "gemini", dialect: "gemini", location: {}, model: "gemini-3-pro" },
  { name: "Gemini on Vertex AI", dialect: "gemini", location: { baseUrl: `${VERTEX}/google` }, model: "gemini-3-pro" },
  { name: "cohere", dialect: "cohere", location: {}, model: "command-a-03-2025" },
  { name: "azure", dialect: "azure", location: {}, model: "gpt-5.6-sol" },
  { name: "azure at /responses", dialect: "azure", location: { api: "responses" }, model: "gpt-5.6-sol" },
  ...VENDORS.flatMap(vendorWays),
  { name: "an older model of openai", dialect: "openai", location: { vendor: "openai" }, model: "gpt-4o" },
  {
    name: "an older model of openai at /responses",
    dialect: "openai",
    location: { vendor: "openai", api: "responses" },
    model: "gpt-4o",
  },
  {
    name: "a server that takes nothing unknown",
    dialect: "openai",
    location: { accepts: { unknownFields: false } },
    model: "m",
  },
];

export const READERS: Readonly<
  Record<ClientDialect, (body: Json, headers?: Readonly<Record<string, string>>) => Call>
> = {
  chat: (body) => readChat(body),
  messages: readMessages,
  responses: (body) => readResponses(body),
};

export interface SentRequest {
  readonly body: Json;
  /** The same as text, for what must be nowhere in it. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dropped: readonly string[];
}

/** @param fields `accepts.fields` of the upstream. */
export function sentOn({ dialect, location, model }: Way, call: Call, fields: readonly string[] = []): SentRequest {
  const accepts = { ...location.accepts, ...(fields.length > 0 && { fields }) };
  const at = { baseUrl: "", headers: {}, ...location, ...(Object.keys(accepts).length > 0 && { accepts }) };
  const upstream = DIALECTS[dialect]!;
  const codec = (upstream.at?.(at) ?? upstream).codecs.chat as AnswerCodec;
  const { body, headers, dropped = [] } = codec.request(call, testTarget("up", { model }), "k");
  const text =
    typeof body === "string"
      ? body
      : body !== null && "chunks" in body
        ? Buffer.concat(body.chunks).toString()
        : JSON.stringify(body);
  return { body: JSON.parse(text) as Json, text, headers, dropped };
}
