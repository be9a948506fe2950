import type { Endpoint, Json, Kind } from "../../../src/kit/index.ts";
import { file, formOf, FORM_TYPE, type Part, text, wav } from "./form.ts";
import type { Chain } from "./gateway-config.ts";
import type { Answer, Exchange, Sent } from "./http.ts";
import type { TestGateway, TestUser } from "./in-process.ts";

/** One inference endpoint, with the model that `KIND_CHAINS` has for it. */
interface Place {
  readonly path: string;
  readonly kind: Kind;
  readonly model: string;
  /** A good request, but for its model. */
  readonly body: Json;
}

/** The audio of a good transcription: a second and a half. */
export const AUDIO = wav(1_500);

/** Endpoints with a kind of model of their own; Messages and Responses are other formats of chat. */
export type KindEndpoint = Exclude<Endpoint, "messages" | "responses">;

export const PLACES: Readonly<Record<KindEndpoint, Place>> = {
  chat: {
    path: "/v1/chat/completions",
    kind: "chat",
    model: "route/one",
    body: { messages: [{ role: "user", content: "Hello there" }] },
  },
  embeddings: { path: "/v1/embeddings", kind: "embedding", model: "route/embed", body: { input: "three plain words" } },
  rerank: {
    path: "/v1/rerank",
    kind: "rerank",
    model: "route/rank",
    body: { query: "green tea", documents: ["black coffee", "green tea leaves", "a cup of tea"] },
  },
  speech: {
    path: "/v1/audio/speech",
    kind: "speech",
    model: "route/voice",
    body: { input: "Say it.", voice: "sage" },
  },
  transcription: {
    path: "/v1/audio/transcriptions",
    kind: "transcription",
    model: "route/listen",
    body: { file: file(AUDIO), language: "en" },
  },
  image: { path: "/v1/images/generations", kind: "image", model: "route/paint", body: { prompt: "a red boat" } },
};

export const ENDPOINTS = Object.keys(PLACES) as readonly KindEndpoint[];
export const MEDIA = ["speech", "transcription", "image"] as const satisfies readonly KindEndpoint[];

/** For `chains`: a healthy model of every kind beside `route/one`. */
export const KIND_CHAINS: Readonly<Record<string, Chain>> = chains("", ["-"]);

/** A model of every kind, named `<model><suffix>`, whose upstreams follow these scripts. */
export function chains(suffix: string, scripts: readonly string[], more: Json = {}): Record<string, Chain> {
  return Object.fromEntries(
    Object.values(PLACES).map(({ model, kind }) => [model + suffix, { kind, scripts, ...more }]),
  );
}

/** A user's request to an endpoint, changed field by field; undefined leaves one out, a Part is a file. */
export function openKind(
  gateway: TestGateway,
  user: Pick<TestUser, "key">,
  endpoint: KindEndpoint,
  changes: Json = {},
  { headers, ...more }: Sent & { readonly url?: string } = {},
): Exchange {
  const { path, model, body } = PLACES[endpoint];
  const written = endpoint === "transcription" ? form({ model, ...body, ...changes }) : { model, ...body, ...changes };
  const contentType = endpoint === "transcription" ? FORM_TYPE : "application/json";
  return gateway.request(path, {
    headers: { authorization: `Bearer ${user.key}`, "content-type": contentType, ...headers },
    body: written,
    ...more,
  });
}

/** The same, to its end. */
export function askKind(...request: Parameters<typeof openKind>): Promise<Answer> {
  return openKind(...request).whole();
}

/** Fields in their order; lists as repeated fields. */
function form(fields: Json): Buffer {
  return formOf(
    Object.entries(fields).flatMap(([name, value]) => {
      if (value === undefined) return [];
      if (isPart(value)) return [value];
      if (Array.isArray(value)) return value.map((item) => text(`${name}[]`, String(item)));
      return [text(name, typeof value === "string" ? value : JSON.stringify(value))];
    }),
  );
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && "fileName" in value;
}
