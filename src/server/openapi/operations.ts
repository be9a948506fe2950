import { type ErrorCode, ERRORS, isJson, type Json } from "../../kit/index.ts";
import { type Answer, type DescribedOperation, schemaRef } from "../endpoint.ts";
import { type HeaderName, HEADERS } from "./headers.ts";

/** How an operation is called, and what every call like it can meet. */
export interface Called {
  /** Each one is enough. */
  readonly security: readonly Json[];
  readonly commonErrors: readonly ErrorCode[];
  /** Whether plain-text errors are JSON for clients that ask for it. */
  readonly jsonErrors: boolean;
  /** Headers of a 429. */
  readonly limits: readonly HeaderName[];
  /** In place of the descriptions that errors have elsewhere. */
  readonly errorTexts?: Partial<Readonly<Record<ErrorCode, string>>>;
}

type Operation = DescribedOperation & Called;

/** The `paths` of an OpenAPI document. */
export function pathsOf(operations: readonly Operation[]): Json {
  const paths = Map.groupBy(operations, ({ path }) => path);
  return Object.fromEntries(
    [...paths].map(([path, group]) => [
      path,
      Object.fromEntries(group.map((operation) => [operation.method.toLowerCase(), operationObject(operation)])),
    ]),
  );
}

function operationObject(operation: Operation): Json {
  const { id, tag, summary, description, parameters, request, answers, security } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security,
    ...(parameters && {
      parameters: parameters.map((one) => ({ ...one, required: one.in === "path" || one.required === true })),
    }),
    ...(request && { requestBody: request }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerObject(answer)])),
      ...errorResponses(operation),
    },
  };
}

function answerObject({ description, content, headers = [] }: Answer): Json {
  return { description, headers: headerRefs(["X-Request-Id", ...headers]), ...(content && { content }) };
}

const WITH_RETRY_AFTER: ReadonlySet<ErrorCode> = new Set(["IP_RATE_LIMIT", "TOO_MANY_REQUESTS"]);
const UPSTREAM_ERRORS: ReadonlySet<ErrorCode> = new Set(["PROVIDER_ERROR", "PROVIDER_TIMEOUT", "CIRCUIT_BREAKER_OPEN"]);

/** An error as it is described: its row of the table of errors, and its body here. */
interface DescribedError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly coded: boolean;
  readonly mediaType: "text/plain" | "application/json";
  readonly schema: Json;
}

const JSON_ERROR = { mediaType: "application/json", schema: schemaRef("JsonError") } as const;
const MESSAGES_ERROR = { mediaType: "application/json", schema: schemaRef("MessagesError") } as const;

/** The errors of an operation, by status: their bodies, codes and headers, from the table of errors. */
function errorResponses(operation: Operation): Readonly<Record<string, Json>> {
  const codes = [...new Set([...operation.errors, ...operation.commonErrors])];
  const all = codes.flatMap((code) => rowsOf(code, operation.apiErrors === true));
  const rows = all.flatMap((row) => {
    const rows = operation.jsonErrors && row.mediaType === "text/plain" ? [row, { ...row, ...JSON_ERROR }] : [row];
    return operation.messagesErrors ? [...rows, { ...row, ...MESSAGES_ERROR }] : rows;
  });
  const byStatus = Map.groupBy(rows, ({ status }) => status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, group]) => [String(status), response(status, group, operation)]),
  );
}

