import type { IncomingHttpHeaders } from "node:http";
import { CREATED_SECONDS } from "./answer.ts";
import { SimError } from "./fields.ts";
import type { Shape } from "./script.ts";

/** Whose request a path belongs to: whose credentials it brings, and whose errors it gets. */
export type Dialect = Shape | "anthropic" | "vertex" | "gemini" | "azure" | "bedrock" | "elevenlabs" | "deepgram";

/** What names of credentials say that a list of models is asked of another provider than OpenAI. */
export function dialectOfList(headers: IncomingHttpHeaders, path: string, query: URLSearchParams): Dialect {
  if (path.includes("/openai/")) return "azure";
  if (/\/(?:foundation-models|inference-profiles|async-invoke)$/.test(path)) return "bedrock";
  if (path.includes("/v1beta/") || headers["x-goog-api-key"] !== undefined) return "gemini";
  if (headers["anthropic-version"] !== undefined) return "anthropic";
  if (headers["xi-api-key"] !== undefined) return "elevenlabs";
  if (/^Token /i.test(headers.authorization ?? "")) return "deepgram";
  // Cohere's pages alone are counted so, and it has no header of its own.
  if (query.has("page_size")) return "cohere";
  return "openai";
}

/** Any key will do, where the dialect's clients bring it. @throws SimError 401 or 403 without one. */
export function checkKey(dialect: Dialect, headers: IncomingHttpHeaders, query?: URLSearchParams): void {
  const { authorization = "" } = headers;
  const has = (name: string) => typeof headers[name] === "string" && headers[name] !== "";
  const bearer = /^Bearer \S/i.test(authorization);
  switch (dialect) {
    case "anthropic":
      if (!has("x-api-key") && !bearer) throw new SimError(401, "x-api-key header is required");
      return;
    case "gemini":
      if (has("x-goog-api-key") || query?.get("key") || bearer) return;
      throw new SimError(
        403,
        "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
      );
    case "vertex":
      if (bearer) return;
      throw new SimError(
        401,
        "API keys are not supported by this API. Expected OAuth2 access token or other authentication credentials that assert a principal.",
      );
    case "azure":
      if (has("api-key") || bearer) return;
      throw new SimError(
        401,
        "Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API.",
      );
    case "elevenlabs":
      if (!has("xi-api-key")) throw new SimError(401, "Invalid API key", { code: "invalid_api_key" });
      return;
    case "deepgram":
      if (!/^Token \S/i.test(authorization)) throw new SimError(401, "Invalid credentials.", { code: "INVALID_AUTH" });
      return;
    case "bedrock":
      // Signed: checked with the request.
      return;
    default:
      if (bearer) return;
      throw new SimError(
        401,
        "You didn't provide an API key. You need to provide your API key in an Authorization header.",
      );
  }
}

/** How a dialect says that it failed. */
export interface Failure {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const REQUEST_ID = "req_simulated";
const VERTEX_REQUEST_ID = "req_vrtx_simulated";
/**
 * What Google says itself in front of Claude: who may ask, for what, and how often. The rest is Anthropic's
 * (https://github.com/anthropics/claude-code/issues/1440, https://github.com/anyme123/Any-code/issues/5 and #12429 of the first).
 */
const GOOGLES_OWN: ReadonlySet<number> = new Set([401, 403, 404, 429, 499, 503, 504]);

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
      return { body: JSON.stringify(anthropicError(error, REQUEST_ID)), headers: { "request-id": REQUEST_ID } };
    }
    case "vertex":
      if (GOOGLES_OWN.has(status)) return { body: JSON.stringify({ error: googleStatus(error) }) };
      return { body: JSON.stringify(anthropicError(error, VERTEX_REQUEST_ID)) };
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

function anthropicError({ status, message }: SimError, requestId: string): object {
  return { type: "error", error: { type: anthropicType(status), message }, request_id: requestId };
}

function anthropicType(status: number): string {
  return ANTHROPIC[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
}

/** The time to wait is in the body, nowhere else. */
function googleError(error: SimError): object {
  const { status, retryAfter } = error;
  if (status !== 429) return googleStatus(error);
  const seconds = Number(retryAfter ?? Number.NaN);
  const details = [
    {
      "@type": "type.googleapis.com/google.rpc.QuotaFailure",
      violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier" }],
    },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${Number.isNaN(seconds) ? 34.4 : seconds}s` },
  ];
  return { ...googleStatus(error), details };
}

function googleStatus({ status, message }: SimError): object {
  return { code: status, message, status: GOOGLE[status] ?? (status >= 500 ? "INTERNAL" : "FAILED_PRECONDITION") };
}

function openaiType(status: number): string {
  if (status === 429) return "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

const KINDS = ["chat", "reasoner", "embedding", "rerank", "speech", "transcription", "image"];
const IDS = KINDS.map((kind) => `simulated-${kind}`);
const DATE = "2026-01-01T00:00:00Z";

/** What providers let their clients read without being billed: lists of models, and what else shows that a key is good. */
export function isList(path: string): boolean {
  return /\/(?:models|deployments|foundation-models|inference-profiles|async-invoke|projects|voices|user)$/.test(path);
}

/** The body of a list: answers to any name of a model are served, these among them. */
export function modelList(dialect: Dialect, path: string): string {
  if (path.endsWith("/projects")) return JSON.stringify({ projects: [{ project_id: "simulated", name: "simulated" }] });
  if (path.endsWith("/voices")) return JSON.stringify({ voices: [{ voice_id: "simulated", name: "simulated" }] });
  if (path.endsWith("/user")) return JSON.stringify({ user_id: "simulated" });
  if (path.endsWith("/async-invoke")) return JSON.stringify({ asyncInvokeSummaries: [] });
  if (path.endsWith("/inference-profiles")) return JSON.stringify({ inferenceProfileSummaries: [] });
  if (path.endsWith("/deployments")) {
    const data = IDS.map((id) => ({
      id,
      model: id,
      status: "succeeded",
      created_at: CREATED_SECONDS,
      object: "deployment",
    }));
    return JSON.stringify({ object: "list", data });
  }
  if (path.includes("/publishers/")) {
    return JSON.stringify({ publisherModels: IDS.map((id) => ({ name: `publishers/simulator/models/${id}` })) });
  }
  if (path.endsWith("/foundation-models")) {
    return JSON.stringify({ modelSummaries: IDS.map((modelId) => ({ modelId, providerName: "simulator" })) });
  }
  return JSON.stringify(listOf(dialect));
}

function listOf(dialect: Dialect): object {
  switch (dialect) {
    case "anthropic":
      return {
        data: IDS.map((id) => ({ type: "model", id, display_name: id, created_at: DATE })),
        has_more: false,
        first_id: IDS[0],
        last_id: IDS.at(-1),
      };
    case "gemini":
      return {
        models: IDS.map((id) => ({
          name: `models/${id}`,
          displayName: id,
          supportedGenerationMethods: ["generateContent", "countTokens", "embedContent"],
        })),
      };
    case "cohere":
      return { models: IDS.map((name) => ({ name, endpoints: [] })) };
    case "elevenlabs":
      return IDS.map((id) => ({ model_id: id, name: id, can_do_text_to_speech: id.includes("speech") }));
    case "deepgram":
      return {
        stt: [{ name: "simulated", canonical_name: "simulated-transcription" }],
        tts: [{ name: "simulated", canonical_name: "simulated-speech" }],
      };
    default:
      return {
        object: "list",
        data: IDS.map((id) => ({ id, object: "model", created: CREATED_SECONDS, owned_by: "simulator" })),
      };
  }
}
