import type { Json } from "../../../kit/index.ts";
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
  readonly contentType: string;
  readonly body: Buffer<ArrayBuffer>;
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
  reply(script: Script, shape: Shape): Reply;
}

/** Reads the requests of one kind. @throws SimError 400 naming the parameter */
export type Endpoint = (received: Received) => Asked | Promise<Asked>;

/** @throws SimError 400 */
export function jsonOf(received: Received): Json {
  return parseBody(received.body.toString());
}

/** The dialect that a path belongs to: Cohere's has names of its own. */
export function shapeOfPath(path: string): Shape {
  return /\/v2\/rerank$|\/embed$/.test(path) ? "cohere" : "openai";
}
