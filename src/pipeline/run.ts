import {
  type AbortReason,
  type AnswerFormat,
  type Bill,
  type ByteReply,
  type Call,
  type Ending,
  type EventReply,
  type Exchange,
  type GatewayError,
  type Host,
  type Intake,
  type Json,
  type Observer,
  type Outcome,
  type OutcomeKind,
  type Reply,
  type Settle,
  StalePrincipal,
  type StreamFormat,
  type Target,
  type Usage,
  type Windows,
} from "../kit/index.ts";
import { type Attempts, guardAttempts, type Send } from "./attempts.ts";
import type { Pipeline, Plan } from "./build.ts";
import { countOrGuess, Delivered } from "./delivered.ts";
import { eventWriter } from "./events.ts";
import { droppedHeader, rateLimitHeaders } from "./headers.ts";
import { Heartbeat } from "./heartbeat.ts";
import { failureOf } from "./failure.ts";
import { passOver } from "./hooks.ts";
import { currentWindows } from "./intake.ts";
import { pump, type PumpEnd } from "./pump.ts";
import { checkedReply } from "./returned.ts";
import { settleAll, undo } from "./settle.ts";
import { admit, respond, transform } from "./stages.ts";

/** Recorded where there is nobody to answer: what proxies have made of it, no status of HTTP's own. */
const CLIENT_GONE = 499;
const EVENTS = "text/event-stream; charset=utf-8";

export interface RunParts {
  readonly pipeline: Pipeline;
  readonly host: Host;
  readonly send: Send;
  readonly observer: Observer;
}

/** One exchange on its way: begins, serves, settles once, answers. */
export class Run {
  readonly #parts: RunParts;
  readonly #intake: Intake;
  readonly #exchange: Exchange;
  readonly #format: AnswerFormat;
  readonly #plan: Plan;
  readonly #settlers: Settle<Outcome>[] = [];
  readonly #delivered: Delivered;
  #attempts: Attempts | null = null;
  #windows: Windows | null = null;
  #unwatch: (() => void) | null = null;
  #heartbeat: Heartbeat | null = null;
  #started = false;
  #target: Target | null = null;
  #dropped: readonly string[] = [];
  #usage: Usage | null = null;
  #firstEventAt: number | null = null;
  #settled: Promise<Bill> | null = null;

  constructor(parts: RunParts, intake: Intake, exchange: Exchange, format: AnswerFormat) {
    this.#parts = parts;
    this.#intake = intake;
    this.#exchange = exchange;
    this.#format = format;
    this.#plan = parts.pipeline.plan(exchange);
    this.#delivered = new Delivered(parts.host.countTokens);
  }

