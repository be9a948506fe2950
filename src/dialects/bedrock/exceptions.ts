import { type AttemptError, isJson } from "../../kit/index.ts";
import { errorOf } from "../error-body.ts";
import { errorMessage as commonMessage } from "../errors.ts";
import { parseJson, publicMessage } from "../json.ts";
import { reported } from "../refusals.ts";

/** The name of an exception, from `:exception-type` or the header `x-amzn-errortype` (`ValidationException:http://…`). */
export function exceptionName(type: string): string {
  return (type.split(":")[0] ?? "").toLowerCase();
}

/** The failure for an exception amid a stream; `body` holds its words. */
export function exception(type: string, body: Uint8Array): AttemptError {
  const error = errorOf(parseJson(body));
  return reported({ ...error, codes: [exceptionName(type), ...error.codes] }, "bedrock");
}

/** `{message}`, by some of its services `{Message}`. */
export function errorMessage(bytes: Uint8Array): string {
  const body = parseJson(bytes);
  const said = isJson(body) ? body["Message"] : undefined;
  return commonMessage(bytes) || (typeof said === "string" ? publicMessage(said) : "");
}
