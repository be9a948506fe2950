import type { IncomingMessage } from "node:http";
import type { Json } from "../../kit/index.ts";
import { BODY_LIMIT } from "../app.ts";
import { readBody, requireJson } from "../body.ts";
import { parseJson } from "../json.ts";

/** @throws GatewayError 400, 413, 415 for anything but a JSON object. */
export async function readObject(req: IncomingMessage): Promise<Json> {
  requireJson(req);
  return parseJson(await read(req));
}

/** The same where a body may be left out: then it is an empty object, whatever its type is said to be. */
export async function readOptionalObject(req: IncomingMessage): Promise<Json> {
  const body = await read(req);
  if (body.length === 0) return {};
  requireJson(req);
  return parseJson(body);
}

/** What is left of a body that was too long is read over, or the connection would stand still. */
function read(req: IncomingMessage): Promise<Buffer> {
  return readBody(req, BODY_LIMIT).finally(() => req.resume());
}
