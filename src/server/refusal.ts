import { type ErrorCode, ERRORS, GatewayError } from "../kit/index.ts";

/** An error as it leaves the gateway. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Writes an error down by the table; what is no GatewayError is a 500 that says nothing (decisions 1.1, 1.5, 1.8, 1.9). */
export function refusalOf(error: unknown): Refusal {
  const { code, message, details } =
    error instanceof GatewayError && error.code !== "INTERNAL"
      ? error
      : new GatewayError("INTERNAL", "Internal server error");
  const row = ERRORS[code];
  const headers: Record<string, string> = { ...details.headers };
  if (row.coded) headers["X-Error-Code"] = code;
  if ("final" in row && row.final) headers["X-Should-Retry"] = "false";
  if (details.retryAfter !== undefined || row.status === 429 || row.status === 503) {
    headers["Retry-After"] = String(wholeSeconds(details.retryAfter));
  }
  if (row.body === "text") {
    return { status: row.status, code, contentType: "text/plain; charset=utf-8", headers, body: message };
  }
  const body = JSON.stringify({ message, ...details.fields });
  return { status: row.status, code, contentType: "application/json", headers, body };
}

/** A `Retry-After` of 0 or NaN would be an invitation to hammer. */
function wholeSeconds(seconds: number | undefined): number {
  return Math.max(1, Math.ceil(seconds ?? 1) || 1);
}
