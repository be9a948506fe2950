import { readChat } from "../../../src/dialects/chat/client.ts";
import { readMessages } from "../../../src/dialects/messages/client/format.ts";
import { readResponses } from "../../../src/dialects/responses/client/request.ts";
import type { AnswerForm, Location } from "../../../src/dialects/dialect.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import type { Call, ClientDialect, Json, Target } from "../../../src/kit/index.ts";

import { casesOfFiles } from "../cases.ts";
import { type Decoding, decodeWith } from "../decode.ts";

export const READERS: Readonly<Record<ClientDialect, (body: Json) => Call>> = {
  chat: readChat,
  messages: readMessages,
  responses: readResponses,
};

export const targetOf = (model: string): Target => ({
  upstream: "u",
  model,
  weight: 1,
  timeouts: { connect: 1, firstByte: 1, idle: 1, total: 1 },
  contextWindow: null,
  features: [],
});

/** What is sent for a call, and what reads its answer. */
export function sent(
  call: Call,
  model = "gpt-5.1",
  location: Partial<Location> = { api: "responses" },
  dialect = openai,
): {
  readonly path: string;
  readonly body: Json;
  readonly dropped: readonly string[];
  readonly form: AnswerForm | null;
} {
  const at = { baseUrl: "https://api.openai.com/v1", headers: {}, ...location };
  const codec = dialect.at!(at).codecs.chat!;
  const { path, body, dropped = [], form } = codec.request(call, targetOf(model), "k");
  if (typeof body !== "string") throw new TypeError("a request without a body");
  return { path, body: JSON.parse(body) as Json, dropped, form: form ?? null };
}

/** What a call's own form makes of a stream in these pieces. */
export const decoded = (call: Call, pieces: readonly Uint8Array[]): Decoding =>
  decodeWith(sent(call).form!.decoder!(call), pieces);

/** The events of a stream as an upstream frames them. */
export const framed = (events: readonly Json[]): Uint8Array =>
  new TextEncoder().encode(
    events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );

/** The cases of a folder beside this file, by their names. */
export const casesIn = (folder: string): readonly (readonly [string, unknown])[] =>
  casesOfFiles(new URL(`${folder}/`, import.meta.url));
