import { type ErrorCode, ERRORS, GatewayError } from "../kit/index.ts";

export interface RefusalBody {
  readonly contentType: string;
  readonly body: string;
}

/** An error as it leaves the gateway. */
export interface Refusal extends RefusalBody {
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
}

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json";

/**
 * Writes an error down by the table; what is no GatewayError is a 500 that says nothing (decisions 1.1, 1.5, 1.8, 1.9).
 * @param ownBody an endpoint's own body for an error; null for the one of the table.
 */
export function refusalOf(error: unknown, ownBody: (error: GatewayError) => RefusalBody | null = () => null): Refusal {
  const known =
    error instanceof GatewayError && error.code !== "INTERNAL"
      ? error
      : new GatewayError("INTERNAL", "Internal server error");
  const { code, details } = known;
  const row = ERRORS[code];
  const headers: Record<string, string> = { ...details.headers };
  if (row.coded) headers["X-Error-Code"] = code;
  if ("final" in row && row.final) headers["X-Should-Retry"] = "false";
  if (details.retryAfter !== undefined || row.status === 429 || row.status === 503) {
    headers["Retry-After"] = String(wholeSeconds(details.retryAfter));
  }
  return { status: row.status, code, headers, ...(ownBody(known) ?? tableBody(known)) };
}

function tableBody({ code, message, details }: GatewayError): RefusalBody {
  const form = ERRORS[code].body;
  if (form === "text") return { contentType: TEXT, body: message };
  return { contentType: JSON_TYPE, body: JSON.stringify({ [form]: message, ...details.fields }) };
}

/** A `Retry-After` of 0 or NaN would be an invitation to hammer. */
function wholeSeconds(seconds: number | undefined): number {
  return Math.max(1, Math.ceil(seconds ?? 1) || 1);
}
