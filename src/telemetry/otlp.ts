import type { Histogram, HrTime, SpanContext, SpanKind, SpanStatus } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { MeterProvider } from "@opentelemetry/sdk-metrics";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { inBackground, type Log, newSpanId, newTraceId, type RequestTrace, traceParentOf } from "../kit/index.ts";
import { agentFor } from "../network/agents.ts";
import { type Attributes, type Instrument, INSTRUMENTS, type Span } from "./gen-ai.ts";

export interface OtlpOptions {
  /** Base URL of the receiver, without a slash at its end. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds between two sendings of the metrics. */
  readonly interval: number;
  /** Of this process, such as `service.instance.id`. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Calls back after so many milliseconds, unless cancelled; does not keep the process. */
  readonly schedule: (ms: number, callback: () => void) => () => void;
  readonly log: Log;
  /** The proxy through which an address is asked; left out: none. */
  readonly proxyTo?: (url: URL) => URL | null;
  /** Milliseconds for one sending of spans with its repetitions; 10 s unless given. */
  readonly giveUpMs?: number;
}

/** Where spans and measurements go. Neither waits for anything. */
export interface TelemetrySink {
  span(span: Span): void;
  record(instrument: Instrument, value: number, attributes: Attributes): void;
  /** Spans that the receiver did not get. */
  readonly droppedSpans: number;
  /** Sends what waits, for a short time at most. */
  close(): Promise<void>;
}

const MAX_WAITING_SPANS = 4_096;
const BATCH_SPANS = 512;
const BATCH_WAIT_MS = 2_000;
/** Of one sending with its repetitions; the exporter takes it for the silence of the connection. */
const EXPORT_TIMEOUT_MS = 5_000;
/** A receiver that answers a byte now and then is never silent: without this no later span would be sent. */
const GIVE_UP_MS = 10_000;
/** A receiver that is away must not hold the stop of a process. */
const CLOSE_TIMEOUT_MS = 200;
const SCOPE = { name: "route-gateway" };

/** Optional peers of the package: 20 MB that a gateway without a receiver does not need. */
const PACKAGES = [
  "@opentelemetry/api",
  "@opentelemetry/exporter-metrics-otlp-http",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-metrics",
  "@opentelemetry/sdk-trace",
];

function loadPackages() {
  return Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/exporter-metrics-otlp-http"),
    import("@opentelemetry/sdk-metrics"),
    import("@opentelemetry/resources"),
  ]).catch((error: unknown) => {
    const missing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    if (!missing) throw error;
    throw new Error(`sending to an OTLP receiver needs more packages: npm install ${PACKAGES.join(" ")}`, {
      cause: error,
    });
  });
}

/** Loads the packages, which a gateway without a receiver never does, and begins to send. @throws Error: not installed */
export async function openOtlp(options: OtlpOptions): Promise<TelemetrySink> {
  const [api, traces, metrics, sdk, resources] = await loadPackages();
  const { endpoint, headers, interval, attributes, proxyTo = () => null } = options;
  const resource = resources
    .defaultResource()
    .merge(resources.resourceFromAttributes({ "service.name": SCOPE.name, ...attributes }))
    .merge(resources.detectResources({ detectors: [resources.envDetector] }));
  const url = new URL(endpoint);
  const to = (path: string) => ({
    url: endpoint + path,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
    httpAgentOptions: () => agentFor(url, proxyTo(url), { keepAlive: true }),
  });
  const exporter = new traces.OTLPTraceExporter(to("/v1/traces"));
  const reader = new sdk.PeriodicExportingMetricReader({
    exporter: new metrics.OTLPMetricExporter(to("/v1/metrics")),
    exportIntervalMillis: interval,
    exportTimeoutMillis: Math.min(interval, EXPORT_TIMEOUT_MS),
  });
  const provider = new sdk.MeterProvider({ resource, readers: [reader] });
  const { SpanKind: kinds, SpanStatusCode: codes } = api;
  const forms: SpanForms = {
    resource,
    kinds: { server: kinds.SERVER, client: kinds.CLIENT },
    failed: { code: codes.ERROR },
    unset: { code: codes.UNSET },
  };
  return new OtlpSink(options, exporter, provider, forms);
}

/** What every span is made with. */
interface SpanForms {
  readonly resource: Resource;
  readonly kinds: Readonly<Record<Span["kind"], SpanKind>>;
  readonly failed: SpanStatus;
  readonly unset: SpanStatus;
}

interface SpanExporter {
  export(spans: ReadableSpan[], done: (result: { readonly code: number }) => void): void;
  shutdown(): Promise<void>;
}

