import { ERROR_KINDS, type GatewayError, type Json } from "../../../kit/index.ts";

/** An error's body in the Messages format, for a request with an `anthropic-version` header. */
export function messagesRefusal(
  error: GatewayError,
  requestId: string,
): { readonly contentType: string; readonly body: string } {
  const body = { type: "error", error: messagesError(error), request_id: requestId };
  return { contentType: "application/json", body: JSON.stringify(body) };
}

/** `error` of the body, and of the event in a stream. */
export function messagesError(error: GatewayError): Json {
  const message = error.kind === "context_overflow" ? tooLong(error.message) : error.message;
  return { type: ERROR_KINDS[error.kind].messages, message: message.slice(0, MAX_MESSAGE_CHARACTERS) };
}

const MAX_MESSAGE_CHARACTERS = 8_192;

/**
 * Claude Code knows a prompt that does not fit by these words of Anthropic's API, and compacts by the two numbers:
 * https://github.com/anthropics/claude-code/issues/820
 */
const TOO_LONG = "prompt is too long";

/** How providers tell what was asked for and what fits, the one or the other first. */
const COUNTS: readonly RegExp[] = [
  /(?:maximum|max(?:imum)? model) context length (?:is|of) (?<fits>\d+) tokens.{0,80}?(?<asked>\d+)(?: input)? tokens/is,
  /token count(?: of)? \(?(?<asked>\d+)\)? exceeds the (?:maximum|limit)\D{0,60}(?<fits>\d+)/i,
  /(?<asked>\d+) tokens? .{0,40}exceeds?\D{0,60}(?<fits>\d+)/i,
];

function tooLong(message: string): string {
  if (message.toLowerCase().includes(TOO_LONG)) return message;
  const words = message.replace(/^Invalid request: /, "");
  const { asked, fits } = COUNTS.map((counts) => counts.exec(words)?.groups).find(Boolean) ?? {};
  const counted = asked === undefined || fits === undefined ? "" : ` ${asked} tokens > ${fits} maximum.`;
  return `Invalid request: ${TOO_LONG}:${counted} ${words}`;
}
