import { type IncomingMessage, request as openRequest } from "node:http";
import type { Call, Endpoint, Json, Kind } from "../kit/index.ts";
import { FORMATS } from "../server/endpoints.ts";
import type { StreamEnd } from "./streams.ts";

/** A request as it goes over the connection. */
export interface WrittenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** What a client reads. */
export interface ReadAnswer {
  /** 0 when the connection ended before a status line. */
  readonly status: number;
  /** Names in lower case; without those of the connection and the date. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** false: cut, or left by the client before its end. */
  readonly complete: boolean;
}

/** Of the connection, or of the machine's clock: not the gateway's answer. */
export const TRANSPORT_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

/** Sends a request over a connection of its own. Never rejects: a broken connection is an answer, too. */
export function exchange(connection: StreamEnd, { method, path, headers, body }: WrittenRequest): Promise<ReadAnswer> {
  const { promise, resolve } = Promise.withResolvers<ReadAnswer>();
  const nothing: ReadAnswer = { status: 0, headers: {}, body: "", complete: false };
  const request = openRequest({
    createConnection: () => connection,
    host: "gateway.invalid",
    method,
    path,
    headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
  });
  request.on("error", () => resolve(nothing));
  request.on("close", () => resolve(nothing));
  request.on("response", (response: IncomingMessage) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", () => undefined);
    response.on("close", () =>
      resolve({
        status: response.statusCode ?? 0,
        headers: headersOf(response),
        body: Buffer.concat(chunks).toString(),
        complete: response.complete,
      }),
    );
  });
  request.end(body);
  return promise;
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !TRANSPORT_HEADERS.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

/** The data of a stream's events, as text. */
export function eventsOf({ headers, body }: Pick<ReadAnswer, "headers" | "body">): readonly string[] {
  if (!headers["content-type"]?.startsWith("text/event-stream")) return [];
  return body.split("\n\n").flatMap((event) => {
    const data = event.split("\n").filter((line) => line.startsWith("data:"));
    return data.length === 0 ? [] : [data.map((line) => line.replace(/^data: ?/, "")).join("\n")];
  });
}

/** The path of an inference endpoint. */
export function pathOf(endpoint: Endpoint): string {
  for (const [path, format] of FORMATS) if (format.endpoint === endpoint) return path;
  throw new Error(`no path is that of ${endpoint}`);
}

const ENDPOINT_OF: Readonly<Record<Kind, Endpoint>> = {
  chat: "chat",
  embedding: "embeddings",
  rerank: "rerank",
  speech: "speech",
  transcription: "transcription",
  image: "image",
};

/** The endpoint that serves models of a kind, of several the first. */
export function endpointOf(kind: Kind): Endpoint {
  return ENDPOINT_OF[kind];
}

const GREETING = [{ role: "user", content: "Hello" }];

/** The least that each endpoint takes. */
const BODIES: Readonly<Record<Endpoint, Json>> = {
  chat: { messages: GREETING },
  messages: { messages: GREETING, max_tokens: 64 },
  responses: { input: "Hello" },
  embeddings: { input: "Hello" },
  rerank: { query: "Hello", documents: ["Hello", "Goodbye"] },
  speech: { input: "Hello" },
  transcription: {},
  image: { prompt: "A door" },
};

/** What the body means; null for one that cannot be read, and for what needs none to be told. */
export function callOf(endpoint: Endpoint, fields: Json): Call | null {
  for (const format of FORMATS.values()) {
    if (format.endpoint !== endpoint || format.body !== "json") continue;
    try {
      return format.read({ ...BODIES[endpoint], ...fields }, {});
    } catch {
      return null;
    }
  }
  return null;
}

/** The body of a request to an endpoint: the least that it takes, with `fields` over it. */
export async function bodyOf(
  endpoint: Endpoint,
  fields: Json,
): Promise<{ readonly body: string | Buffer; readonly contentType: string }> {
  const json = { ...BODIES[endpoint], ...fields };
  if (endpoint !== "transcription") return { body: JSON.stringify(json), contentType: "application/json" };
  const form = new FormData();
  form.append("file", new Blob([silence()], { type: "audio/wav" }), "silence.wav");
  for (const [name, value] of Object.entries(json)) {
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, String(one));
  }
  const written = new Response(form);
  return {
    body: Buffer.from(await written.arrayBuffer()),
    contentType: written.headers.get("content-type") ?? "",
  };
}

const SAMPLE_RATE_HZ = 8_000;
const WAV_HEADER_BYTES = 44;

/** One second of silence. */
function silence(): Uint8Array<ArrayBuffer> {
  const wave = Buffer.alloc(WAV_HEADER_BYTES + SAMPLE_RATE_HZ, 0x80);
  wave.write("RIFF", 0);
  wave.writeUInt32LE(wave.length - 8, 4);
  wave.write("WAVEfmt ", 8);
  wave.writeUInt32LE(16, 16);
  wave.writeUInt16LE(1, 20);
  wave.writeUInt16LE(1, 22);
  wave.writeUInt32LE(SAMPLE_RATE_HZ, 24);
  wave.writeUInt32LE(SAMPLE_RATE_HZ, 28);
  wave.writeUInt16LE(1, 32);
  wave.writeUInt16LE(8, 34);
  wave.write("data", 36);
  wave.writeUInt32LE(SAMPLE_RATE_HZ, 40);
  return new Uint8Array(wave);
}
