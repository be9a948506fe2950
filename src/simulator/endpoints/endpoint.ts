import type { IncomingHttpHeaders } from "node:http";
import type { Json } from "../../kit/index.ts";
import { SimError } from "../error.ts";
import { parseBody } from "../fields.ts";
import type { ReceivedFile } from "../ledger.ts";
import type { Reply } from "../reply.ts";
import type { Script } from "../script.ts";
import type { Shape } from "../shape.ts";

/** One request, read to its end. */
export interface Received {
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
export interface Asked {
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
export type Endpoint = (received: Received) => Asked | Promise<Asked>;

/** @throws SimError 400 */
export function jsonOf({ body, deployment }: Received): Json {
  const parsed = parseBody(body.toString());
  return deployment === undefined ? parsed : { ...parsed, model: deployment };
}

/** A part of a path. @throws SimError 400 where it is not percent-encoded. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new SimError(400, `'${part}' is not percent-encoded.`);
  }
}

/** The dialect that a path belongs to: Cohere's has names of its own. */
export function shapeOfPath(path: string): Shape {
  return /\/v2\/rerank$|\/embed$/.test(path) ? "cohere" : "openai";
}
