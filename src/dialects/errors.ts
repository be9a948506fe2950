import { AttemptError, isJson } from "../kit/index.ts";
import { errorOf } from "./error-body.ts";
import { parseJson, publicMessage } from "./json.ts";
import { reported } from "./refusals.ts";

/**
 * The words of `{error: {message}}`, `{error}`, `{message}` or `{detail}`, fit for a client; empty when there are none.
 * As an array `detail` holds one `{loc, msg}` a mistake (FastAPI).
 */
export function errorMessage(bytes: Uint8Array): string {
  const body = parseJson(bytes);
  if (!isJson(body)) return "";
  const { error, message, detail } = body;
  const said = isJson(error) ? error["message"] : (error ?? message ?? firstOf(detail));
  return typeof said === "string" ? publicMessage(said) : "";
}

function firstOf(detail: unknown): unknown {
  if (!Array.isArray(detail)) return detail;
  const [mistake] = detail as readonly unknown[];
  if (!isJson(mistake)) return undefined;
  const { loc, msg } = mistake;
  const place = Array.isArray(loc) ? loc.filter((step) => typeof step === "string" || typeof step === "number") : [];
  return place.length > 0 && typeof msg === "string" ? `${place.join(".")}: ${msg}` : msg;
}

/** What an error inside a 200 amounts to: mostly that the upstream could not serve. */
export function reportedError(error: unknown): AttemptError {
  return reported(errorOf(error));
}

/** An answer that is not what the dialect promises. */
export function malformed(what: string): AttemptError {
  return new AttemptError("protocol", `upstream sent ${what}`);
}
