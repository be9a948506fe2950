import {
  type AnswerFormat,
  type Call,
  type Endpoint,
  type GatewayError,
  type Intake,
  invalidRequest,
  type Json,
  type Log,
  DenseSet,
} from "../kit/index.ts";
import { readBody, requireJson } from "./body.ts";
import { parseJson } from "./json.ts";
import { chargeId } from "./charge-id.ts";
import { ServerClient } from "./client.ts";
import { credentialsOf } from "./credentials.ts";
import { type Form, readForm, requireForm } from "./form.ts";
import type { Format } from "./formats.ts";
import type { Reception } from "./respond.ts";
import type { Claim, Room } from "./room.ts";

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
  /** For bodies in memory, and for uploads on disk. */
  readonly rooms: { readonly memory: Room; readonly space: Room };
}

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
  readonly clients: DenseSet<ServerClient>;
}

/** Hands requests to the pipeline, which asks for the body only once the credentials are good (decisions 4). */
export function createInference({ run, validateBody, log, stallAfter, rooms }: InferenceOptions): Inference {
  const { memory, space } = rooms;
  const clients = new DenseSet<ServerClient>();
  return {
    clients,
    serve({ reception, format, ip, receivedAt, bodyLimit }) {
      const { req, requestId } = reception;
      const { refusal } = format;
      const ownBody = refusal && ((error: GatewayError) => refusal(error, { requestId, headers: req.headers }));
      const client = new ServerClient(reception, log, stallAfter, ownBody);
      clients.add(client);
      let form: Form | null = null;
      let claim: Claim | null = null;
      const read = async (userId: string): Promise<Call> => {
        claim = (format.body === "json" ? memory : space).claim(userId);
        const parts = { signal: client.signal, claim };
        const check = (body: Json): Json => checked(format.endpoint, body, validateBody);
        if (format.body === "json") return format.read(check(await readJson(reception, bodyLimit, parts)), req.headers);
        form = await readMultipart(reception, bodyLimit, parts);
        return format.read(check(form.fields), form.upload);
      };
      const intake: Intake = {
        id: chargeId(receivedAt),
        receivedAt,
        client,
        request: { requestId, credentials: credentialsOf(req.headers), ip, endpoint: format.endpoint },
        async read(userId): Promise<{ readonly call: Call; readonly format: AnswerFormat }> {
          const call = Object.freeze(await read(userId));
          return { call, format: format.write(call, { id: intake.id, created: Math.floor(receivedAt / 1000) }) };
        },
        keep(bytes) {
          // A form's file stays on the disk: an upstream may begin to answer before it has the whole of it.
          if (format.body === "json") claim?.shrink(bytes);
        },
      };
      const served = async (): Promise<void> => {
        try {
          await run(intake);
        } catch (error) {
          client.refuse(error, {});
        } finally {
          clients.delete(client);
          claim?.release();
          await form?.upload.dispose();
        }
      };
      served().catch((err: unknown) => log.error({ err, request_id: requestId }, "a request was not put away"));
    },
  };
}

interface ReadParts {
  readonly signal: AbortSignal;
  readonly claim: Claim;
}

async function readJson(reception: Reception, limit: number, parts: ReadParts): Promise<Json> {
  const { req } = reception;
  requireJson(req);
  invite(reception, limit);
  return parseJson(await readBody(req, limit, parts));
}

function readMultipart(reception: Reception, limit: number, parts: ReadParts): Promise<Form> {
  const { req } = reception;
  requireForm(req);
  invite(reception, limit);
  return readForm(req, limit, parts);
}

/** Lets a client send the body that it has announced, unless that is too long. */
function invite({ req, res }: Reception, limit: number): void {
  if (req.headers.expect !== undefined && Number(req.headers["content-length"] ?? 0) <= limit) res.writeContinue();
}

/** @throws GatewayError 400 naming the first thing that is wrong. */
function checked(endpoint: Endpoint, body: Json, validateBody: ValidateBody): Json {
  const fault = validateBody(endpoint, body);
  if (fault !== null) throw invalidRequest(fault.pointer, fault.what);
  return Object.freeze(body);
}
