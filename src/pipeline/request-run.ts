import {
  type AbortReason,
  type AnswerReply,
  type Awaitable,
  type Bill,
  type Call,
  CLIENT_GONE_STATUS,
  deepFreeze,
  type Ending,
  type GatewayError,
  type Host,
  type IdempotencyKeys,
  inBackground,
  type InferenceRequest,
  isPromise,
  type Json,
  type Observer,
  type OutcomeKind,
  type OwnReply,
  type Principal,
  type Reply,
  requireTakenReferences,
  StalePrincipal,
} from "../kit/index.ts";
import { Admission } from "./admission.ts";
import type { AnswerRecord, StreamReply } from "./answer-record.ts";
import { type AnswerKeeper, askPlugins } from "./answers.ts";
import { Attempts, type Send } from "./attempts.ts";
import type { BoundHooks, Pipeline } from "./build.ts";
import { ExchangeState } from "./exchange.ts";
import { checkedReply, currentWindows, passOver, respond, transform } from "./hooks.ts";
import { failureOf, FREE, frozenBill, givesBack, price, settleAll } from "./outcome.ts";
import { ByteRelay, EVENT_STREAM, EventRelay, type StreamEnd } from "./stream.ts";

export interface RunnerParts {
  readonly pipeline: Pipeline;
  readonly host: Host;
  readonly send: Send;
  readonly observer: Observer;
  /** Left out: a request with an idempotency key is served as any other. */
  readonly keys?: IdempotencyKeys;
}

/** Admits one request, relays an upstream's answer, and settles it once. */
export class RequestRun {
  readonly #parts: RunnerParts;
  readonly #state: ExchangeState;
  readonly #hooks: BoundHooks;
  /** null also where a plugin has answered. */
  #attempts: Attempts | null = null;
  /** null unless a plugin wants the upstream's answer. */
  #keeper: AnswerKeeper | null = null;
  /** Of a call that streams events; null before it is admitted. */
  #events: EventRelay | null = null;
  readonly #admission: Admission;
  /** What the client of a stream reads last; null before it is made. */
  #last: string | null = null;
  /** It has been sent, maybe before the stream was settled. */
  #isEnded = false;
  /** null for a request without an idempotency key. */
  readonly #record: AnswerRecord | null;

