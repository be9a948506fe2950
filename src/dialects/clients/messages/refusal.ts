import type { GatewayError } from "../../../kit/index.ts";

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
};

/** An error's body in the Messages format, for a request with an `anthropic-version` header (decisions 7). */
export function messagesRefusal(
  { status, message }: GatewayError,
  requestId: string,
): { readonly contentType: string; readonly body: string } {
  const type = TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return {
    contentType: "application/json",
    body: JSON.stringify({ type: "error", error: { type, message }, request_id: requestId }),
  };
}
