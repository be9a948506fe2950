import { isJson } from "../../kit/index.ts";
import { errorMessage as plainMessage } from "../errors.ts";
import { parseJson } from "../json.ts";

/** The upstream's own words for an error body, which for a stream comes as a list of one; empty when there are none. */
export function errorMessage(bytes: Uint8Array): string {
  const body = parseJson(bytes);
  const [first] = Array.isArray(body) ? (body as readonly unknown[]) : [body];
  const error = isJson(first) && isJson(first["error"]) ? first["error"] : null;
  return error === null ? "" : plainMessage(Buffer.from(JSON.stringify({ error })));
}
