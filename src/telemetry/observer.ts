import type { Decision } from "#schema";
import {
  type Exchange,
  GatewayError,
  type Log,
  type Observer,
  type Snapshot,
  type TelemetrySettings,
} from "../kit/index.ts";
import type { LineFile } from "./decision-file.ts";
import { decisionOf, type Feature, featuresOf, refusalOf } from "./decisions.ts";
import type { Digests } from "./digests.ts";
import type { Figures } from "./figures.ts";
import { exchangeTelemetry, requestTelemetry } from "./gen-ai.ts";
import { type GatewayLog, scrub } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { TelemetrySink } from "./otlp.ts";
import { type AnsweredRequest, RequestLines } from "./request-line.ts";

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
  readonly figures: Pick<Figures, "finished" | "refused">;
  readonly log: Log & Pick<GatewayLog, "requestLine">;
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
  const { metrics, figures, log, logRequests, accessLog, digests, decisions, sink, now } = parts;
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
  const addressIn = ({ address }: AnsweredRequest): string | undefined => (accessLog().addresses ? address : undefined);
  const lines = new RequestLines();
  const writeLine = (fields: string): void => {
    if (log.requestLine) log.requestLine(fields);
    else log.info(JSON.parse(`{${fields}}`) as object, "request");
  };
  const refused = (request: RejectedRequest): void => {
    const { endpoint, status, code, durationMs } = request;
    metrics.answered(endpoint, "refused", status, durationMs);
    figures.refused(code);
    answered(request, code);
    if (!isLogged(status)) return;
    writeLine(lines.answered(request, "refused", code, addressIn(request)));
  };
  // A client's words in it are the model and X-Request-Id, where a key may stand by mistake.
  const decided = (decision: Decision): void => decisions.write(scrub(JSON.stringify(decision)));
  /** Of exchanges under way; read while their requests were whole. */
  const features = new WeakMap<Exchange, readonly Feature[]>();
  /** Clients' addresses, where lines are to have them. */
  const addresses = new WeakMap<Exchange, string>();
  return {
    rejectedEarly: refused,
    routeServed(request) {
      const { endpoint, status, durationMs } = request;
      const outcome = status < 400 ? "served" : "refused";
      metrics.answered(endpoint, outcome, status, durationMs);
      answered(request, null);
      if (!isLogged(status)) return;
      writeLine(lines.answered(request, outcome, null, addressIn(request)));
    },
    of: (configuration) => ({
      arrived(exchange, { ip }) {
        if (accessLog().addresses) addresses.set(exchange, ip);
      },
      began(exchange) {
        if (decisions.on) features.set(exchange, featuresOf(exchange.call));
      },
      attempt(exchange, target, result) {
        metrics.attempt(exchange.model.id, target, result.ok ? "ok" : result.error.failure);
        if (result.ok) return;
        const { failure, status, message } = result.error;
        log.debug(
          { request_id: exchange.requestId, upstream: target.upstream, failure, status, reason: message },
          "attempt",
        );
      },
      refused(request, error, receivedAt, known = { principal: null, call: null }) {
        const { endpoint, requestId, ip: address, trace = null } = request;
        const fault = error instanceof GatewayError ? error : null;
        const durationMs = Math.max(0, now() - receivedAt);
        const status = fault?.status ?? 500;
        refused({ endpoint, status, code: fault?.code ?? null, requestId, durationMs, method: "POST", trace, address });
        if (!decisions.on) return;
        const line = refusalOf(request, error, known, { config: configuration.hash, receivedAt, now: now(), digest });
        decided(line);
      },
      finished(exchange, outcome) {
        metrics.finished(exchange, outcome);
        figures.finished(exchange, outcome);
        if (sink !== null) {
          for (const span of exchangeTelemetry(exchange, outcome, configuration, record)) sink.span(span);
        }
        if (decisions.on) {
          const read = { config: configuration.hash, features: features.get(exchange) ?? [], digest };
          decided(decisionOf(exchange, outcome, read));
        }
        if (!isLogged(outcome.status)) return;
        const user = accessLog().users ? (digest(exchange.principal.userId) ?? undefined) : undefined;
        writeLine(lines.finished(exchange, outcome, user, addresses.get(exchange)));
      },
      replayed({ endpoint, requestId, ip: address, trace = null }, first, receivedAt) {
        metrics.replayed(endpoint);
        const durationMs = Math.max(0, now() - receivedAt);
        const request = { endpoint, status: 200, requestId, durationMs, method: "POST", trace };
        answered(request, null);
        if (isLogged(200)) writeLine(lines.replayed(request, first, addressIn({ ...request, address })));
      },
      hookTimer: (plugin, hook) => metrics.hookTimer(plugin, hook),
      pluginSlow(plugin, hook, milliseconds) {
        log.warn({ plugin, hook, duration_ms: Math.round(milliseconds) }, "plugin blocked the event loop");
      },
      pluginFailed(plugin, error) {
        metrics.pluginFailed(plugin);
        log.warn({ plugin, err: error }, "plugin failed");
      },
    }),
  };
}
