import { AttemptError, invalidRequest, isJson, type Json } from "../kit/index.ts";
import type { UpstreamRequest } from "./dialect.ts";
import { parseJson } from "./json.ts";
import { reportedError } from "./errors.ts";

/** No header for an empty key: some upstreams take none. */
export function bearer(apiKey: string): Readonly<Record<string, string>> {
  return apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
}

/** A request whose body is written already. */
export interface JsonRequest extends UpstreamRequest {
  readonly method: "POST";
  readonly body: string;
}

export function getJson(path: string, apiKey: string): UpstreamRequest {
  return { method: "GET", path, headers: { ...bearer(apiKey), accept: "application/json" }, body: null };
}

/** @throws GatewayError when the body cannot be written. */
export function postJson(path: string, apiKey: string, body: Json, accept = "application/json"): JsonRequest {
  return {
    method: "POST",
    path,
    headers: { ...bearer(apiKey), "content-type": "application/json", accept },
    body: write(body),
  };
}

/** `JSON.parse` accepts deeper nesting than `JSON.stringify` can write: that is the client's fault, not a 500. */
function write(body: Json): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (error instanceof RangeError) throw invalidRequest("/", "is nested too deeply");
    throw error;
  }
}

/** The object that a 200 holds. @throws AttemptError when it holds none, or an error. */
export function parseAnswer(bytes: Uint8Array): Json {
  const body = parseJson(bytes);
  if (!isJson(body)) throw new AttemptError("protocol", "upstream sent a body that is not JSON");
  if (body["error"] !== undefined && body["error"] !== null) throw reportedError(body["error"]);
  return body;
}
