import {
  CLIENT_GONE_STATUS,
  type AbortReason,
  type Admitted,
  type AnswerReply,
  type Bill,
  type ByteReply,
  type EventReply,
  GatewayError,
  type Host,
  inBackground,
  type InferenceRequest,
  isStoreUnavailable,
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
import { Attempts, type Send } from "./attempts.ts";
import type { Pipeline, BoundHooks } from "./build.ts";
import { rateLimitHeaders, serverTimingHeader } from "./answer-headers.ts";
import { elapsedOf, ExchangeState } from "./exchange.ts";
import { checkedReply, currentWindows, isConfirmed, passOver, respond, transform } from "./hooks.ts";
import { failureOf, FREE, giveBackLate, givesBack, price, settleAll } from "./outcome.ts";
import { ByteRelay, EVENT_STREAM, EventRelay, type StreamEnd, type StreamRelay } from "./stream.ts";
import { HookTimeout } from "./timing.ts";

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
  async identify({ head }: InferenceRequest): Promise<Principal> {
    const { pipeline, observer } = this.#parts;
    for (const hook of pipeline.identify) {
      try {
        const principal = await hook.call(head);
        if (principal) return principal;
      } catch (error) {
        passOver(hook, error, observer);
      }
    }
    throw new GatewayError("AUTHENTICATION_REQUIRED", "Authentication required");
  }

  async run(request: InferenceRequest, principal: Principal): Promise<void> {
    const { identities } = this.#parts.host;
    let current: Principal | null = principal;
    try {
      for (let left = MAX_IDENTIFICATIONS; !(await new Run(this.#parts, request, current).serve()); left -= 1) {
        if (left === 0) throw storeUnavailable(new Error("the caller's account changes faster than it can be read"));
        identities.forget(current);
        current = null;
        current = await this.identify(request);
      }
    } catch (error) {
      await this.refuse(request, current, error);
    }
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
  #unwatch: (() => void) | null = null;

  /** @throws GatewayError for a model that there is not, or that cannot do what is asked. */
  constructor(parts: RunnerParts, request: InferenceRequest, principal: Principal) {
    this.#parts = parts;
    this.#state = new ExchangeState(request, principal, parts.host);
    this.#hooks = parts.pipeline.hooksFor(this.#state.exchange);
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
      else await this.#answer(reply);
      if (state.outcome?.kind === "served" && "target" in reply)
        await this.#keeper?.keep(reply, state.outcome.bill.usage);
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
      this.#unwatch?.();
    }
    return true;
  }

  /**
   * Admits the request and lets plugins answer, then the relay plugin try upstreams. A function of its own: a local of `serve`, which waits for
   * the end of a stream, would keep the call in memory till then.
   */
  async #ask(): Promise<Reply | OwnReply> {
    await this.#admit();
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

  /** Asks every admit hook in order. @throws GatewayError, StalePrincipal */
  async #admit(): Promise<void> {
    const { exchange } = this.#state;
    const { host, observer } = this.#parts;
    const { principal } = exchange;
    let confirmed = principal.version === undefined;
    try {
      for (const hook of this.#hooks.admit) {
        let admitted: Admitted | void = undefined;
        try {
          admitted = await hook.call(exchange);
        } catch (error) {
          if (error instanceof HookTimeout) this.#giveBackLate(error, hook);
          passOver(hook, error, observer);
        }
        // Noted before the next hook may refuse: what one has reserved must be given back.
        if (admitted) this.#note(admitted);
        if (admitted) this.#mark(admitted, hook);
        if (admitted?.confirmed) confirmed = true;
      }
    } catch (error) {
      // The plan that refused may be one that the user has left minutes ago: a lost push must not cost a paid model.
      const refused = error instanceof GatewayError && !isStoreUnavailable(error);
      const stale = refused && !confirmed && !(await isConfirmed(principal, host));
      throw stale ? new StalePrincipal() : error;
    }
    if (!confirmed && !(await host.identities.confirm(principal))) throw new StalePrincipal();
  }

  #note({ settle, windows, stopToken }: Admitted): void {
    const state = this.#state;
    if (settle) state.settlers.push(settle);
    if (windows) state.windows = windows;
    if (stopToken === undefined || !state.call.stream) return;
    // From its admission on the user can end a stream, also one whose upstream says nothing.
    const { client } = state.request;
    this.#unwatch?.();
    const { userId } = state.exchange.principal;
    this.#unwatch = this.#parts.host.streamKills.watch(userId, stopToken, () => client.abort("killed"));
  }

  #giveBackLate({ late }: HookTimeout, { plugin }: BoundHooks["admit"][number]): void {
    const ending = this.#state.ending("refused", 0, null);
    inBackground(this.#parts.host.log, `plugin ${plugin}, which was given up,`, giveBackLate(late, ending));
  }

  #mark({ tags = [], headers = {} }: Admitted, hook: BoundHooks["admit"][number]): void {
    try {
      this.#state.mark(tags);
      this.#state.addHeaders(headers);
    } catch (error) {
      passOver(hook, error, this.#parts.observer);
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

  async #answer({ body: given, usage }: Pick<AnswerReply, "body" | "usage">): Promise<void> {
    const state = this.#state;
    const { observer, host } = this.#parts;
    const { id, receivedAt, signal } = state.exchange;
    state.meter.setUsage(usage);
    if (usage === null && state.answeredBy === null) state.meter.addText(state.format.producedText(given));
    const hooks = this.#hooks.response;
    const body = hooks.length === 0 ? given : await respond(hooks, given, state.exchange, observer);
    const extras = {
      id,
      created: Math.floor(receivedAt / 1000),
      provider: state.provider,
      latencyMs: Math.max(0, Math.round(host.now() - receivedAt)),
    };
    const kind = signal.aborted ? (signal.reason as AbortReason) : "served";
    const text = await this.#settle(kind, 200, null, (bill) => state.format.answer(body, { ...extras, bill }));
    state.request.client.answer(200, state.format.contentType, text, state.headers());
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
  async #settle<Last>(
    kind: OutcomeKind,
    status: number,
    failure: GatewayError | null,
    write: (bill: Bill) => Last,
  ): Promise<Last> {
    const state = this.#state;
    const { host, observer } = this.#parts;
    const ending = state.ending(kind, status, failure);
    state.bill ??= await price(this.#hooks.settle, ending, state.exchange, observer);
    if (kind === "gateway_error") state.bill = { ...state.bill, charge: 0n };
    const { bill } = state;
    const last = write(bill);
    const outcome = { ...ending, bill, giveBack: givesBack(ending, state.written) };
    state.outcome = outcome;
    await settleAll(state.settlers, outcome, state.exchange, host);
    observer.finished(state.exchange, outcome);
    return last;
  }
}
