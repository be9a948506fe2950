import {
  CLIENT_GONE_STATUS,
  type AbortReason,
  type AnswerReply,
  type Awaitable,
  type Bill,
  type ByteReply,
  type ClientRequest,
  type Ending,
  type EventReply,
  GatewayError,
  type Host,
  inBackground,
  type InferenceRequest,
  isPromise,
  isStoreUnavailable,
  type Json,
  type Observer,
  type OutcomeKind,
  type Principal,
  type OwnReply,
  type Reply,
  type RequestPipeline,
  type Source,
  StalePrincipal,
  storeUnavailable,
} from "../kit/index.ts";
import { type AnswerKeeper, askPlugins } from "./answers.ts";
import { Admission } from "./admission.ts";
import { Attempts, type Send } from "./attempts.ts";
import type { Pipeline, BoundHooks } from "./build.ts";
import { rateLimitHeaders, serverTimingHeader } from "./answer-headers.ts";
import { elapsedOf, ExchangeState } from "./exchange.ts";
import { checkedReply, currentWindows, passOver, respond, transform } from "./hooks.ts";
import { failureOf, FREE, givesBack, price, settleAll } from "./outcome.ts";
import { ByteRelay, EVENT_STREAM, EventRelay, type StreamEnd, type StreamRelay } from "./stream.ts";

/** How often a request is identified again while its user's account is being changed. */
const MAX_IDENTIFICATIONS = 5;

export interface RunnerParts {
  readonly pipeline: Pipeline;
  readonly host: Host;
  readonly send: Send;
  readonly observer: Observer;
}

/** Serves requests by one pipeline; see `RequestPipeline` for the order of the calls. */
export class RequestRunner implements Omit<RequestPipeline, "enter" | "leave"> {
  readonly #parts: RunnerParts;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Asks the identify plugins in order. @throws GatewayError 401 for nobody known. */
  identify({ head }: InferenceRequest): Awaitable<Principal> {
    return this.#identifyBy(this.#parts.pipeline.identify, head);
  }

  #identifyBy(hooks: Pipeline["identify"], head: ClientRequest): Awaitable<Principal> {
    for (let index = 0; index < hooks.length; index += 1) {
      const hook = hooks[index]!;
      try {
        const principal = hook.call(head);
        if (isPromise(principal)) return this.#identifyLater(principal, hooks.slice(index), head);
        if (principal) return principal;
      } catch (error) {
        passOver(hook, error, this.#parts.observer);
      }
    }
    throw new GatewayError("AUTHENTICATION_REQUIRED", "Authentication required");
  }

  /** @param asked of the first of the hooks. */
  async #identifyLater(
    asked: Promise<Principal | null | undefined>,
    [hook, ...others]: Pipeline["identify"],
    head: ClientRequest,
  ): Promise<Principal> {
    try {
      const principal = await asked;
      if (principal) return principal;
    } catch (error) {
      passOver(hook!, error, this.#parts.observer);
    }
    return this.#identifyBy(others, head);
  }

  run(request: InferenceRequest, principal: Principal): Promise<void> {
    return this.#run(request, principal, MAX_IDENTIFICATIONS);
  }

  #run(request: InferenceRequest, principal: Principal, left: number): Promise<void> {
    try {
      return new Run(this.#parts, request, principal).serve().then(
        (served) => (served ? undefined : this.#runAgain(request, principal, left)),
        (error: unknown) => this.refuse(request, principal, error),
      );
    } catch (error) {
      return this.refuse(request, principal, error);
    }
  }

  /** The principal was out of date. */
  async #runAgain(request: InferenceRequest, former: Principal, left: number): Promise<void> {
    let current: Principal | null = former;
    try {
      if (left === 0) throw storeUnavailable(new Error("the caller's account changes faster than it can be read"));
      this.#parts.host.identities.forget(former);
      current = null;
      current = await this.identify(request);
    } catch (error) {
      return this.refuse(request, current, error);
    }
    return this.#run(request, current, left - 1);
  }

  async refuse(request: InferenceRequest, principal: Principal | null, error: unknown): Promise<void> {
    const { pipeline, host, observer } = this.#parts;
    // A store that is away would keep the refusal waiting for a second time.
    const isAway = principal === null || isStoreUnavailable(error);
    const windows = isAway ? null : await currentWindows(pipeline, principal, host);
    observer.refused(request.head, error, request.receivedAt, { principal, call: request.body?.call ?? null });
    const timing = serverTimingHeader(request, elapsedOf(request, host));
    request.client.refuse(error, { ...rateLimitHeaders(windows, host.now()), ...timing });
  }
}

/** Admits one request, relays an upstream's answer, and settles it once. */
class Run {
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

  /** @throws GatewayError for a model that there is not, or that cannot do what is asked. */
  constructor(parts: RunnerParts, request: InferenceRequest, principal: Principal) {
    this.#parts = parts;
    this.#state = new ExchangeState(request, principal, parts.host);
    this.#hooks = parts.pipeline.hooksFor(this.#state.exchange);
    this.#admission = new Admission(this.#state, this.#hooks.admit, parts);
  }

