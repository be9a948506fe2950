import {
  type AbortReason,
  type Admitted,
  type AnswerFormat,
  AttemptError,
  type Bill,
  type Call,
  type Ending,
  type Exchange,
  GatewayError,
  type Host,
  type Intake,
  type Json,
  type Observer,
  type Outcome,
  type OutcomeKind,
  type Principal,
  type Reply,
  type Settle,
  type Target,
  type Usage,
  type Windows,
} from "../kit/index.ts";
import { type Attempts, guardAttempts, type Send } from "./attempts.ts";
import type { Pipeline, Plan } from "./build.ts";
import { countOrGuess, Delivered } from "./delivered.ts";
import { rateLimitHeaders } from "./headers.ts";
import { Heartbeat } from "./heartbeat.ts";
import { internalError, passOver } from "./hooks.ts";
import { currentWindows, identify, readExchange } from "./intake.ts";
import { pump } from "./pump.ts";
import { checkedBody, checkedCall, checkedReply } from "./returned.ts";
import { settleAll } from "./settle.ts";

/** Recorded where there is nobody to answer: what proxies have made of it, no status of HTTP's own. */
const CLIENT_GONE = 499;

export interface RunnerParts {
  readonly pipeline: Pipeline;
  readonly host: Host;
  readonly send: Send;
  readonly observer: Observer;
}

/** Takes one request from credentials to the last byte of its answer. Never rejects: every failure is answered. */
export function createRunner(parts: RunnerParts): (intake: Intake) => Promise<void> {
  return async (intake) => {
    const { pipeline, host, observer } = parts;
    let principal: Principal | null = null;
    let run: Run;
    try {
      principal = await identify(pipeline, intake.request, observer);
      const { exchange, format } = await readExchange(intake, principal, host);
      run = new Run(parts, intake, exchange, format);
    } catch (error) {
      const windows = principal === null ? null : await currentWindows(pipeline, principal, host);
      observer.refused(intake.request, error, intake.receivedAt);
      intake.client.refuse(error, rateLimitHeaders(windows, host.now()));
      return;
    }
    await run.serve();
  };
}

/** One exchange on its way: begins, serves, settles once, answers. */
class Run {
  readonly #parts: RunnerParts;
  readonly #intake: Intake;
  readonly #exchange: Exchange;
  readonly #format: AnswerFormat;
  readonly #plan: Plan;
  readonly #settlers: Settle<Outcome>[] = [];
  readonly #delivered: Delivered;
  #attempts: Attempts | null = null;
  #windows: Windows | null = null;
  #heartbeat: Heartbeat | null = null;
  #started = false;
  #target: Target | null = null;
  #usage: Usage | null = null;
  #firstEventAt: number | null = null;
  #settled: Promise<Bill> | null = null;

  constructor(parts: RunnerParts, intake: Intake, exchange: Exchange, format: AnswerFormat) {
    this.#parts = parts;
    this.#intake = intake;
    this.#exchange = exchange;
    this.#format = format;
    this.#plan = parts.pipeline.plan(exchange);
    this.#delivered = new Delivered(parts.host.countTokens);
  }

  async serve(): Promise<void> {
    try {
      await this.#admit();
      const call = await this.#transform();
      const reply = await this.#relay(call);
      this.#target = reply.target;
      this.#firstEventAt = this.#parts.host.now();
      if (reply.stream) await this.#stream(reply);
      else await this.#answer(reply.body, reply.usage);
    } catch (error) {
      await this.#fail(error);
    } finally {
      this.#heartbeat?.stop();
      this.#attempts?.release();
    }
  }

