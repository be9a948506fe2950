import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { poll } from "../e2e/support/child.ts";

type Value = string | number | boolean;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** OTLP's: 2 server, 3 client. */
  readonly kind: number;
  /** Unix milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly events: readonly string[];
  /** OTLP's: 0 unset, 2 error. */
  readonly status: number;
  readonly resource: Readonly<Record<string, Value>>;
}

export interface ReceivedPoint {
  readonly name: string;
  readonly unit: string;
  readonly count: number;
  readonly sum: number;
  readonly bounds: readonly number[];
  readonly attributes: Readonly<Record<string, Value>>;
}

/** A receiver of OTLP over HTTP in JSON, which reads what the protocol says and throws at anything else. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** Of the latest sending: counts go on from the start. */
  points: readonly ReceivedPoint[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  /** Everything that came, as text. */
  text = "";
  readonly #server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      this.headers.push(req.headers);
      this.#take(req.url ?? "", Buffer.concat(chunks).toString());
      res.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The spans of a trace, once there are so many. */
  async trace(traceId: string, count: number): Promise<readonly ReceivedSpan[]> {
    return poll(() => {
      const spans = this.spans.filter((span) => span.traceId === traceId);
      return spans.length >= count ? spans : null;
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(path: string, text: string): void {
    this.text += text;
    const body = JSON.parse(text) as Body;
    if (path === "/v1/traces") this.spans.push(...body.resourceSpans!.flatMap(spansOf));
    else if (path === "/v1/metrics") this.points = body.resourceMetrics!.flatMap(pointsOf);
    else throw new Error(`not a path of OTLP: ${path}`);
  }
}

interface Attribute {
  readonly key: string;
  readonly value: { stringValue?: string; intValue?: number | string; doubleValue?: number; boolValue?: boolean };
}

interface Resource {
  readonly resource: { readonly attributes: readonly Attribute[] };
}

interface Body {
  readonly resourceSpans?: readonly (Resource & { scopeSpans: readonly { spans: readonly RawSpan[] }[] })[];
  readonly resourceMetrics?: readonly (Resource & { scopeMetrics: readonly { metrics: readonly RawMetric[] }[] })[];
}

interface RawSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly events: readonly { readonly name: string }[];
  readonly status: { readonly code?: number };
}

interface RawMetric {
  readonly name: string;
  readonly unit: string;
  readonly histogram: {
    readonly dataPoints: readonly {
      readonly count: number | string;
      readonly sum: number;
      readonly explicitBounds: readonly number[];
      readonly attributes: readonly Attribute[];
    }[];
  };
}

function spansOf({ resource, scopeSpans }: NonNullable<Body["resourceSpans"]>[number]): ReceivedSpan[] {
  return scopeSpans.flatMap(({ spans }) =>
    spans.map((span) => ({
      traceId: span.traceId,
      spanId: span.spanId,
      parentSpanId: span.parentSpanId ?? "",
      name: span.name,
      kind: span.kind,
      start: Number(BigInt(span.startTimeUnixNano) / 1000n) / 1000,
      end: Number(BigInt(span.endTimeUnixNano) / 1000n) / 1000,
      attributes: attributesOf(span.attributes),
      events: span.events.map(({ name }) => name),
      status: span.status.code ?? 0,
      resource: attributesOf(resource.attributes),
    })),
  );
}

function pointsOf({ scopeMetrics }: NonNullable<Body["resourceMetrics"]>[number]): ReceivedPoint[] {
  return scopeMetrics.flatMap(({ metrics }) =>
    metrics.flatMap(({ name, unit, histogram }) =>
      histogram.dataPoints.map((point) => ({
        name,
        unit,
        count: Number(point.count),
        sum: point.sum,
        bounds: point.explicitBounds,
        attributes: attributesOf(point.attributes),
      })),
    ),
  );
}

function attributesOf(list: readonly Attribute[]): Record<string, Value> {
  return Object.fromEntries(
    list.map(({ key, value }) => {
      const { stringValue, intValue, doubleValue, boolValue } = value;
      const number = intValue === undefined ? doubleValue : Number(intValue);
      return [key, stringValue ?? number ?? boolValue ?? ""];
    }),
  );
}
