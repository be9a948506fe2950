/** How the clients' formats name one kind of error. */
interface ErrorKindRow {
  /** `error.type` of the Messages format. */
  readonly messages: string;
  /** `error.type` of OpenAI's JSON form. */
  readonly openai: string;
  /** `error.code` of a failed response, where the upstream gives no standard code. */
  readonly responses: string;
}

/*
 * Every error is of one kind, and every client format takes its word for the error from here.
 *
 * Messages: the types of @anthropic-ai/sdk resources/shared (ErrorObject).
 * Responses: `ResponseError.code` of the openai SDK (resources/responses/responses), and codes that Codex acts on:
 * https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/sse/responses.rs
 */
export const ERROR_KINDS = Object.freeze({
  /** The request is wrong. */
  invalid_request: kind("invalid_request_error", "invalid_request_error", "invalid_prompt"),
  /** The prompt is longer than the model's window. */
  context_overflow: kind("invalid_request_error", "invalid_request_error", "context_length_exceeded"),
  /** A provider's filter refused the content. */
  content_filter: kind("invalid_request_error", "invalid_request_error", "content_filter"),
  authentication: kind("authentication_error", "authentication_error"),
  billing: kind("billing_error", "billing_error"),
  permission: kind("permission_error", "permission_error"),
  not_found: kind("not_found_error", "not_found_error"),
  too_large: kind("request_too_large", "invalid_request_error", "invalid_prompt"),
  rate_limited: kind("rate_limit_error", "rate_limit_error", "rate_limit_exceeded"),
  overloaded: kind("overloaded_error", "overloaded_error", "server_is_overloaded"),
  timeout: kind("timeout_error", "timeout_error"),
  /** The upstream, or the gateway, could not serve. */
  server: kind("api_error", "api_error"),
} satisfies Record<string, ErrorKindRow>);

export type ErrorKind = keyof typeof ERROR_KINDS;

function kind(messages: string, openai: string, responses = "server_error"): ErrorKindRow {
  return { messages, openai, responses };
}

/**
 * Codes of providers that clients act on. They say nothing of the gateway's account: a refused key, an empty account or a
 * model that the account does not have (`insufficient_quota`, `invalid_api_key`, `model_not_found`) are the operator's.
 *
 * The first group: https://platform.openai.com/docs/guides/error-codes and `ResponseError.code` of the openai SDK
 * (resources/responses/responses). The second: codes of 400s in OpenAI's API reference. The third: Groq's,
 * https://console.groq.com/docs/errors
 */
const STANDARD_CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "content_filter",
  "content_policy_violation",
  "rate_limit_exceeded",
  "server_is_overloaded",
  "slow_down",
  "invalid_prompt",
  "cyber_policy",
  "invalid_image",
  "invalid_image_format",
  "invalid_base64_image",
  "invalid_image_url",
  "image_too_large",
  "image_too_small",
  "image_parse_error",
  "image_content_policy_violation",
  "invalid_image_mode",
  "image_file_too_large",
  "unsupported_image_media_type",
  "empty_image_file",
  "failed_to_download_image",
  "image_file_not_found",

  "unsupported_parameter",
  "unsupported_value",
  "unsupported_file",
  "unsupported_format",
  "unknown_parameter",
  "missing_required_parameter",
  "invalid_value",
  "invalid_type",
  "invalid_parameter",
  "invalid_function_parameters",
  "invalid_json_schema",
  "invalid_language_format",
  "integer_above_max_value",
  "integer_below_min_value",
  "decimal_above_max_value",
  "decimal_below_min_value",
  "string_above_max_length",
  "string_below_min_length",
  "array_above_max_length",
  "array_below_min_length",
  "audio_too_short",
  "moderation_blocked",

  "tool_use_failed",
  "json_validate_failed",
]);

/** Codes that mean that content was refused. */
const FILTERED: ReadonlySet<string> = new Set([
  "content_filter",
  "content_policy_violation",
  "image_content_policy_violation",
  "moderation_blocked",
]);

/** Identifiers of other providers that mean the same as one of OpenAI's codes. */
const SAME_CODES: readonly (readonly [RegExp, string])[] = [
  [/^(rate_limit_error|resource_exhausted|throttlingexception|too_many_requests)$/, "rate_limit_exceeded"],
  [
    /^(overloaded(_error)?|unavailable|serviceunavailableexception|engine_overloaded(_error)?)$/,
    "server_is_overloaded",
  ],
];

/**
 * The code that clients are told, of a provider's identifiers in lower case: the first standard one, else OpenAI's for what
 * one of them means. Empty without one.
 */
export function standardCode(codes: readonly string[]): string {
  const own = codes.find((code) => STANDARD_CODES.has(code));
  return own ?? SAME_CODES.find(([same]) => codes.some((code) => same.test(code)))?.[1] ?? "";
}

/** Whether a standard code says that a filter refused the content. */
export function isFiltered(code: string): boolean {
  return FILTERED.has(code);
}
