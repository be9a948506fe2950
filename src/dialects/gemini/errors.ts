import { isJson, type Json } from "../../kit/index.ts";
import { errorMessage as plainMessage } from "../errors.ts";
import { parseJson } from "../json.ts";

const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";
const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";
/** A protobuf duration in JSON. */
const DURATION = /^(\d{1,9}(?:\.\d{1,9})?)s$/;

/** The upstream's own words for an error body, fit for a client; empty when there are none. */
export function errorMessage(bytes: Uint8Array): string {
  const error = errorOf(bytes);
  return error === null ? "" : plainMessage(Buffer.from(JSON.stringify({ error })));
}

/** Milliseconds that an error body asks to wait (`RetryInfo.retryDelay`, never a header); null when it does not say. */
export function retryAfter(bytes: Uint8Array): number | null {
  const delay = detail(errorOf(bytes), RETRY_INFO)?.["retryDelay"];
  const match = typeof delay === "string" ? DURATION.exec(delay) : null;
  return match ? Math.ceil(Number(match[1]) * 1000) : null;
}

/** Whether a 400 is about the gateway's key, not about the client's request: Gemini knows no 401 for a bad one. */
export function isCredentialsError(bytes: Uint8Array): boolean {
  const error = errorOf(bytes);
  return detail(error, ERROR_INFO)?.["reason"] === "API_KEY_INVALID" || error?.["status"] === "UNAUTHENTICATED";
}

/** The error of a body, which for a stream comes as a list of one. */
function errorOf(bytes: Uint8Array): Json | null {
  const body = parseJson(bytes);
  const [first] = Array.isArray(body) ? (body as readonly unknown[]) : [body];
  return isJson(first) && isJson(first["error"]) ? first["error"] : null;
}

function detail(error: Json | null, type: string): Json | null {
  const details = error?.["details"];
  if (!Array.isArray(details)) return null;
  return details.filter(isJson).find((one) => one["@type"] === type) ?? null;
}
