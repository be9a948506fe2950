import type { Json } from "../../kit/index.ts";

interface Header {
  readonly description: string;
  /** Whether every answer that can have it does. */
  readonly required?: true;
  readonly schema: Json;
}

const COUNT = { type: "integer" };
const SECONDS = { type: "integer", minimum: 0 };

/** The headers of answers. */
export const HEADERS = Object.freeze({
  "X-Request-Id": {
    description: "The client's own, or made; it is in every log line about the request.",
    required: true,
    schema: { type: "string", minLength: 1, maxLength: 128 },
  },
  "X-RateLimit-Limit-Day": { description: "Units a day has.", schema: COUNT },
  "X-RateLimit-Remaining-Day": { description: "Units left in this day.", schema: COUNT },
  "X-RateLimit-Reset-Day": { description: "Seconds until the day ends.", schema: SECONDS },
  "X-RateLimit-Limit-Hour": { description: "Requests an hour has; not sent without such a limit.", schema: COUNT },
  "X-RateLimit-Remaining-Hour": { description: "Requests left in this hour.", schema: COUNT },
  "X-RateLimit-Reset-Hour": { description: "Seconds until the hour ends.", schema: SECONDS },
  "X-RateLimit-Limit-Minute": { description: "Requests a minute has.", schema: COUNT },
  "X-RateLimit-Remaining-Minute": { description: "Requests left in this minute.", schema: COUNT },
  "X-RateLimit-Reset-Minute": { description: "Seconds until the minute ends.", schema: SECONDS },
  "X-RateLimit-Limit": { description: "Requests one address has; when they are used up.", schema: COUNT },
  "X-RateLimit-Remaining": { description: "Requests left to the address.", schema: COUNT },
  "X-RateLimit-Reset": { description: "Seconds until the address has requests again.", schema: SECONDS },
  "Retry-After": {
    description: "Seconds until a retry makes sense.",
    required: true,
    schema: { type: "integer", minimum: 1 },
  },
  "X-Should-Retry": {
    description: "No retry can help: every upstream has refused for good, or the answer is not kept.",
    schema: { const: "false" },
  },
  "Idempotency-Replayed": {
    description: "An earlier request with the same Idempotency-Key was answered so; X-Request-Id is that request's.",
    schema: { const: "true" },
  },
  Deprecation: {
    description: "When the model is deprecated, as @ and Unix seconds (RFC 9745); the time may lie ahead.",
    schema: { type: "string", pattern: "^@\\d+$" },
  },
  Sunset: { description: "When the model ends, as an HTTP date (RFC 8594).", schema: { type: "string" } },
  Location: { description: "Where to go on.", required: true, schema: { type: "string" } },
  Refresh: {
    description: "For browsers, where the dashboard is on: the page that says what to do, at once.",
    schema: { type: "string" },
  },
  "Set-Cookie": {
    description: "For browsers: the refresh token, or the state of a sign-in under way.",
    schema: { type: "string" },
  },
} satisfies Record<string, Header>);

export type HeaderName = keyof typeof HEADERS;

/** What the caller's plan has left. Every authenticated inference answer carries them. */
export const PLAN_LIMITS: readonly HeaderName[] = names(/-(Day|Hour|Minute)$/);
/** What answers say of a model whose end is planned. */
export const LIFECYCLE: readonly HeaderName[] = ["Deprecation", "Sunset"];
/** What an address has left, when it has nothing left. */
export const ADDRESS_LIMITS: readonly HeaderName[] = names(/^X-RateLimit-[A-Z][a-z]+$/);

function names(pattern: RegExp): HeaderName[] {
  return (Object.keys(HEADERS) as HeaderName[]).filter((name) => pattern.test(name));
}
