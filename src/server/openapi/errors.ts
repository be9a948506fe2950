import { type ErrorCode, ERRORS, type Json } from "../../kit/index.ts";
import { ADDRESS_LIMITS, type HeaderName, PLAN_LIMITS } from "./headers.ts";
import { type Endpoint, schemaRef } from "../endpoint.ts";

/** What every call can meet. */
const EVERYWHERE: readonly ErrorCode[] = ["IP_RATE_LIMIT", "INTERNAL"];
const WITH_RETRY_AFTER: ReadonlySet<ErrorCode> = new Set(["IP_RATE_LIMIT", "TOO_MANY_REQUESTS"]);
const OF_UPSTREAMS: ReadonlySet<ErrorCode> = new Set(["PROVIDER_ERROR", "PROVIDER_TIMEOUT", "CIRCUIT_BREAKER_OPEN"]);

/** An error as it is described: its row of the table of errors, and its body here. */
interface Described {
  readonly code: ErrorCode;
  readonly status: number;
  readonly coded: boolean;
  readonly final: boolean;
  readonly mediaType: "text/plain" | "application/json";
  readonly schema: Json;
}

const MESSAGES_ERROR = { mediaType: "application/json", schema: schemaRef("MessagesError") } as const;

/** The errors of an operation, by status: their bodies, codes and headers, from the table of errors. */
export function errorResponses(operation: Endpoint): Readonly<Record<string, Json>> {
  const codes = [...new Set([...operation.errors, ...EVERYWHERE])];
  const rows = codes.flatMap((code) => {
    const row = rowOf(code, operation.apiErrors === true);
    return operation.messagesErrors ? [row, { ...row, ...MESSAGES_ERROR }] : [row];
  });
  const byStatus = Map.groupBy(rows, ({ status }) => status);
  const plan = operation.tag === "Inference" ? PLAN_LIMITS : [];
  return Object.fromEntries(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, group]) => [String(status), response(status, group, plan)]),
  );
}

function rowOf(code: ErrorCode, apiErrors: boolean): Described {
  const row = ERRORS[code];
  const { status, coded } = row;
  const form = apiErrors && OF_UPSTREAMS.has(code) ? "failure" : row.body;
  return {
    code,
    status,
    coded,
    final: "final" in row && row.final === true,
    mediaType: form === "text" ? "text/plain" : "application/json",
    schema: bodySchema(form, code),
  };
}

function bodySchema(form: "text" | "message" | "error" | "failure", code: ErrorCode): Json {
  switch (form) {
    case "text":
      return { type: "string" };
    case "message":
      return schemaRef(WITH_RETRY_AFTER.has(code) ? "RateLimitMessage" : "MessageError");
    case "error":
      return schemaRef("ModelNotFound");
    case "failure":
      return schemaRef("ApiError");
  }
}

function response(status: number, group: readonly Described[], plan: readonly HeaderName[]): Json {
  const codes = [...new Set(group.filter(({ coded }) => coded).map(({ code }) => code))];
  const names: HeaderName[] = ["X-Request-Id"];
  if (status === 429 || status === 503) names.push("Retry-After");
  if (group.every(({ final }) => final)) names.push("X-Should-Retry");
  if (status === 429) names.push(...plan, ...ADDRESS_LIMITS);
  return {
    description: [...new Set(group.map(({ code }) => WHEN[code]))].join(" "),
    headers: { ...headerRefs(names), ...(codes.length > 0 && { "X-Error-Code": codeHeader(codes, group) }) },
    content: contentOf(group),
  };
}

/** @returns references by name. */
export function headerRefs(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function codeHeader(codes: readonly ErrorCode[], group: readonly Described[]): Json {
  const required = group.every(({ coded }) => coded);
  return {
    description: required ? "Which error it is." : "Which error it is; not sent with the other form of body.",
    required,
    schema: { enum: codes },
  };
}

function contentOf(group: readonly Described[]): Json {
  const byType = Map.groupBy(group, ({ mediaType }) => mediaType);
  return Object.fromEntries(
    [...byType].map(([mediaType, rows]) => {
      const schemas = [...new Map(rows.map(({ schema }) => [JSON.stringify(schema), schema])).values()];
      return [mediaType, { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } }];
    }),
  );
}

/** When a call meets them. */
const WHEN: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: "The request is not what the endpoint takes.",
  INVALID_MODEL: "No such model, or one of another kind.",
  AUTHENTICATION_ERROR: "A wrong key, or an access token where a key is needed.",
  AUTHENTICATION_REQUIRED: "No credentials.",
  INVALID_TOKEN: "A token that is not valid, or not any more.",
  INVALID_CODE: "A wrong code, or one that is used up or too old.",
  SIGN_IN_FAILED: "The identity provider did not vouch for the user.",
  INSUFFICIENT_CREDITS: "The credits left are less than the request may cost.",
  MODEL_NOT_ALLOWED: "The plan cannot call the model.",
  NOT_FOUND: "No such key.",
  MODEL_NOT_FOUND: "No such model here.",
  UNKNOWN_PATH: "No such path.",
  METHOD_NOT_ALLOWED: "Another method than the path has.",
  REQUEST_TOO_LARGE: "The body is larger than the gateway takes.",
  UNSUPPORTED_MEDIA_TYPE: "The body is of another type than the endpoint takes.",
  DAILY_REQUEST_LIMIT_EXCEEDED: "The plan's day is used up.",
  RATE_LIMIT_ERROR: "The plan's hour or minute is used up, or its streams; on key management, no Bearer.",
  IP_RATE_LIMIT: "Too many requests of one address.",
  TOO_MANY_REQUESTS: "Too many codes asked for or tried.",
  INTERNAL: "A fault of the gateway.",
  PROVIDER_ERROR: "Every upstream failed; at sign-in, the identity provider.",
  CIRCUIT_BREAKER_OPEN: "Every upstream is left alone for a while.",
  OVERLOADED: "What the gateway can hold at once is in use.",
  STORE_UNAVAILABLE: "The gateway's store does not answer.",
  SHUTTING_DOWN: "The gateway stops.",
  PROVIDER_TIMEOUT: "Every upstream timed out.",
};