/** One for each status that the error may have. */
function rowsOf(code: ErrorCode, apiErrors: boolean): readonly DescribedError[] {
  const row: (typeof ERRORS)[ErrorCode] & { readonly others?: readonly number[] } = ERRORS[code];
  const { status: first, coded, others = [] } = row;
  const form = apiErrors && UPSTREAM_ERRORS.has(code) ? "failure" : row.body;
  const mediaType = form === "text" ? "text/plain" : "application/json";
  return [first, ...others].map((status) => ({ code, status, coded, mediaType, schema: bodySchema(form, code) }));
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

function response(status: number, group: readonly DescribedError[], { limits, errorTexts = {} }: Called): Json {
  const codes = [...new Set(group.filter(({ coded }) => coded).map(({ code }) => code))];
  const names: HeaderName[] = ["X-Request-Id"];
  if (status === 429 || status === 503) names.push("Retry-After");
  // Which of the two hangs on what failed, or on whether the request with the key has ended.
  const perhaps = status === 409 || status === 502 || status === 504 ? { "Retry-After": optional("Retry-After") } : {};
  if (status === 502 || status === 504) names.push("X-Should-Retry");
  if (status === 429) names.push(...limits);
  if (status === 409 && codes.includes("IDEMPOTENCY_CONFLICT")) names.push("X-Should-Retry", "Idempotency-Replayed");
  if (group.some(({ code }) => code === "SIGN_IN_FAILED")) names.push("Refresh", "Set-Cookie");
  return {
    description: [...new Set(group.map(({ code }) => errorTexts[code] ?? ERROR_DESCRIPTIONS[code]))].join(" "),
    headers: {
      ...headerRefs(names),
      ...perhaps,
      ...(codes.length > 0 && { "X-Error-Code": codeHeader(codes, group) }),
    },
    content: contentOf(group),
  };
}

function optional(name: HeaderName): Json {
  const { description, schema } = HEADERS[name];
  return { description, schema };
}

/** @returns references by name. */
function headerRefs(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function codeHeader(codes: readonly ErrorCode[], group: readonly DescribedError[]): Json {
  const required = group.every(({ coded }) => coded);
  return {
    description: required ? "Which error it is." : "Which error it is; not sent with the other form of body.",
    required,
    schema: { enum: codes },
  };
}

function contentOf(group: readonly DescribedError[]): Json {
  const byType = Map.groupBy(group, ({ mediaType }) => mediaType);
  return Object.fromEntries(
    [...byType].map(([mediaType, rows]) => {
      const schemas = [...new Map(rows.map(({ schema }) => [JSON.stringify(schema), schema])).values()];
      return [mediaType, { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } }];
    }),
  );
}

/** When a call meets them. */
const ERROR_DESCRIPTIONS: Readonly<Record<ErrorCode, string>> = {
  INVALID_REQUEST: "The request is not what the endpoint takes.",
  INVALID_MODEL: "No such model, or one of another kind.",
  AUTHENTICATION_ERROR: "A wrong key, or an access token where a key is needed.",
  AUTHENTICATION_REQUIRED: "No credentials.",
  INVALID_TOKEN: "A token that is not valid, or not any more.",
  INVALID_CODE: "A wrong code, or one that is used up or too old.",
  SIGN_UP_CLOSED: "There is no account for this identity, and it may not sign up.",
  SIGN_IN_FAILED: "The identity provider did not vouch for the user.",
  INSUFFICIENT_CREDITS:
    "The credits left are less than the request may cost, or what may be spent in a month or day is spent.",
  MODEL_NOT_ALLOWED: "The plan cannot call the model.",
  KEY_RESTRICTED: "The key may not be used for this endpoint, or not from this address.",
  FORBIDDEN: "The token's role may not do this, or the call comes from another site's page.",
  NOT_FOUND: "No such key.",
  MODEL_NOT_FOUND: "No such model here.",
  UNKNOWN_PATH: "No such path.",
  IDEMPOTENCY_CONFLICT:
    "The Idempotency-Key was sent before: with another request, or with one whose answer is not kept.",
  METHOD_NOT_ALLOWED: "Another method than the path has.",
  UPGRADE_REQUIRED: "A WebSocket, which is not served here.",
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

/** The schemas of the API as components by their titles. They are written in draft-07 that 2020-12 reads alike. */
export function schemasOf(files: readonly Json[]): Readonly<Record<string, Json>> {
  const components = new Map<string, Json>();
  for (const file of files) {
    const { $schema: _dialect, $id: _id, definitions, ...root } = file;
    const inner = Object.entries(isJson(definitions) ? definitions : {});
    const titles = new Map(inner.map(([name, schema]) => [`#/definitions/${name}`, titleOf(schema)]));
    // A file without a type of its own only holds definitions.
    const schemas = inner.map(([, schema]) => schema);
    for (const schema of root["type"] === undefined ? schemas : [root, ...schemas]) {
      const title = titleOf(schema);
      if (components.has(title)) throw new Error(`two schemas are titled ${title}`);
      components.set(title, relinked(schema, titles) as Json);
    }
  }
  return Object.fromEntries(components);
}

/** The schema with references to components in place of those within its file. */
function relinked(schema: unknown, titles: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(schema)) return schema.map((item) => relinked(item, titles));
  if (!isJson(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (key !== "$ref") return [key, relinked(value, titles)];
    const title = titles.get(String(value));
    if (title === undefined) throw new Error(`no definition has the reference ${String(value)}`);
    return [key, schemaRef(title)["$ref"]];
  });
  return Object.fromEntries(entries);
}

function titleOf(schema: unknown): string {
  const title = isJson(schema) ? schema["title"] : undefined;
  if (typeof title !== "string") throw new Error("a schema of the API has no title");
  return title;
}
