import type { Decision } from "#schema";
import {
  type Exchange,
  GatewayError,
  type Log,
  nanoToString,
  type Observer,
  type Outcome,
  type RequestTrace,
  type Snapshot,
  type TelemetrySettings,
} from "../kit/index.ts";
import type { LineFile } from "./decision-file.ts";
import { decisionOf, durationsOf, type Feature, featuresOf, refusalOf } from "./decisions.ts";
import type { Digests } from "./digests.ts";
import { exchangeTelemetry, requestTelemetry } from "./gen-ai.ts";
import { scrub } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { TelemetrySink } from "./otlp.ts";

/** Pointers in one line of the log: a client decides how many there are. */
const MAX_DROPPED_POINTERS = 1_000;

/** A request that was answered without the pipeline. */
interface AnsweredRequest {
  /** One of the gateway's own names; of a route its pattern, never the path as sent. */
  readonly endpoint: string;
  readonly status: number;
  readonly requestId: string;
  readonly durationMs: number;
  /** Left out: not known. */
  readonly method?: string;
  readonly trace?: RequestTrace | null;
}

/** A request that was refused before it reached the pipeline. */
export interface RejectedRequest extends AnsweredRequest {
  readonly code: string | null;
}

/** A request that was not inference, whatever its status. */
export type ServedRequest = AnsweredRequest;

/** Told of the requests that do not reach the pipeline. */
export interface RouteObserver {
  rejectedEarly(request: RejectedRequest): void;
  routeServed(request: ServedRequest): void;
}

export interface GatewayObserver extends RouteObserver {
  /** Of the requests that one configuration serves. */
  of(configuration: Pick<Snapshot, "hash" | "upstreams">): Observer;
}