  /** @returns false when what was believed of the principal was out of date: nothing was answered, all is given back. */
  async serve(): Promise<boolean> {
    try {
      await this.#admit();
      const call = await transform(this.#plan.transform, this.#exchange, this.#parts.observer);
      const reply = await this.#relay(call);
      this.#target = reply.target;
      this.#dropped = reply.dropped ?? [];
      this.#firstEventAt = this.#parts.host.now();
      if (reply.type === "events") await this.#stream(reply);
      else if (reply.type === "bytes") await this.#bytes(reply);
      else await this.#answer(reply.body, reply.usage);
    } catch (error) {
      if (error instanceof StalePrincipal && this.#attempts === null) {
        await undo(this.#settlers, this.#ending("refused", 0, null), this.#exchange, this.#parts.host);
        return false;
      }
      await this.#fail(error);
    } finally {
      this.#heartbeat?.stop();
      this.#attempts?.release();
      this.#unwatch?.();
    }
    return true;
  }

  async #admit(): Promise<void> {
    const { principal } = this.#exchange;
    let confirmed = principal.version === undefined;
    await admit(this.#plan.admit, this.#exchange, this.#parts.observer, (admitted) => {
      if (admitted.settle) this.#settlers.push(admitted.settle);
      if (admitted.windows) this.#windows = admitted.windows;
      if (admitted.confirmed) confirmed = true;
      if (admitted.stopToken !== undefined) this.#watch(admitted.stopToken);
    });
    if (!confirmed && !(await this.#parts.host.identities.confirm(principal))) throw new StalePrincipal();
  }

  /** From its admission on the user can end a stream, also one whose upstream says nothing. */
  #watch(stopToken: number): void {
    const { call, principal } = this.#exchange;
    if (!call.stream) return;
    const { client } = this.#intake;
    this.#unwatch?.();
    this.#unwatch = this.#parts.host.stops.watch(principal.userId, stopToken, () => client.abort("killed"));
  }

  /** Walks the chain; a stream's client hears a comment when that takes longer than the heartbeat (decisions 5.3). */
  async #relay(call: Call): Promise<Reply> {
    const { host, send, observer } = this.#parts;
    if (call.stream) {
      this.#heartbeat = new Heartbeat(host, host.snapshot.server.heartbeat, () => {
        this.#start(EVENTS);
        this.#intake.client.write(this.#streamFormat.heartbeat);
      });
    }
    this.#attempts = guardAttempts(this.#plan, call, this.#exchange, send, observer);
    const { relay } = this.#plan;
    try {
      return checkedReply(await relay.call(this.#exchange, this.#attempts.open), expectedReply(call));
    } catch (error) {
      // Without a reply there is nothing to pass on: `fail: open` cannot apply. An abort is nobody's failure.
      if (!this.#exchange.signal.aborted) passOver({ ...relay, failOpen: false }, error, observer);
      throw error;
    }
  }

  // In both streams the charge is durable before the client sees the end: a crash in between must not lose what was
  // acknowledged.

  async #stream(reply: EventReply): Promise<void> {
    this.#start(EVENTS);
    const { client } = this.#intake;
    const writeEvents = eventWriter({
      exchange: this.#exchange,
      format: this.#streamFormat,
      hooks: this.#plan.event,
      observer: this.#parts.observer,
      delivered: this.#delivered,
      onUsage: (usage) => {
        this.#usage = usage;
      },
    });
    const end = await pump(reply.source, {
      client,
      next: (batch, write) =>
        writeEvents(batch, (text) => {
          this.#heartbeat?.touch();
          write(text);
        }),
    });
    const bill = await this.#settle(end.kind, 200, null);
    client.end(end.kind === "served" ? this.#streamFormat.done(bill) : this.#lastWords(end, bill));
  }

  async #bytes(reply: ByteReply): Promise<void> {
    this.#usage = reply.usage;
    this.#start(reply.contentType);
    const { client } = this.#intake;
    const end = await pump(reply.source, { client, next: (chunk, write) => write(chunk) });
    await this.#settle(end.kind, 200, null);
    if (end.kind === "served") client.end("");
    else client.cut();
  }

  async #answer(upstreamBody: Json, usage: Usage | null): Promise<void> {
    const { observer, host } = this.#parts;
    this.#usage = usage;
    if (usage === null) this.#delivered.add(this.#format.producedText(upstreamBody));
    const body = await respond(this.#plan.response, upstreamBody, this.#exchange, observer);
    const { signal } = this.#exchange;
    const bill = await this.#settle(signal.aborted ? (signal.reason as AbortReason) : "served", 200, null);
    const extras = {
      id: this.#exchange.id,
      created: Math.floor(this.#exchange.receivedAt / 1000),
      provider: host.snapshot.upstreams[this.#target!.upstream]?.displayName ?? this.#target!.upstream,
      latencyMs: Math.max(0, Math.round(host.now() - this.#exchange.receivedAt)),
      bill,
    };
    this.#intake.client.answer(200, this.#format.contentType, this.#format.answer(body, extras), this.#headers());
  }

  /** Nothing was served: settles, then answers with what went wrong. */
  async #fail(error: unknown): Promise<void> {
    // A comment while the failure is settled would start the answer, and its status would be lost.
    this.#heartbeat?.stop();
    const { principal, call } = this.#exchange;
    const attempts = this.#attempts?.count() ?? 0;
    const { kind, error: failure } = failureOf(error, this.#exchange, this.#firstEventAt !== null, attempts);
    const killed = kind === "killed" && call.stream;
    const status = killed ? 200 : kind === "client_gone" ? CLIENT_GONE : failure.status;
    const bill = await this.#settle(kind, status, killed || kind === "client_gone" ? null : failure);
    const { pipeline, host } = this.#parts;
    // What was given back must not look used.
    if (!this.#started) {
      const away = failure.code === "STORE_UNAVAILABLE";
      this.#windows = away ? null : await currentWindows(pipeline, principal, host);
    }
    const { client } = this.#intake;
    if (killed) {
      this.#start(EVENTS);
      client.end(this.#streamFormat.killed(bill));
    } else if (this.#started && call.stream) {
      client.end(this.#streamFormat.failure(failure.message));
    } else if (this.#started) {
      client.cut();
    } else {
      client.refuse(failure, this.#headers());
    }
  }

  #lastWords(end: Exclude<PumpEnd, { readonly kind: "served" }>, bill: Bill): string {
    if (end.kind === "killed") return this.#streamFormat.killed(bill);
    if (end.kind === "upstream_cut") return this.#streamFormat.failure(end.message);
    return this.#streamFormat.failure(end.kind === "shutdown" ? "Server is shutting down" : "");
  }

  /** Only calls that stream ask for it: their format has one. */
  get #streamFormat(): StreamFormat {
    const { stream } = this.#format;
    if (stream === null) throw new TypeError(`${this.#exchange.endpoint} has no streams of events`);
    return stream;
  }

  #start(contentType: string): void {
    if (this.#started) return;
    this.#started = true;
    this.#intake.client.startStream(contentType, this.#headers());
  }

  #headers(): Record<string, string> {
    const headers = rateLimitHeaders(this.#windows, this.#parts.host.now());
    return this.#dropped.length > 0 ? { ...headers, ...droppedHeader(this.#dropped) } : headers;
  }

  /** Once per exchange: whatever goes wrong after it must not settle again. */
  #settle(kind: OutcomeKind, status: number, failure: GatewayError | null): Promise<Bill> {
    this.#settled ??= this.#settleAs(kind, status, failure);
    return this.#settled;
  }

  #settleAs(kind: OutcomeKind, status: number, failure: GatewayError | null): Promise<Bill> {
    const ending = this.#ending(kind, status, failure);
    return settleAll(ending, this.#exchange, this.#plan, this.#settlers, this.#parts);
  }

  #ending(kind: OutcomeKind, status: number, failure: GatewayError | null): Ending {
    const { host } = this.#parts;
    return {
      kind,
      begun: this.#firstEventAt !== null,
      status,
      code: failure?.code ?? null,
      usage: this.#usage,
      target: this.#target,
      dropped: this.#dropped,
      attempts: this.#attempts?.count() ?? 0,
      firstEventAt: this.#firstEventAt,
      endedAt: host.now(),
      estimate: async () => {
        const prompt = countOrGuess(host.countTokens, this.#format.promptText());
        const completion = this.#delivered.tokens();
        const tokens = { prompt: await prompt, completion: await completion, cached: 0, reasoning: 0 };
        return { ...tokens, ...this.#exchange.call.units };
      },
    };
  }
}

function expectedReply({ stream, kind }: Call): Reply["type"] {
  if (stream) return "events";
  return kind === "speech" ? "bytes" : "answer";
}
