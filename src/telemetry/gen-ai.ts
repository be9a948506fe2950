import {
  type AttemptSpan,
  type Endpoint,
  type Exchange,
  type Kind,
  type Outcome,
  type RequestTrace,
  type Snapshot,
  type Upstream,
  type Usage,
  type Vendor,
} from "../kit/index.ts";
import { scrub } from "./log.ts";

/*
 * Spans and measurements by OpenTelemetry's semantic conventions for generative AI and for HTTP. Every name of theirs is in
 * this file. Nothing of what a request said, and no key, is among the values.
 */

export type Attributes = Record<string, string | number | boolean>;

export interface Span {
  readonly name: string;
  readonly kind: "server" | "client";
  readonly trace: RequestTrace;
  readonly spanId: string;
  readonly parentId: string | null;
  /** Unix milliseconds, with fractions. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly at: number }[];
  readonly failed: boolean;
}

const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** The convention's, and beyond: reasoning models exceed 10 s. */
const FIRST_TOKEN_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 15, 20, 30, 45, 60,
];
const HTTP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const PER_TOKEN_SECONDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];

/** Histograms by name. */
export const INSTRUMENTS = {
  "gen_ai.client.token.usage": { unit: "{token}", description: "Tokens, as billed.", bounds: TOKENS },
  "gen_ai.client.operation.duration": { unit: "s", description: "Of one attempt at an upstream.", bounds: SECONDS },
  "gen_ai.client.operation.time_to_first_chunk": {
    unit: "s",
    description: "From an attempt's beginning to that of its stream.",
    bounds: FIRST_TOKEN_SECONDS,
  },
  "gen_ai.server.request.duration": {
    unit: "s",
    description: "Of one request, all attempts together.",
    bounds: SECONDS,
  },
  "gen_ai.server.time_to_first_token": {
    unit: "s",
    description: "From a request's arrival to its first token.",
    bounds: FIRST_TOKEN_SECONDS,
  },
  "gen_ai.server.time_per_output_token": {
    unit: "s",
    description: "Of a stream's tokens behind the first.",
    bounds: PER_TOKEN_SECONDS,
  },
  "http.server.request.duration": { unit: "s", description: "Of any request.", bounds: HTTP_SECONDS },
} as const;

export type Instrument = keyof typeof INSTRUMENTS;
export type RecordValue = (instrument: Instrument, value: number, attributes: Attributes) => void;

const OPERATIONS: Readonly<Record<Kind, string>> = {
  chat: "chat",
  embedding: "embeddings",
  image: "generate_content",
  rerank: "rerank",
  speech: "text_to_speech",
  transcription: "speech_to_text",
};

const ROUTES: Readonly<Record<Endpoint, string>> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
  embeddings: "/v1/embeddings",
  rerank: "/v1/rerank",
  speech: "/v1/audio/speech",
  transcription: "/v1/audio/transcriptions",
  image: "/v1/images/generations",
};

const VENDOR_PROVIDERS: Partial<Readonly<Record<Vendor, string>>> = {
  mistral: "mistral_ai",
  deepseek: "deepseek",
  groq: "groq",
  xai: "x_ai",
  moonshot: "moonshot_ai",
  perplexity: "perplexity",
};
const DIALECT_PROVIDERS: Partial<Readonly<Record<Upstream["dialect"], string>>> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
};
const VERTEX = /\baiplatform\.googleapis\.com\b/;

/** The convention's name of who an upstream is; for others that of the dialect. */
function providerOf({ vendor, dialect, baseUrl }: Upstream): string {
  if (VERTEX.test(baseUrl)) return "gcp.vertex_ai";
  return (vendor && VENDOR_PROVIDERS[vendor]) ?? DIALECT_PROVIDERS[dialect] ?? dialect;
}

