import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Json } from "../kit/index.ts";
import { parseBody, SimError } from "./fields.ts";
import type { Claims, ReceivedFile } from "./ledger.ts";
import type { Reply } from "./reply.ts";
import type { Script, Shape } from "./script.ts";

/** One request, read to its end. */
export interface ReceivedRequest {
  readonly path: string;
  /** Scheme and authority by which the client calls the simulator. */
  readonly origin: string;
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  readonly body: Buffer<ArrayBuffer>;
  /** The model, where the path names it and the body need not. */
  readonly deployment?: string;
}

/** What a request asks for. */
export interface ParsedRequest {
  readonly model: string;
  /** The script in the request itself, unread; undefined without one. */
  readonly sim: unknown;
  /** Left out: what the path says. */
  readonly shape?: Shape;
  readonly upload?: ReceivedFile;
  /** The healthy reply; `script` shapes it and has its say on everything it names. */
  reply(script: Script): Reply;
}

/** Reads the requests of one kind. @throws SimError 400 naming the parameter */
export type Endpoint = (received: ReceivedRequest) => ParsedRequest | Promise<ParsedRequest>;

/** @throws SimError 400 */
export function jsonOf({ body, deployment }: ReceivedRequest): Json {
  const parsed = parseBody(body.toString());
  return deployment === undefined ? parsed : { ...parsed, model: deployment };
}

/** A part of a path. @throws SimError 400 where it is not percent-encoded. */
export function decodePathPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new SimError(400, `'${part}' is not percent-encoded.`);
  }
}

const MAXIMUM_BODY_BYTES = 64 * 1024 * 1024;

/** The whole body of a request. @throws SimError 413 beyond 64 MiB */
export function readBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // Read to the end and thrown away: an answer before that would be lost in a reset.
      if (size <= MAXIMUM_BODY_BYTES) chunks.push(chunk);
    });
    request.once("error", reject);
    request.once("end", () => {
      if (size <= MAXIMUM_BODY_BYTES) resolve(Buffer.concat(chunks, size));
      else reject(new SimError(413, `The body is larger than ${MAXIMUM_BODY_BYTES} bytes.`));
    });
  });
}

/** The counts of tokens that a script claims for what is not counted in tokens otherwise. */
export function tokensClaimed(script: Script): Claims | undefined {
  const { "usage.prompt": prompt, "usage.completion": completion } = script;
  if (script.no_usage || (prompt === undefined && completion === undefined)) return undefined;
  return { prompt: prompt ?? 0, completion: completion ?? 0 };
}

/** As OpenAI writes them. */
export function tokenUsage({ prompt, completion }: Claims): object {
  return { input_tokens: prompt, output_tokens: completion, total_tokens: Number(prompt) + Number(completion) };
}
