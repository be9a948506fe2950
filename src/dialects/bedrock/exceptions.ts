import { AttemptError, type FailureClass, isJson } from "../../kit/index.ts";
import { errorMessage as commonMessage } from "../errors.ts";
import { parseJson, publicMessage } from "../json.ts";

/** What an exception means for the attempt, by its type; every other one is the upstream's failure. */
const CLASSES: ReadonlyMap<string, FailureClass> = new Map([
  ["throttlingException", "rate_limited"],
  ["serviceQuotaExceededException", "rate_limited"],
  ["modelNotReadyException", "rate_limited"],
  ["modelTimeoutException", "timeout"],
  ["validationException", "client_fault"],
  ["accessDeniedException", "credentials"],
  ["resourceNotFoundException", "credentials"],
  ["unrecognizedClientException", "credentials"],
  ["expiredTokenException", "credentials"],
]);

/**
 * The failure that an exception stands for.
 * @param type as in `:exception-type`, or in the header `x-amzn-errortype` of a refusal (`ValidationException:http://…`).
 */
export function exceptionClass(type: string): FailureClass {
  const [name = ""] = type.split(":");
  return CLASSES.get(name.charAt(0).toLowerCase() + name.slice(1)) ?? "status";
}

/** The failure for an exception amid a stream; `body` holds its words. */
export function exception(type: string, body: Uint8Array): AttemptError {
  const failure = exceptionClass(type);
  const said = errorMessage(body);
  if (failure === "client_fault") return new AttemptError(failure, said || "upstream refused the request");
  return new AttemptError(failure, said ? `upstream reported an error: ${said}` : "upstream reported an error");
}

/** `{message}`, by some of its services `{Message}`. */
export function errorMessage(bytes: Uint8Array): string {
  const body = parseJson(bytes);
  const said = isJson(body) ? body["Message"] : undefined;
  return commonMessage(bytes) || (typeof said === "string" ? publicMessage(said) : "");
}