/** What is said of an upstream with every call of it. */
function upstreamAttributes(upstream: Upstream | undefined): Attributes {
  if (upstream === undefined) return {};
  const attributes: Attributes = { "gen_ai.provider.name": providerOf(upstream) };
  const url = URL.parse(upstream.baseUrl);
  if (url === null || url.hostname === "") return attributes;
  const port = url.port === "" ? (url.protocol === "http:" ? 80 : 443) : Number(url.port);
  return { ...attributes, "server.address": url.hostname, "server.port": port };
}

function usageAttributes(usage: Usage): Attributes {
  return {
    "gen_ai.usage.input_tokens": usage.prompt,
    "gen_ai.usage.output_tokens": usage.completion,
    ...(usage.cached > 0 && { "gen_ai.usage.cache_read.input_tokens": usage.cached }),
    ...(usage.cacheWrite && { "gen_ai.usage.cache_creation.input_tokens": usage.cacheWrite }),
    ...(usage.reasoning > 0 && { "gen_ai.usage.reasoning.output_tokens": usage.reasoning }),
  };
}

/** A request that ended in the pipeline: what is measured of it, and its spans when its trace is recorded. */
export function exchangeTelemetry(
  exchange: Exchange,
  outcome: Outcome,
  snapshot: Pick<Snapshot, "upstreams">,
  record: RecordValue,
): readonly Span[] {
  const { endpoint, model, receivedAt, trace } = exchange;
  const { timeline, target, bill, status, kind } = outcome;
  const operation = OPERATIONS[model.kind];
  const end = timeline?.end ?? outcome.endedAt - receivedAt;
  const attempts = (timeline?.attempts ?? []).filter(({ result }) => result !== "skipped");
  // The one that served, or broke off; of a stream that is read on it may still run.
  const served = target === null ? undefined : attempts.findLast((attempt) => attempt.target === target);
  const upstream = upstreamAttributes(target === null ? undefined : snapshot.upstreams[target.upstream]);
  const failure: Attributes = status >= 400 ? { "error.type": outcome.code ?? String(status) } : {};

  const common: Attributes = {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": upstream["gen_ai.provider.name"] ?? "route-gateway",
    "gen_ai.request.model": model.id,
  };
  record("gen_ai.server.request.duration", end / 1000, { ...common, ...failure });
  record("http.server.request.duration", end / 1000, httpAttributes("POST", ROUTES[endpoint], status));
  const first = timeline?.firstEvent ?? null;
  const { prompt, completion } = bill.usage;
  if (first !== null && exchange.call.stream) {
    record("gen_ai.server.time_to_first_token", first / 1000, common);
    if (completion > 1) record("gen_ai.server.time_per_output_token", (end - first) / 1000 / (completion - 1), common);
  }

  const spans: Span[] = [];
  const isRecorded = trace?.spanId != null && trace.sampled;
  for (const attempt of attempts) {
    const { called, error } = attemptAttributes(attempt, operation, snapshot);
    record("gen_ai.client.operation.duration", ((attempt.end ?? end) - attempt.start) / 1000, { ...called, ...error });
    const begun = exchange.call.stream ? attempt.answered : null;
    if (begun !== null) {
      record("gen_ai.client.operation.time_to_first_chunk", (begun - attempt.start) / 1000, called);
    }
    if (attempt === served && prompt > 0) {
      record("gen_ai.client.token.usage", prompt, { ...called, "gen_ai.token.type": "input" });
    }
    if (attempt === served && completion > 0) {
      record("gen_ai.client.token.usage", completion, { ...called, "gen_ai.token.type": "output" });
    }
    if (!isRecorded || attempt.spanId === null) continue;
    const { maxOutput, answers = 1, stream } = exchange.call;
    spans.push({
      name: `${operation} ${attempt.target.model}`,
      kind: "client",
      trace,
      spanId: attempt.spanId,
      parentId: trace.spanId,
      start: receivedAt + attempt.start,
      end: receivedAt + (attempt.end ?? end),
      attributes: {
        ...called,
        ...error,
        "gateway.upstream": attempt.target.upstream,
        "gen_ai.request.stream": stream,
        ...(maxOutput !== null && { "gen_ai.request.max_tokens": maxOutput }),
        ...(answers > 1 && { "gen_ai.request.choice.count": answers }),
        ...(attempt.status > 0 && { "http.response.status_code": attempt.status }),
        ...(begun !== null && { "gen_ai.response.time_to_first_chunk": (begun - attempt.start) / 1000 }),
        ...(attempt === served && usageAttributes(bill.usage)),
      },
      events: begun === null ? [] : [{ name: "gen_ai.first_token", at: receivedAt + begun }],
      failed: "error.type" in error && attempt.result !== "aborted",
    });
  }
  if (!isRecorded) return spans;
  spans.push({
    ...serverSpan({ trace, method: "POST", route: ROUTES[endpoint], status, start: receivedAt, end: receivedAt + end }),
    attributes: {
      ...httpAttributes("POST", ROUTES[endpoint], status),
      ...(status >= 400 && failure),
      "gateway.request_id": scrub(exchange.requestId),
      "gateway.id": exchange.id,
      "gateway.model": model.id,
      "gateway.plan": exchange.tier.name,
      "gateway.outcome": kind,
      "gateway.attempts": outcome.attempts,
    },
    events: first === null ? [] : [{ name: "gen_ai.first_token", at: receivedAt + first }],
  });
  return spans;
}