export interface ObserverParts {
  readonly metrics: Metrics;
  readonly log: Log;
  /** False saves the work where the log level drops the lines. */
  readonly logRequests: boolean;
  /** Of the configuration in force. */
  readonly accessLog: () => TelemetrySettings["accessLog"];
  readonly digests: Pick<Digests, "of">;
  readonly decisions: Pick<LineFile, "on" | "write">;
  /** null where nothing is sent. */
  readonly sink: TelemetrySink | null;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Feeds metrics, traces and the decision log, and writes one line for every request: never content. */
export function createObserver(parts: ObserverParts): GatewayObserver {
  const { metrics, log, logRequests, accessLog, digests, decisions, sink, now } = parts;
  const record: TelemetrySink["record"] = (...measured) => sink?.record(...measured);
  const digest = (id: string): string | null => digests.of(id);
  const isLogged = (status: number): boolean => {
    if (!logRequests) return false;
    const { lines } = accessLog();
    return lines === "all" || (lines === "failures" && status >= 400);
  };
  const answered = (request: AnsweredRequest, code: string | null): void => {
    if (sink === null) return;
    const { method = "_OTHER", trace = null } = request;
    for (const span of requestTelemetry({ ...request, code, method, trace }, now(), record)) sink.span(span);
  };
  const refused = (request: RejectedRequest): void => {
    const { endpoint, status, code, requestId, durationMs, trace } = request;
    metrics.answered(endpoint, "refused", status, durationMs);
    answered(request, code);
    if (!isLogged(status)) return;
    log.info(
      {
        request_id: requestId,
        trace_id: trace?.traceId,
        endpoint,
        outcome: "refused",
        status,
        code: code ?? undefined,
        latency_ms: durationMs,
      },
      "request",
    );
  };
  // A client's words in it are the model and X-Request-Id, where a key may stand by mistake.
  const decided = (decision: Decision): void => decisions.write(scrub(JSON.stringify(decision)));
  /** Of exchanges under way; read while their requests were whole. */
  const features = new WeakMap<Exchange, readonly Feature[]>();
  return {
    rejectedEarly: refused,
    routeServed(request) {
      const { endpoint, status, requestId, durationMs, trace } = request;
      const outcome = status < 400 ? "served" : "refused";
      metrics.answered(endpoint, outcome, status, durationMs);
      answered(request, null);
      if (!isLogged(status)) return;
      const trace_id = trace?.traceId;
      log.info({ request_id: requestId, trace_id, endpoint, outcome, status, latency_ms: durationMs }, "request");
    },
    of: (configuration) => ({
      began(exchange) {
        if (decisions.on) features.set(exchange, featuresOf(exchange.call));
      },
      attempt(exchange, target, result) {
        metrics.attempt(target, result.ok ? "ok" : result.error.failure);
        if (result.ok) return;
        const { failure, status, message } = result.error;
        log.debug(
          { request_id: exchange.requestId, upstream: target.upstream, failure, status, reason: message },
          "attempt",
        );
      },
      refused(request, error, receivedAt, known = { principal: null, call: null }) {
        const { endpoint, requestId, trace = null } = request;
        const fault = error instanceof GatewayError ? error : null;
        const durationMs = Math.max(0, now() - receivedAt);
        const status = fault?.status ?? 500;
        refused({ endpoint, status, code: fault?.code ?? null, requestId, durationMs, method: "POST", trace });
        if (!decisions.on) return;
        const line = refusalOf(request, error, known, { config: configuration.hash, receivedAt, now: now(), digest });
        decided(line);
      },
      finished(exchange, outcome) {
        metrics.finished(exchange, outcome);
        if (sink !== null) {
          for (const span of exchangeTelemetry(exchange, outcome, configuration, record)) sink.span(span);
        }
        if (decisions.on) {
          const read = { config: configuration.hash, features: features.get(exchange) ?? [], digest };
          decided(decisionOf(exchange, outcome, read));
        }
        if (!isLogged(outcome.status)) return;
        const user = accessLog().users ? (digest(exchange.principal.userId) ?? undefined) : undefined;
        log.info(requestLine(exchange, outcome, user), "request");
      },
      hookTimer: (plugin, hook) => metrics.hookTimer(plugin, hook),
      pluginSlow(plugin, hook, milliseconds) {
        log.warn({ plugin, hook, duration_ms: Math.round(milliseconds) }, "plugin held up every request");
      },
      pluginFailed(plugin, error) {
        metrics.pluginFailed(plugin);
        log.warn({ plugin, err: error }, "plugin failed");
      },
    }),
  };
}

/** @param user digest of the user's id */
function requestLine(exchange: Exchange, outcome: Outcome, user: string | undefined): object {
  const { receivedAt, tags } = exchange;
  const { bill, target, firstEventAt, timeline } = outcome;
  const { upstream_ms, gateway_ms } = timeline ? durationsOf(timeline, 0) : {};
  return {
    request_id: exchange.requestId,
    id: exchange.id,
    trace_id: exchange.trace?.traceId,
    endpoint: exchange.endpoint,
    model: exchange.model.id,
    tier: exchange.tier.name,
    user,
    stream: exchange.call.stream,
    tags: tags && Object.fromEntries(tags.map(({ name, value }) => [name, value])),
    outcome: outcome.kind,
    status: outcome.status,
    code: outcome.code ?? undefined,
    upstream: target?.upstream,
    answered_by: outcome.answeredBy,
    attempts: outcome.attempts,
    dropped: outcome.dropped.length > 0 ? outcome.dropped.slice(0, MAX_DROPPED_POINTERS) : undefined,
    prompt_tokens: bill.usage.prompt,
    completion_tokens: bill.usage.completion,
    characters: bill.usage.characters,
    audio_ms: bill.usage.milliseconds,
    images: bill.usage.images,
    estimated: bill.estimated || undefined,
    cost: nanoToString(bill.charge),
    first_event_ms: firstEventAt === null ? undefined : Math.max(0, firstEventAt - receivedAt),
    upstream_ms,
    gateway_ms,
    latency_ms: Math.max(0, outcome.endedAt - receivedAt),
  };
}
