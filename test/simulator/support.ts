import { isJson } from "../../src/kit/index.ts";
import { connect } from "node:net";
import { request } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { once } from "node:events";

export interface Seen {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** False when the connection broke before the body was whole. */
  readonly whole: boolean;
}

export interface Sent {
  readonly method?: string;
  /** Objects are sent as JSON, bytes as they are. */
  readonly body?: object | string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export const KEY = { authorization: "Bearer any" };

export function chat(said: string, more: object = {}): object {
  return { model: "m", messages: [{ role: "user", content: said }], ...more };
}

/** One request on a connection of its own. */
export async function call(url: string, sent: Sent = {}): Promise<Seen> {
  const headers = { ...KEY, ...sent.headers };
  const outgoing = request(url, { method: sent.method ?? "POST", headers, agent: false });
  const { body: payload } = sent;
  const ready = payload === undefined || typeof payload === "string" || payload instanceof Uint8Array;
  outgoing.end(ready ? payload : JSON.stringify(payload));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve).once("error", reject);
  });
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => undefined);
  await new Promise((resolve) => response.once("close", resolve));
  const body = Buffer.concat(chunks);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body,
    text: body.toString(),
    whole: response.complete,
  };
}

/** A multipart form, and the file that it holds as `file` unless `file` is null. */
export async function form(
  fields: readonly (readonly [string, string])[],
  file: File | null,
): Promise<{ readonly body: Uint8Array; readonly headers: Readonly<Record<string, string>> }> {
  const data = new FormData();
  for (const [name, value] of fields) data.append(name, value);
  if (file) data.append("file", file);
  const written = new Response(data);
  return { body: await written.bytes(), headers: { "content-type": written.headers.get("content-type") ?? "" } };
}

/** The JSON payloads of a stream, `[DONE]` left out. */
export function eventsOf(text: string): readonly Chunk[] {
  return dataOf(text)
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data) as Chunk);
}

export function dataOf(text: string): readonly string[] {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => block.slice("data: ".length));
}

export interface Chunk {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: {
      readonly role?: string;
      readonly content?: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly type?: string;
        readonly function: { readonly name?: string; readonly arguments: string };
      }[];
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Usage | null;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

/** A connection that shows how it ended, which HTTP clients blur. */
export class RawCall {
  text = "";
  /** How the server ended the connection; null while it has not. */
  ended: "fin" | "reset" | null = null;
  readonly connected: Promise<unknown>;
  readonly #socket;
  readonly #over: Promise<unknown>;

  /** `missing` bytes of the body are announced and not sent. */
  constructor(url: string, body: object, missing = 0, headers: Readonly<Record<string, string>> = KEY) {
    const { hostname, port, pathname, search } = new URL(url);
    const payload = JSON.stringify(body);
    const head = [`POST ${pathname}${search} HTTP/1.1`, `host: ${hostname}`, "x-request-id: raw"];
    for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`);
    this.#socket = connect(Number(port), hostname);
    this.#socket.write(
      `${head.join("\r\n")}\r\ncontent-length: ${Buffer.byteLength(payload) + missing}\r\n\r\n${payload}`,
    );
    this.#socket.on("data", (chunk: Buffer) => (this.text += chunk.toString()));
    this.#socket.once("end", () => (this.ended ??= "fin"));
    this.#socket.once("error", () => (this.ended ??= "reset"));
    this.connected = once(this.#socket, "connect").catch(() => undefined);
    this.#over = once(this.#socket, "close").catch(() => undefined);
  }

  /** Resolves when `text` has come. */
  async until(text: string): Promise<void> {
    while (!this.text.includes(text)) await once(this.#socket, "data");
  }

  async over(): Promise<this> {
    await this.#over;
    return this;
  }

  /** Stops reading. */
  pause(): void {
    this.#socket.pause();
  }

  leave(): void {
    this.#socket.destroy();
  }
}

/** Waits until `check` holds; fails after two seconds. */
export async function eventually(check: () => boolean): Promise<void> {
  const until = performance.now() + 2_000;
  while (!check()) {
    if (performance.now() > until) throw new Error("it did not come true within 2 s");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Runs of each property; `NUM_RUNS` sets another number. */
export const RUNS = Number(process.env["NUM_RUNS"] ?? 100);

/** Every place of a value, the elements of a list being one: `choices[].delta.role`. Contents of `free` are not looked at. */
export function placesOf(value: unknown, free: ReadonlySet<string> = new Set(), at = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => placesOf(item, free, `${at}[]`));
  if (!isJson(value)) return [at];
  if (free.has(at)) return [at];
  const inner = Object.entries(value).flatMap(([key, item]) => placesOf(item, free, at === "" ? key : `${at}.${key}`));
  return at === "" ? inner : [at, ...inner];
}