  async #admit(): Promise<void> {
    for (const hook of this.#plan.admit) {
      let admitted: Admitted | void = undefined;
      try {
        admitted = await hook.call(this.#exchange);
      } catch (error) {
        passOver(hook, error, this.#parts.observer);
      }
      if (admitted?.settle) this.#settlers.push(admitted.settle);
      if (admitted?.windows) this.#windows = admitted.windows;
    }
  }

  async #transform(): Promise<Call> {
    let call = this.#exchange.call;
    for (const hook of this.#plan.transform) {
      try {
        call = checkedCall(await hook.call(call, this.#exchange), call);
      } catch (error) {
        passOver(hook, error, this.#parts.observer);
      }
    }
    return call;
  }

  /** Walks the chain; a stream's client hears a comment when that takes longer than the heartbeat (decisions 5.3). */
  async #relay(call: Call): Promise<Reply> {
    const { host, send, observer } = this.#parts;
    if (call.stream) {
      this.#heartbeat = new Heartbeat(host, host.snapshot.server.heartbeat, () => {
        this.#start();
        this.#intake.client.write(this.#format.heartbeat);
      });
    }
    this.#attempts = guardAttempts(this.#plan, call, this.#exchange, send, observer);
    const { relay } = this.#plan;
    try {
      return checkedReply(await relay.call(this.#exchange, this.#attempts.open), call.stream);
    } catch (error) {
      // Without a reply there is nothing to pass on: `fail: open` cannot apply. An abort is nobody's failure.
      if (!this.#exchange.signal.aborted) passOver({ ...relay, failOpen: false }, error, observer);
      throw error;
    }
  }

  async #stream(reply: Reply & { readonly stream: true }): Promise<void> {
    this.#start();
    const end = await pump(reply.source, {
      exchange: this.#exchange,
      client: this.#intake.client,
      format: this.#format,
      hooks: this.#plan.event,
      observer: this.#parts.observer,
      heartbeat: this.#heartbeat!,
      delivered: this.#delivered,
      onUsage: (usage) => {
        this.#usage = usage;
      },
    });
    // The charge is durable before the client sees the end: a crash in between must not lose what was acknowledged.
    const bill = await this.#settle(end.kind, 200, null);
    if (end.kind === "served") this.#intake.client.end(this.#format.done(bill));
    else this.#intake.client.end(this.#lastWords(end.kind, end.kind === "upstream_cut" ? end.message : ""));
  }

  async #answer(upstreamBody: Json, usage: Usage | null): Promise<void> {
    const { observer, host } = this.#parts;
    this.#usage = usage;
    if (usage === null) this.#delivered.add(this.#format.producedText(upstreamBody));
    let body = upstreamBody;
    for (const hook of this.#plan.response) {
      try {
        body = checkedBody(await hook.call(body, this.#exchange));
      } catch (error) {
        passOver(hook, error, observer);
      }
    }
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
    const { signal, principal, call } = this.#exchange;
    const kind = signal.aborted ? (signal.reason as AbortReason) : this.#kindOf(error);
    const killed = kind === "killed" && call.stream;
    const failure = failureOf(error, kind);
    if (killed) await this.#settle(kind, 200, null);
    else if (kind === "client_gone") await this.#settle(kind, CLIENT_GONE, null);
    else await this.#settle(kind, failure.status, failure);
    const { pipeline, host } = this.#parts;
    // What was given back must not look used.
    if (!this.#started) this.#windows = await currentWindows(pipeline, principal, host);
    const { client } = this.#intake;
    if (killed) {
      this.#start();
      client.end(this.#format.killed());
    } else if (this.#started) {
      client.end(this.#format.failure(failure.message));
    } else {
      client.refuse(failure, this.#headers());
    }
  }

  #kindOf(error: unknown): OutcomeKind {
    if (
      error instanceof GatewayError &&
      error.cause instanceof AttemptError &&
      error.cause.failure === "client_fault"
    ) {
      return "client_fault";
    }
    if (this.#firstEventAt !== null) return "upstream_cut";
    return (this.#attempts?.count() ?? 0) > 0 ? "failed" : "refused";
  }

  #lastWords(kind: OutcomeKind, message: string): string {
    if (kind === "killed") return this.#format.killed();
    return this.#format.failure(kind === "shutdown" ? "Server is shutting down" : message);
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#intake.client.startStream("text/event-stream; charset=utf-8", this.#headers());
  }

  #headers(): Record<string, string> {
    return rateLimitHeaders(this.#windows, this.#parts.host.now());
  }

  /** Once per exchange: whatever goes wrong after it must not settle again. */
  #settle(kind: OutcomeKind, status: number, failure: GatewayError | null): Promise<Bill> {
    this.#settled ??= this.#settleAs(kind, status, failure);
    return this.#settled;
  }

  #settleAs(kind: OutcomeKind, status: number, failure: GatewayError | null): Promise<Bill> {
    const { host } = this.#parts;
    const ending: Ending = {
      kind,
      begun: this.#firstEventAt !== null,
      status,
      code: failure?.code ?? null,
      usage: this.#usage,
      target: this.#target,
      attempts: this.#attempts?.count() ?? 0,
      firstEventAt: this.#firstEventAt,
      endedAt: host.now(),
      countPrompt: () => countOrGuess(host.countTokens, this.#format.promptText()),
      countDelivered: () => this.#delivered.tokens(),
    };
    return settleAll(ending, this.#exchange, this.#plan, this.#settlers, this.#parts);
  }
}

function failureOf(error: unknown, kind: OutcomeKind): GatewayError {
  if (kind === "shutdown") return new GatewayError("SHUTTING_DOWN", "Server is shutting down", { retryAfter: 1 });
  if (error instanceof GatewayError) return error;
  return internalError(error);
}