class OtlpSink implements TelemetrySink {
  droppedSpans = 0;
  readonly #options: OtlpOptions;
  readonly #exporter: SpanExporter;
  readonly #provider: MeterProvider;
  readonly #forms: SpanForms;
  readonly #instruments: ReadonlyMap<Instrument, Histogram>;
  #waiting: Span[] = [];
  #sending: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;
  #isAway = false;

  constructor(options: OtlpOptions, exporter: SpanExporter, provider: MeterProvider, forms: SpanForms) {
    this.#options = options;
    this.#exporter = exporter;
    this.#provider = provider;
    this.#forms = forms;
    const meter = provider.getMeter(SCOPE.name);
    this.#instruments = new Map(
      Object.entries(INSTRUMENTS).map(([name, { unit, description, bounds }]) => [
        name as Instrument,
        meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...bounds] } }),
      ]),
    );
  }

  span(span: Span): void {
    if (this.#waiting.length >= MAX_WAITING_SPANS) {
      this.droppedSpans += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= BATCH_SPANS) this.#sendInBackground();
    else this.#cancelTimer ??= this.#options.schedule(BATCH_WAIT_MS, () => this.#sendInBackground());
  }

  record(instrument: Instrument, value: number, attributes: Attributes): void {
    this.#instruments.get(instrument)?.record(Math.max(0, value), attributes);
  }

  async close(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const cancel = this.#options.schedule(CLOSE_TIMEOUT_MS, late.resolve);
    await Promise.race([this.#shutDown(), late.promise]);
    cancel();
    // Each batch that was still sent to a receiver that stands still would keep the process for as long again.
    this.droppedSpans += this.#waiting.length;
    this.#waiting = [];
  }

  async #shutDown(): Promise<void> {
    await Promise.allSettled([
      this.#send()
        .then(() => this.#send())
        .then(() => this.#exporter.shutdown()),
      this.#provider.shutdown(),
    ]);
  }

  #sendInBackground(): void {
    inBackground(this.#options.log, "sending spans", this.#send());
  }

  /** One batch after the other: a receiver that is slow is not sent more at a time. */
  #send(): Promise<void> {
    return (this.#sending ??= this.#sendAll().finally(() => (this.#sending = null)));
  }

  async #sendAll(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_SPANS);
      const sent = await this.#export(batch);
      if (!sent) this.droppedSpans += batch.length;
      if (!sent && !this.#isAway) {
        this.#options.log.warn({ endpoint: this.#options.endpoint }, "traces could not be sent; dropped");
      }
      this.#isAway = !sent;
    }
  }

  async #export(batch: readonly Span[]): Promise<boolean> {
    const sent = Promise.withResolvers<boolean>();
    const { schedule, giveUpMs = GIVE_UP_MS } = this.#options;
    const cancel = schedule(giveUpMs, () => sent.resolve(false));
    const spans = batch.map((span) => readable(span, this.#forms));
    this.#exporter.export(spans, ({ code }) => sent.resolve(code === 0));
    try {
      return await sent.promise;
    } finally {
      cancel();
    }
  }
}

/** As the exporter takes a span. */
function readable(span: Span, forms: SpanForms): ReadableSpan {
  const { name, kind, trace, spanId, parentId, start, end, attributes, events, failed } = span;
  const context = (id: string, isRemote: boolean): SpanContext => ({
    traceId: trace.traceId,
    spanId: id,
    traceFlags: trace.sampled ? 1 : 0,
    isRemote,
  });
  const own = context(spanId, false);
  return {
    name,
    kind: forms.kinds[kind],
    spanContext: () => own,
    ...(parentId !== null && { parentSpanContext: context(parentId, kind === "server") }),
    startTime: timeOf(start),
    endTime: timeOf(end),
    duration: timeOf(Math.max(0, end - start)),
    status: failed ? forms.failed : forms.unset,
    attributes,
    links: [],
    events: events.map(({ name, at }) => ({ name, time: timeOf(at), attributes: {}, droppedAttributesCount: 0 })),
    ended: true,
    resource: forms.resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function timeOf(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1000);
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)];
}

type Header = string | readonly string[] | undefined;

/**
 * The trace of a request of which spans are recorded: the caller's, or one that begins here.
 * @param sample share of those that begin here which are sent
 */
export function recordedTrace(traceparent: Header, tracestate: Header, sample: number): RequestTrace {
  const parent = traceParentOf(traceparent, tracestate);
  if (parent !== null) return parent.sampled ? { ...parent, spanId: newSpanId() } : parent;
  const traceId = newTraceId();
  return { traceId, parentId: null, sampled: isSampled(traceId, sample), state: "", spanId: newSpanId() };
}

/** Of a trace's id the last seven bytes are random by the recommendation. */
const RANDOM_DIGITS = 14;

function isSampled(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) / 16 ** RANDOM_DIGITS < share;
}