  /** @throws GatewayError for a model that there is not, or that cannot do what is asked. */
  constructor(parts: RunnerParts, request: InferenceRequest, principal: Principal, record: AnswerRecord | null = null) {
    this.#parts = parts;
    this.#record = record;
    // Plugins see these; admission and charge go by them, and a principal is remembered for further requests.
    deepFreeze(principal);
    deepFreeze(request.body?.call.units);
    this.#state = new ExchangeState(request, principal, parts.host);
    const { model, call } = this.#state.exchange;
    requireTakenReferences(call, model, parts.host.snapshot.upstreams);
    this.#hooks = parts.pipeline.hooksFor(this.#state.exchange);
    this.#admission = new Admission(this.#state, this.#hooks.admit, parts);
    parts.observer.arrived?.(this.#state.exchange, request.head);
  }

  /** @returns false when the principal was out of date: nothing was answered, and all is given back. */
  async serve(): Promise<boolean> {
    const state = this.#state;
    try {
      this.#parts.observer.began?.(state.exchange);
      const admitting = this.#admission.admit();
      if (isPromise(admitting)) await admitting;
      const asking = this.#ask();
      let reply: Reply | OwnReply | null = isPromise(asking) ? await asking : asking;
      try {
        reply ??= this.#relayed(await this.#hooks.relay.call(state.exchange, this.#attempts!.open));
      } catch (error) {
        throw this.#relayFailure(error);
      }
      state.taken(reply);
      if (reply.type === "answer") {
        const settled = this.#answer(reply);
        const text = isPromise(settled) ? await settled : settled;
        state.request.client.answer(200, state.format.contentType, text, state.headers());
      } else {
        const streamed = this.#record?.watch(reply, state) ?? reply;
        this.#begin(streamed);
        let end: StreamEnd;
        // Waited for here: a function for it that waits would be half a kilobyte more for every open stream.
        try {
          end = await this.#relay(streamed);
        } catch (error) {
          throw this.#brokenOff(error, streamed);
        }
        await this.#end(streamed, end);
      }
      if (state.meter.thinking !== null) inBackground(this.#parts.host.log, "noting thoughts", state.noteThoughts());
      if (this.#keeper !== null && state.outcome?.kind === "served" && "target" in reply)
        await this.#keeper.keep(reply, state.outcome.bill.usage);
    } catch (error) {
      if (error instanceof StalePrincipal && this.#attempts === null) {
        // It begins afresh: no price, no log line, no metric.
        const outcome = { ...state.ending("refused", 0, null), bill: FREE, giveBack: true };
        await settleAll(state.settlers, outcome, state.exchange, this.#parts.host);
        return false;
      }
      await this.#fail(error);
    } finally {
      this.#events?.stopHeartbeat();
      this.#attempts?.release();
      this.#admission.end();
    }
    return true;
  }

  /** Lets plugins change the call and answer it. @returns the answer of one; null: upstreams are to be tried. */
  #ask(): Awaitable<OwnReply | null> {
    const { transform: hooks } = this.#hooks;
    const { exchange } = this.#state;
    if (hooks.length === 0) return this.#askWith(exchange.call);
    return transform(hooks, exchange, this.#parts.observer).then((call) => this.#askWith(call));
  }

  /** Keeps the call by `Attempts` alone, which let go of it: a local of `serve` would keep it till the end of a stream. */
  #askWith(call: Call): Awaitable<OwnReply | null> {
    const { host, observer } = this.#parts;
    if (call.stream) this.#events = new EventRelay(this.#state, this.#hooks, observer, host, this.#onReadOn);
    if (this.#hooks.answer.length > 0) return this.#askPlugins(call);
    this.#prepare(call);
    return null;
  }

  async #askPlugins(call: Call): Promise<OwnReply | null> {
    const state = this.#state;
    const { own, keeper, headers } = await askPlugins(this.#hooks.answer, call, state.exchange, this.#parts.observer);
    state.addHeaders(headers);
    if (own !== null) {
      state.answeredBy = own.plugin;
      return own.reply;
    }
    this.#keeper = keeper;
    this.#prepare(call);
    return null;
  }

  #prepare(call: Call): void {
    const { send, observer } = this.#parts;
    const state = this.#state;
    state.attempts = this.#attempts = new Attempts(this.#hooks, call, state.exchange, send, observer, state);
  }

  /** @throws TypeError for what is no reply to the call */
  #relayed(reply: Reply): Reply {
    const checked = checkedReply(reply, this.#state.call, "relay");
    return this.#keeper?.watch(checked) ?? checked;
  }

  /** What a failed relay is thrown as; a failure of the plugin's own is reported. */
  #relayFailure(error: unknown): unknown {
    // An abort is nobody's failure.
    if (this.#state.exchange.signal.aborted) return error;
    try {
      // Without a reply there is nothing to pass on: `fail: open` cannot apply.
      passOver({ ...this.#hooks.relay, failOpen: false }, error, this.#parts.observer);
    } catch (failure) {
      return failure;
    }
    return error;
  }

  /** Sends the head of a stream. No other upstream will be asked. */
  #begin(reply: StreamReply): void {
    this.#attempts?.handOver();
    inBackground(this.#parts.host.log, "packing a prompt", this.#state.begin());
    if (reply.type === "events") return this.#events!.start();
    this.#state.meter.setUsage(reply.usage);
    this.#state.start(reply.contentType);
  }

  #relay(reply: StreamReply): Promise<StreamEnd> {
    if (reply.type === "events") return this.#events!.run(reply.source);
    return new ByteRelay(this.#state, this.#parts.host).run(reply.source);
  }

  readonly #onReadOn = (left: AbortReason): void => {
    inBackground(this.#parts.host.log, "ending a stream that its client left", this.#leave(left));
  };

  /** The client has left, and only the charge has to wait for the upstream's count. */
  async #leave(left: AbortReason): Promise<void> {
    const state = this.#state;
    const { release } = state;
    state.release = null;
    const released = (async () => release?.())();
    if (left === "killed") {
      const usage = await state.ending("killed", 200, null).estimate();
      // Else it is settled already, and about to be ended.
      if (this.#last === null) {
        this.#last = state.streamFormat.killed({ usage, estimated: true, charge: 0n });
        this.#isEnded = true;
        state.request.client.end(this.#last);
      }
    }
    await released;
  }

  /** The gateway's own part in a stream threw `error`: the upstream was well until then. */
  #brokenOff(error: unknown, { source }: StreamReply): unknown {
    this.#attempts?.release(true);
    // A relay plugin may have put a source of its own around the attempt's.
    source.cancel();
    return error;
  }

  /** The charge is durable before the client sees the end: a crash in between must not lose what was acknowledged. */
  async #end({ type }: StreamReply, end: StreamEnd): Promise<void> {
    const { client } = this.#state.request;
    if (type === "events") {
      const events = this.#events!;
      events.flush(end);
      const last = await this.#settle(end.kind, 200, null, (bill) => (this.#last ??= events.lastText(end, bill)));
      if (!this.#isEnded) client.end(last);
      return;
    }
    await this.#settle(end.kind, 200, null, () => "");
    if (end.kind === "served") client.end("");
    else client.cut();
  }

  /** Settles a whole answer. @returns its text for the client */
  #answer({ body, usage }: Pick<AnswerReply, "body" | "usage">): Awaitable<string> {
    const state = this.#state;
    state.meter.setUsage(usage);
    if (state.answeredBy === null && state.meter.needsText) state.meter.addText(state.format.producedText(body));
    const hooks = this.#hooks.response;
    if (hooks.length === 0) return this.#written(body);
    return respond(hooks, body, state.exchange, this.#parts.observer).then((changed) => this.#written(changed));
  }

  #written(body: Json): Awaitable<string> {
    const state = this.#state;
    const { id, receivedAt } = state.exchange;
    const { aborted, reason } = state.cancellation;
    const kind = aborted ? (reason as AbortReason) : "served";
    return this.#settle(kind, 200, null, (bill, { endedAt }) => {
      const text = state.format.answer(body, {
        id,
        created: Math.floor(receivedAt / 1000),
        provider: state.provider,
        latencyMs: Math.max(0, Math.round(endedAt - receivedAt)),
        bill,
      });
      this.#record?.note(text, state);
      return text;
    });
  }

  /** Settles a request that could not be served to its end, then answers with the failure. */
  async #fail(error: unknown): Promise<void> {
    // A comment while the failure is settled would start the answer, and its status would be lost.
    this.#events?.stopHeartbeat();
    const state = this.#state;
    const { exchange } = state;
    const { client } = state.request;
    const { pipeline, host } = this.#parts;
    const begun = state.firstEventAt !== null;
    const answered = this.#attempts?.answered ?? state.answeredBy !== null;
    const { kind, error: failure } = failureOf(error, exchange, begun, answered, this.#attempts);
    if (kind === "gateway_error") {
      this.#attempts?.release(true);
      // Before the head is out the client's refusal logs it.
      if (state.started) host.log.error({ err: error, request_id: exchange.requestId }, "request failed");
    }
    const killed = kind === "killed" && state.call.stream;
    const asEvent = !killed && !state.started && this.#isToldAsEvent(failure);
    const status = killed || asEvent ? 200 : kind === "client_gone" ? CLIENT_GONE_STATUS : failure.status;
    const upstreamFailure = killed || kind === "client_gone" ? null : failure;
    const bill = state.outcome?.bill ?? (await this.#settle(kind, status, upstreamFailure, (priced) => priced));
    // What was given back must not look used.
    if (!state.started) {
      const away = failure.code === "STORE_UNAVAILABLE";
      state.windows = away ? null : await currentWindows(pipeline, exchange.principal, host);
    }
    if (killed) {
      state.start(EVENT_STREAM);
      client.end(state.streamFormat.killed(bill));
    } else if (asEvent || (state.started && state.call.stream)) {
      state.start(EVENT_STREAM);
      client.end(state.streamFormat.failure(failure));
    } else if (state.started) {
      client.cut();
    } else {
      client.refuse(failure, state.headers());
    }
  }

  /** For a client that takes nothing but events. */
  #isToldAsEvent(failure: GatewayError): boolean {
    const { call, request } = this.#state;
    if (!call.stream || request.head.header?.("accept") !== "text/event-stream") return false;
    return this.#state.streamFormat.tellsAsEvent?.(failure) === true;
  }

  /**
   * Prices the exchange, lets `write` make the last text for the client of the bill, and settles: once, and only when
   * that text could be written.
   * @throws what `write` throws; nothing is settled then.
   */
  #settle<Last>(
    kind: OutcomeKind,
    status: number,
    failure: GatewayError | null,
    write: (bill: Bill, ending: Ending) => Last,
  ): Awaitable<Last> {
    const state = this.#state;
    const ending = state.ending(kind, status, failure);
    const pricing = state.bill ?? price(this.#hooks.settle, ending, state.exchange, this.#parts.observer);
    if (!isPromise(pricing)) return this.#settlePriced(pricing, ending, write);
    return pricing.then((bill) => this.#settlePriced(bill, ending, write));
  }

  #settlePriced<Last>(priced: Bill, ending: Ending, write: (bill: Bill, ending: Ending) => Last): Awaitable<Last> {
    const state = this.#state;
    const { host, observer } = this.#parts;
    // Settlers of plugins run before the one that charges: none of them may change what it is told.
    const bill = frozenBill(ending.kind === "gateway_error" ? { ...priced, charge: 0n } : priced);
    state.bill = bill;
    const last = write(bill, ending);
    const outcome = Object.freeze({ ...ending, bill, giveBack: givesBack(ending, state.written) });
    state.outcome = outcome;
    const finished = (): Last => {
      observer.finished(state.exchange, outcome);
      return last;
    };
    const settling = settleAll(state.settlers, outcome, state.exchange, host);
    // Asked in the same turn: no process dies between a charge and the answer that a repeated request gets for it.
    const keeping = this.#record?.keep(outcome);
    if (keeping !== undefined) return Promise.all([settling, keeping]).then(finished);
    return isPromise(settling) ? settling.then(finished) : finished();
  }
}
