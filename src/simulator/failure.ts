import type { Dialect } from "./dialect.ts";
import type { SimError } from "./error.ts";

/** How a dialect says that it failed. */
export interface Failure {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const REQUEST_ID = "req_simulated";

const ANTHROPIC: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

const GOOGLE: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  500: "INTERNAL",
  501: "UNIMPLEMENTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const BEDROCK: Readonly<Record<number, string>> = {
  400: "ValidationException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  424: "ModelErrorException",
  429: "ThrottlingException",
  503: "ServiceUnavailableException",
};

/** The body of a failure, and headers that it comes with. */
export function failureOf(error: SimError, dialect: Dialect = "openai"): Failure {
  const { status, message, param, code } = error;
  if (error.body) return { body: JSON.stringify(error.body) };
  switch (dialect) {
    case "anthropic": {
      const made = { type: "error", error: { type: anthropicType(status), message }, request_id: REQUEST_ID };
      return { body: JSON.stringify(made), headers: { "request-id": REQUEST_ID } };
    }
    case "gemini":
      return { body: JSON.stringify({ error: googleError(error) }) };
    case "azure":
      return { body: JSON.stringify({ error: { message, type: null, param, code: code ?? String(status) } }) };
    case "bedrock":
      // The service says where the type is defined behind a colon.
      return {
        body: JSON.stringify({ message }),
        headers: {
          "x-amzn-errortype": `${code ?? bedrockType(status)}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
        },
      };
    case "cohere":
      return { body: JSON.stringify({ message }) };
    case "elevenlabs":
      return { body: JSON.stringify({ detail: { status: code ?? "invalid_request", message } }) };
    case "deepgram":
      return {
        body: JSON.stringify({ err_code: code ?? "Bad Request", err_msg: message, request_id: REQUEST_ID }),
        headers: { "dg-request-id": REQUEST_ID },
      };
    case "jina":
    case "voyage":
      return { body: JSON.stringify({ detail: message }) };
    default:
      return { body: JSON.stringify({ error: { message, type: openaiType(status), param, code } }) };
  }
}

/** The simple name of an exception, such as `ThrottlingException`. */
export function bedrockType(status: number): string {
  return BEDROCK[status] ?? (status >= 500 ? "InternalServerException" : "ValidationException");
}

function anthropicType(status: number): string {
  return ANTHROPIC[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

/** The time to wait is in the body, nowhere else. */
function googleError({ status, message, retryAfter }: SimError): object {
  const name = GOOGLE[status] ?? (status >= 500 ? "INTERNAL" : "FAILED_PRECONDITION");
  if (status !== 429) return { code: status, message, status: name };
  const seconds = Number(retryAfter ?? Number.NaN);
  const details = [
    {
      "@type": "type.googleapis.com/google.rpc.QuotaFailure",
      violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier" }],
    },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${Number.isNaN(seconds) ? 34.4 : seconds}s` },
  ];
  return { code: status, message, status: name, details };
}

function openaiType(status: number): string {
  if (status === 429) return "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