  /** @returns false when the principal was out of date: nothing was answered, and all is given back. */
  async serve(): Promise<boolean> {
    const state = this.#state;
    try {
      this.#parts.observer.began?.(state.exchange);
      const reply = await this.#ask();
      state.taken(reply);
      if (reply.type !== "answer") this.#begin();
      if (reply.type === "events") await this.#relayEvents(reply);
      else if (reply.type === "bytes") await this.#relayBytes(reply);
      else {
        const settled = this.#answer(reply);
        const text = isPromise(settled) ? await settled : settled;
        state.request.client.answer(200, state.format.contentType, text, state.headers());
      }
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

  /**
   * Admits the request and lets plugins answer, then the relay plugin try upstreams. A function of its own: a local of
   * `serve`, which waits for the end of a stream, would keep the call in memory till then.
   */
  async #ask(): Promise<Reply | OwnReply> {
    const admitting = this.#admission.admit();
    if (isPromise(admitting)) await admitting;
    const { exchange } = this.#state;
    const { host, send, observer } = this.#parts;
    const { relay, transform: hooks, answer } = this.#hooks;
    const call = hooks.length === 0 ? exchange.call : await transform(hooks, exchange, observer);
    if (call.stream) this.#events = new EventRelay(this.#state, this.#hooks, observer, host);
    if (answer.length > 0) {
      const { own, keeper, headers } = await askPlugins(answer, call, exchange, observer);
      this.#state.addHeaders(headers);
      if (own !== null) {
        this.#state.answeredBy = own.plugin;
        return own.reply;
      }
      this.#keeper = keeper;
    }
    this.#state.attempts = this.#attempts = new Attempts(this.#hooks, call, exchange, send, observer, this.#state);
    try {
      const reply = checkedReply(await relay.call(exchange, this.#attempts.open), call, "relay");
      return this.#keeper?.watch(reply) ?? reply;
    } catch (error) {
      // Without a reply there is nothing to pass on: `fail: open` cannot apply. An abort is nobody's failure.
      if (!exchange.signal.aborted) passOver({ ...relay, failOpen: false }, error, observer);
      throw error;
    }
  }

  /** No other upstream will be asked. */
  #begin(): void {
    this.#attempts?.handOver();
    inBackground(this.#parts.host.log, "packing a prompt", this.#state.begin());
  }

  // In both streams the charge is durable before the client sees the end: a crash in between must not lose what was
  // acknowledged.

  async #relayEvents({ source }: Pick<EventReply, "source">): Promise<void> {
    const events = this.#events!;
    events.start();
    const end = await this.#relay(events, source);
    events.flush(end);
    const last = await this.#settle(end.kind, 200, null, (bill) => events.lastText(end, bill));
    this.#state.request.client.end(last);
  }

  async #relayBytes({ source, contentType, usage }: Omit<ByteReply, "target">): Promise<void> {
    const { meter, request } = this.#state;
    meter.setUsage(usage);
    this.#state.start(contentType);
    const end = await this.#relay(new ByteRelay(this.#state, this.#parts.host), source);
    await this.#settle(end.kind, 200, null, () => "");
    if (end.kind === "served") request.client.end("");
    else request.client.cut();
  }

  /** @throws what the gateway's own part in a stream threw: the upstream was well until then. */
  async #relay<Item>(relay: StreamRelay<Item>, source: Source<Item>): Promise<StreamEnd> {
    try {
      return await relay.run(source);
    } catch (error) {
      this.#attempts?.release(true);
      // A relay plugin may have put a source of its own around the attempt's.
      source.cancel();
      throw error;
    }
  }

  /** Settles a whole answer. @returns its text for the client */
  #answer({ body, usage }: Pick<AnswerReply, "body" | "usage">): Awaitable<string> {
    const state = this.#state;
    state.meter.setUsage(usage);
    if (usage === null && state.answeredBy === null) state.meter.addText(state.format.producedText(body));
    const hooks = this.#hooks.response;
    if (hooks.length === 0) return this.#written(body);
    return respond(hooks, body, state.exchange, this.#parts.observer).then((changed) => this.#written(changed));
  }

  #written(body: Json): Awaitable<string> {
    const state = this.#state;
    const { id, receivedAt, signal } = state.exchange;
    const kind = signal.aborted ? (signal.reason as AbortReason) : "served";
    return this.#settle(kind, 200, null, (bill, { endedAt }) =>
      state.format.answer(body, {
        id,
        created: Math.floor(receivedAt / 1000),
        provider: state.provider,
        latencyMs: Math.max(0, Math.round(endedAt - receivedAt)),
        bill,
      }),
    );
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
    const status = killed ? 200 : kind === "client_gone" ? CLIENT_GONE_STATUS : failure.status;
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
    } else if (state.started && state.call.stream) {
      client.end(state.streamFormat.failure(failure.message));
    } else if (state.started) {
      client.cut();
    } else {
      client.refuse(failure, state.headers());
    }
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
    const bill = ending.kind === "gateway_error" ? { ...priced, charge: 0n } : priced;
    state.bill = bill;
    const last = write(bill, ending);
    const outcome = { ...ending, bill, giveBack: givesBack(ending, state.written) };
    state.outcome = outcome;
    const finished = (): Last => {
      observer.finished(state.exchange, outcome);
      return last;
    };
    const settling = settleAll(state.settlers, outcome, state.exchange, host);
    return isPromise(settling) ? settling.then(finished) : finished();
  }
}
