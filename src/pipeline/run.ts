import {
  type AbortReason,
  type Bill,
  type ByteReply,
  type Call,
  type Ending,
  type EventReply,
  type Exchange,
  GatewayError,
  type Host,
  inBackground,
  type Intake,
  isStoreUnavailable,
  type Json,
  type Observer,
  type Outcome,
  type OutcomeKind,
  type Reply,
  type Settle,
  type Source,
  StalePrincipal,
  type StreamFormat,
  type Target,
  type Usage,
  type Windows,
} from "../kit/index.ts";
import { Attempts, type Send } from "./attempts.ts";
import type { Pipeline, Plan } from "./build.ts";
import { droppedHeader, rateLimitHeaders } from "./headers.ts";
import type { Held } from "./held.ts";
import { Heartbeat } from "./heartbeat.ts";
import { failureOf } from "./failure.ts";
import { passOver } from "./hooks.ts";
import { currentWindows } from "./intake.ts";
import { Metered } from "./metered.ts";
import { checkedReply } from "./returned.ts";
import { givesBack, price, settleAll, undo } from "./settle.ts";
import { admit, respond, transform } from "./stages.ts";
import { EventContent, lastWords, type StreamContent, type StreamEnd, StreamRelay } from "./stream.ts";

/** Recorded where there is nobody to answer: what proxies have made of it, no status of HTTP's own. */
const CLIENT_GONE = 499;
const EVENTS = "text/event-stream; charset=utf-8";
/** A body that is relayed as it is. */
const BYTES: StreamContent<Uint8Array> = { count() {}, write: (chunk, write) => write(chunk), owesCount: false };

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
  readonly #held: Held;
  readonly #plan: Plan;
  readonly #settlers: Settle<Outcome>[] = [];
  readonly #metered: Metered;
  #attempts: Attempts | null = null;
  #windows: Windows | null = null;
  #unwatch: (() => void) | null = null;
  #heartbeat: Heartbeat | null = null;
  #started = false;
  #target: Target | null = null;
  #dropped: readonly string[] = [];
  #firstEventAt: number | null = null;
  /** Whether the client got anything of an answer. */
  #written = false;
  /** What the exchange was priced at, once. */
  #bill: Bill | null = null;
  #settled = false;

  constructor(parts: RunParts, intake: Intake, exchange: Exchange, held: Held) {
    this.#parts = parts;
    this.#intake = intake;
    this.#exchange = exchange;
    this.#held = held;
    this.#plan = parts.pipeline.plan(exchange);
    this.#metered = new Metered(parts.host.countTokens);
  }

  /** @returns false when what was believed of the principal was out of date: nothing was answered, all is given back. */
  async serve(): Promise<boolean> {
    try {
      const reply = await this.#ask();
      this.#target = reply.target;
      this.#dropped = reply.dropped ?? [];
      this.#firstEventAt = this.#parts.host.now();
      if (reply.type !== "answer") this.#begin();
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

  /** A function of its own: the call, in a local of one that waits for the end of a stream, would stay till then. */
  async #ask(): Promise<Reply> {
    await this.#admit();
    return this.#relay(await transform(this.#plan.transform, this.#exchange, this.#parts.observer));
  }

  async #admit(): Promise<void> {
    const { principal } = this.#exchange;
    let confirmed = principal.version === undefined;
    try {
      await admit(this.#plan.admit, this.#exchange, this.#parts.observer, (admitted) => {
        if (admitted.settle) this.#settlers.push(admitted.settle);
        if (admitted.windows) this.#windows = admitted.windows;
        if (admitted.confirmed) confirmed = true;
        if (admitted.stopToken !== undefined) this.#watch(admitted.stopToken);
      });
    } catch (error) {
      // The plan that refused may be one that the user has left minutes ago: a lost push must not cost a paid model.
      const refused = error instanceof GatewayError && !isStoreUnavailable(error);
      const stale = refused && !confirmed && !(await this.#isConfirmed());
      throw stale ? new StalePrincipal() : error;
    }
    if (!confirmed && !(await this.#parts.host.identities.confirm(principal))) throw new StalePrincipal();
  }

  /** A store that is away leaves a refusal what it is. */
  async #isConfirmed(): Promise<boolean> {
    try {
      return await this.#parts.host.identities.confirm(this.#exchange.principal);
    } catch (error) {
      if (isStoreUnavailable(error)) return true;
      throw error;
    }
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
    this.#attempts = new Attempts(this.#plan, call, this.#exchange, send, observer);
    const { relay } = this.#plan;
    try {
      return checkedReply(await relay.call(this.#exchange, this.#attempts.open), call);
    } catch (error) {
      // Without a reply there is nothing to pass on: `fail: open` cannot apply. An abort is nobody's failure.
      if (!this.#exchange.signal.aborted) passOver({ ...relay, failOpen: false }, error, observer);
      throw error;
    }
  }

  /** No other upstream will be asked: of the request only what its end may need stays. */
  #begin(): void {
    this.#attempts?.handOver();
    const held = this.#held;
    held.begin();
    this.#intake.keep(held.bytes);
    const packed = held.prompt.pack().then(() => this.#intake.keep(held.bytes));
    inBackground(this.#parts.host.log, "packing a prompt", packed);
  }

  // In both streams the charge is durable before the client sees the end: a crash in between must not lose what was
  // acknowledged.

  async #stream(reply: EventReply): Promise<void> {
    this.#start(EVENTS);
    const format = this.#streamFormat;
    const content = new EventContent({
      exchange: this.#exchange,
      format,
      hooks: this.#plan.event,
      observer: this.#parts.observer,
      metered: this.#metered,
      heartbeat: this.#heartbeat,
    });
    const end = await this.#pass(reply.source, content);
    const last = await this.#settle(end.kind, 200, null, (bill) => lastWords(format, end, bill));
    this.#intake.client.end(last);
  }

  async #bytes(reply: ByteReply): Promise<void> {
    this.#metered.told(reply.usage);
    this.#start(reply.contentType);
    const end = await this.#pass(reply.source, BYTES);
    await this.#settle(end.kind, 200, null, () => "");
    if (end.kind === "served") this.#intake.client.end("");
    else this.#intake.client.cut();
  }

  /** @throws what the gateway's own part in it threw: the upstream was well until then. */
  async #pass<Item>(source: Source<Item>, content: StreamContent<Item>): Promise<StreamEnd> {
    const relay = new StreamRelay(this.#intake.client, this.#parts.host, content);
    try {
      return await relay.run(source);
    } catch (error) {
      this.#attempts?.release(true);
      // A relay plugin may have put a source of its own around the attempt's.
      source.cancel();
      throw error;
    } finally {
      this.#written = relay.written;
    }
  }

  async #answer(upstreamBody: Json, usage: Usage | null): Promise<void> {
    const { observer, host } = this.#parts;
    this.#metered.told(usage);
    if (usage === null) this.#metered.produced(this.#held.format.producedText(upstreamBody));
    const body = await respond(this.#plan.response, upstreamBody, this.#exchange, observer);
    const { signal } = this.#exchange;
    const extras = {
      id: this.#exchange.id,
      created: Math.floor(this.#exchange.receivedAt / 1000),
      provider: host.snapshot.upstreams[this.#target!.upstream]?.displayName ?? this.#target!.upstream,
      latencyMs: Math.max(0, Math.round(host.now() - this.#exchange.receivedAt)),
    };
    const kind = signal.aborted ? (signal.reason as AbortReason) : "served";
    const text = await this.#settle(kind, 200, null, (bill) => this.#held.format.answer(body, { ...extras, bill }));
    this.#intake.client.answer(200, this.#held.format.contentType, text, this.#headers());
  }

  /** Settles what could not be served to its end, then answers with what went wrong. */
  async #fail(error: unknown): Promise<void> {
    // A comment while the failure is settled would start the answer, and its status would be lost.
    this.#heartbeat?.stop();
    const { principal, call } = this.#exchange;
    const { pipeline, host } = this.#parts;
    const { kind, error: failure } = failureOf(error, this.#exchange, this.#firstEventAt !== null, this.#attempts);
    if (kind === "gateway_error") {
      this.#attempts?.release(true);
      // Before the head is out the client's refusal logs it.
      if (this.#started) host.log.error({ err: error, request_id: this.#exchange.requestId }, "request failed");
    }
    const killed = kind === "killed" && call.stream;
    const status = killed ? 200 : kind === "client_gone" ? CLIENT_GONE : failure.status;
    const told = killed || kind === "client_gone" ? null : failure;
    const bill = this.#settled ? this.#bill! : await this.#settle(kind, status, told, (priced) => priced);
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

  /** Only calls that stream ask for it: their format has one. */
  get #streamFormat(): StreamFormat {
    const { stream } = this.#held;
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

  /**
   * Prices the exchange, lets `write` make of it what the client reads last, and settles it: once, and only when that
   * could be written.
   * @throws what `write` throws; nothing is settled then.
   */
  async #settle<Last>(
    kind: OutcomeKind,
    status: number,
    failure: GatewayError | null,
    write: (bill: Bill) => Last,
  ): Promise<Last> {
    const { host, observer } = this.#parts;
    const ending = this.#ending(kind, status, failure);
    this.#bill ??= await price(this.#plan.settle, ending, this.#exchange, observer);
    if (kind === "gateway_error") this.#bill = { ...this.#bill, charge: 0n };
    const bill = this.#bill;
    const last = write(bill);
    this.#settled = true;
    const outcome = { ...ending, bill, giveBack: givesBack(ending, this.#written) };
    await settleAll(this.#settlers, outcome, this.#exchange, host);
    observer.finished(this.#exchange, outcome);
    return last;
  }

  #ending(kind: OutcomeKind, status: number, failure: GatewayError | null): Ending {
    const { usage, usageComplete, finished } = this.#metered;
    return {
      kind,
      sent: this.#attempts?.sent ?? false,
      begun: this.#firstEventAt !== null,
      finished,
      status,
      code: failure?.code ?? null,
      usage,
      usageComplete,
      target: this.#target,
      dropped: this.#dropped,
      attempts: this.#attempts?.count ?? 0,
      firstEventAt: this.#firstEventAt,
      endedAt: this.#parts.host.now(),
      estimate: () => this.#metered.estimate(() => this.#held.prompt, this.#exchange.call.units),
    };
  }
}
