import { chatFormat, readChat } from "../dialects/openai-client.ts";
import {
  type AnswerFormat,
  type Call,
  type Endpoint,
  type Intake,
  invalidRequest,
  type Json,
  type Log,
  Slots,
} from "../kit/index.ts";
import { parseJson, readBody, requireJson } from "./body.ts";
import { chargeId } from "./charge-id.ts";
import { ServerClient } from "./client.ts";
import { credentialsOf } from "./credentials.ts";
import type { Reception } from "./respond.ts";

/** What is wrong with a body, and where; null when nothing is. */
export type ValidateBody = (
  endpoint: Endpoint,
  body: unknown,
) => { readonly pointer: string; readonly what: string } | null;

export interface InferenceOptions {
  readonly run: (intake: Intake) => Promise<void>;
  readonly validateBody: ValidateBody;
  readonly log: Log;
  readonly stallAfter: number;
}

/** How an endpoint's client dialect reads a body and writes an answer. */
interface Format {
  readonly endpoint: Endpoint;
  readonly read: (body: Json) => Call;
  readonly write: (call: Call) => AnswerFormat;
}

/** Served by POST, past the router: these are the hot path. */
export const INFERENCE: ReadonlyMap<string, Format> = new Map([
  ["/v1/chat/completions", { endpoint: "chat", read: readChat, write: chatFormat }],
]);

export interface Arrival {
  readonly reception: Reception;
  readonly format: Format;
  readonly ip: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  readonly bodyLimit: number;
}

export interface Inference {
  serve(arrival: Arrival): void;
  readonly clients: Slots<ServerClient>;
}

/** Hands requests to the pipeline, which asks for the body only once the credentials are good (decisions 4). */
export function createInference({ run, validateBody, log, stallAfter }: InferenceOptions): Inference {
  const clients = new Slots<ServerClient>();
  return {
    clients,
    serve({ reception, format, ip, receivedAt, bodyLimit }) {
      const { req, requestId } = reception;
      const client = new ServerClient(reception, log, stallAfter);
      clients.add(client);
      const intake: Intake = {
        id: chargeId(receivedAt),
        receivedAt,
        client,
        request: { requestId, credentials: credentialsOf(req.headers), ip, endpoint: format.endpoint },
        read: () => readCall(reception, format, bodyLimit, validateBody),
      };
      run(intake)
        .catch((error: unknown) => client.refuse(error, {}))
        .finally(() => clients.delete(client));
    },
  };
}

async function readCall(
  { req, res }: Reception,
  format: Format,
  limit: number,
  validateBody: ValidateBody,
): Promise<{ call: Call; format: AnswerFormat }> {
  requireJson(req);
  if (req.headers.expect !== undefined && Number(req.headers["content-length"] ?? 0) <= limit) res.writeContinue();
  const body = parseJson(await readBody(req, limit));
  const fault = validateBody(format.endpoint, body);
  if (fault !== null) throw invalidRequest(fault.pointer, fault.what);
  const call = Object.freeze(format.read(Object.freeze(body)));
  return { call, format: format.write(call) };
}
