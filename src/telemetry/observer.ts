import { type Exchange, GatewayError, type Log, nanoToString, type Observer, type Outcome } from "../kit/index.ts";
import type { Metrics } from "./metrics.ts";

/** Pointers in one line of the log: a client decides how many there are. */
const MAX_DROPPED_POINTERS = 1_000;

/** A request that was refused before it reached the pipeline. */
export interface RejectedRequest {
  /** One of the gateway's own names. */
  readonly endpoint: string;
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string;
  readonly durationMs: number;
}

/** A request that was not inference, whatever its status. */
export interface ServedRequest {
  /** The route's pattern, never the path as sent. */
  readonly endpoint: string;
  readonly status: number;
  readonly requestId: string;
  readonly durationMs: number;
}

export interface GatewayObserver extends Observer {
  rejectedEarly(request: RejectedRequest): void;
  routeServed(request: ServedRequest): void;
}

export interface ObserverParts {
  readonly metrics: Metrics;
  readonly log: Log;
  /** One line at info for every request; false saves the work where the log level drops it. */
  readonly logRequests: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Feeds metrics and writes one line for every request: who, what and how it ended, never content. */
export function createObserver({ metrics, log, logRequests, now }: ObserverParts): GatewayObserver {
  const rejectedEarly = (request: RejectedRequest): void => {
    const { endpoint, status, code, requestId, durationMs } = request;
    metrics.answered(endpoint, "refused", status, durationMs);
    if (!logRequests) return;
    log.info(
      { request_id: requestId, endpoint, outcome: "refused", status, code: code ?? undefined, latency_ms: durationMs },
      "request",
    );
  };
  return {
    rejectedEarly,
    routeServed({ endpoint, status, requestId, durationMs }) {
      const outcome = status < 400 ? "served" : "refused";
      metrics.answered(endpoint, outcome, status, durationMs);
      if (!logRequests) return;
      log.info({ request_id: requestId, endpoint, outcome, status, latency_ms: durationMs }, "request");
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
    refused(request, error, receivedAt) {
      const known = error instanceof GatewayError ? error : null;
      rejectedEarly({
        endpoint: request.endpoint,
        status: known?.status ?? 500,
        code: known?.code ?? null,
        requestId: request.requestId,
        durationMs: Math.max(0, now() - receivedAt),
      });
    },
    finished(exchange, outcome) {
      metrics.finished(exchange, outcome);
      if (logRequests) log.info(requestLine(exchange, outcome), "request");
    },
    hookTimer: (plugin, hook) => metrics.hookTimer(plugin, hook),
    pluginSlow(plugin, hook, milliseconds) {
      log.warn({ plugin, hook, duration_ms: Math.round(milliseconds) }, "plugin held up every request");
    },
    pluginFailed(plugin, error) {
      metrics.pluginFailed(plugin);
      log.warn({ plugin, err: error }, "plugin failed");
    },
  };
}

function requestLine(exchange: Exchange, outcome: Outcome): object {
  const { receivedAt, tags } = exchange;
  const { bill, target, firstEventAt } = outcome;
  return {
    request_id: exchange.requestId,
    id: exchange.id,
    endpoint: exchange.endpoint,
    model: exchange.model.id,
    tier: exchange.tier.name,
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
    latency_ms: Math.max(0, outcome.endedAt - receivedAt),
  };
}