function attemptAttributes(
  { target, result }: AttemptSpan,
  operation: string,
  { upstreams }: Pick<Snapshot, "upstreams">,
): { readonly called: Attributes; readonly error: Attributes } {
  const called: Attributes = {
    "gen_ai.operation.name": operation,
    "gen_ai.request.model": target.model,
    ...upstreamAttributes(upstreams[target.upstream]),
  };
  return { called, error: result === "ok" || result === null ? {} : { "error.type": result } };
}

export interface AnsweredRequest {
  readonly method: string;
  /** The route's pattern, or the endpoint's name; never the path as sent. */
  readonly endpoint: string;
  readonly status: number;
  readonly code?: string | null;
  readonly requestId: string;
  readonly durationMs: number;
  readonly trace: RequestTrace | null;
}

/** A request that did not get into the pipeline. @param now Unix milliseconds of its end */
export function requestTelemetry(request: AnsweredRequest, now: number, record: RecordValue): readonly Span[] {
  const { endpoint, status, code, requestId, durationMs, trace } = request;
  const method = METHODS.has(request.method) ? request.method : "_OTHER";
  const route = Object.hasOwn(ROUTES, endpoint) ? ROUTES[endpoint as Endpoint] : endpoint;
  record("http.server.request.duration", Math.max(0, durationMs) / 1000, httpAttributes(method, route, status));
  if (trace?.spanId == null || !trace.sampled) return [];
  const span = serverSpan({ trace, method, route, status, start: now - durationMs, end: now });
  const attributes = {
    ...span.attributes,
    ...(code && { "error.type": code }),
    "gateway.request_id": scrub(requestId),
  };
  return [{ ...span, attributes }];
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"]);

function httpAttributes(method: string, route: string, status: number): Attributes {
  return {
    "http.request.method": method,
    // A path that is none of ours has no route.
    ...(route !== "other" && { "http.route": route }),
    "http.response.status_code": status,
    "url.scheme": "http",
    ...(status >= 500 && { "error.type": String(status) }),
  };
}

function serverSpan(parts: {
  readonly trace: RequestTrace;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly start: number;
  readonly end: number;
}): Span {
  const { trace, method, route, status, start, end } = parts;
  return {
    name: route === "other" ? method : `${method} ${route}`,
    kind: "server",
    trace,
    spanId: trace.spanId ?? "",
    parentId: trace.parentId,
    start,
    end,
    attributes: httpAttributes(method, route, status),
    events: [],
    failed: status >= 500,
  };
}
