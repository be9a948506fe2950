import type { Pool } from "undici";
import type { AnswerForm, Codec, UpstreamDialect, UpstreamRequest } from "../dialects/dialect.ts";
import {
  AttemptError,
  type Call,
  type Exchange,
  type FailureClass,
  GatewayError,
  type Log,
  type Reply,
  type Target,
  type Upstream,
} from "../kit/index.ts";
import { type Conversation, readAnswer } from "./answers.ts";
import { sendInBatches } from "./batches.ts";
import type { Health } from "./health.ts";
import type { KeyPool, PooledKey } from "./keys.ts";
import type { Latencies } from "./latency.ts";
import { streamed } from "./outgoing.ts";
import { withParameters } from "./parameters.ts";
import type { Answer } from "./reader.ts";
import { type Address, addressed } from "./request.ts";
import type { Signer } from "./signing/signer.ts";
import { withRetries } from "./retry.ts";
import { Try, type TryOptions } from "./try.ts";
import type { Wheel } from "./wheel.ts";

export interface RouteOptions {
  readonly upstream: Upstream;
  readonly dialect: UpstreamDialect;
  readonly pool: Pool;
  readonly address: Address;
  readonly keys: KeyPool;
  readonly signer: Signer;
  readonly health: Health;
  readonly latencies: Latencies;
  readonly wheel: Wheel;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
}

/** Longer bodies are streamed, so that they go as soon as they are sent. */
const WHOLE_CHARACTERS = 64 * 1024;

/** The log line for a refusal that is the operator's to cure; empty: the failure's own message. */
const WARNINGS: Readonly<Partial<Record<FailureClass, string>>> = {
  credentials: "",
  quota: "the account behind an upstream's key has nothing left; the key rests",
  declined: "",
  parameter: "upstream refused a field or value that the gateway sent: a gap in the table of what it accepts",
};

/** One call on its way to one target. */
interface Errand {
  readonly target: Target;
  readonly call: Call;
  readonly codec: Codec;
  readonly exchange: Exchange;
  /** Unix milliseconds. */
  readonly deadline: number;
  readonly onSent: (() => void) | undefined;
}

/** A call as it is sent, and what of it is left behind. */
interface Written {
  readonly request: UpstreamRequest;
  readonly dropped: readonly string[];
  readonly form: AnswerForm | undefined;
}

/** The way to one upstream under one configuration. */
export class Route {
  readonly #options: RouteOptions;

  constructor(options: RouteOptions) {
    this.#options = options;
  }

  /** One attempt: retries and other keys included. @throws AttemptError */
  send(target: Target, call: Call, exchange: Exchange, onSent?: () => void): Promise<Reply> {
    const { upstream, dialect, now, random, wheel } = this.#options;
    const codec = dialect.codecs[call.kind];
    if (!codec) return Promise.reject(notSpoken(dialect.name, `for ${call.kind} models`));
    if (call.stream && (codec.type === "bytes" || codec.decoder === null)) {
      return Promise.reject(notSpoken(dialect.name, `for streams of ${call.kind} models`));
    }
    const batches = codec.type === "answer" ? codec.batches : undefined;
    const calls = batches?.split(call, target) ?? [call];
    if (batches !== undefined && calls.length > 1) {
      const send = (one: Call, part: Exchange): Promise<Reply> => this.send(target, one, part, onSent);
      return sendInBatches({ batches, calls, target, exchange, send });
    }
    const deadline = exchange.readAt + exchange.model.deadline;
    const errand = { target, call, codec, exchange, deadline, onSent };
    const schedule = (at: number, callback: () => void): (() => void) => wheel.schedule(at, callback);
    return withRetries({ settings: upstream.retries, deadline, signal: exchange.signal, now, random, schedule }, () =>
      this.#tryKeys(errand),
    );
  }

  /** One try, with the next key at once when the failure is a key's. */
  async #tryKeys(errand: Errand): Promise<Reply> {
    const { upstream, keys, health, now } = this.#options;
    const { userId } = errand.exchange.principal;
    const tried: PooledKey[] = [];
    const refused: PooledKey[] = [];
    let failure: AttemptError | null = null;
    for (;;) {
      const key = keys.pick(tried, now(), upstream.retries.maxDelay);
      if (key === null) throw failure ?? new AttemptError("credentials", "upstream has no key to try");
      tried.push(key);
      try {
        const answer = await this.#try(errand, key.value);
        keys.served(key, refused, now());
        return { ...answer, target: errand.target };
      } catch (error) {
        if (!(error instanceof AttemptError)) throw error;
        const { another, suspected } = keys.failed(key, error, userId, now());
        if (suspected) refused.push(key);
        const known = suspected ? error.as({ neutral: true }) : error;
        health.failed(known);
        this.#warn(errand, key, known);
        if (!another) throw known;
        failure = milder(failure, known);
      }
    }
  }

  async #try(errand: Errand, key: string): Promise<Answer> {
    const { dialect, pool, health, latencies, wheel, now, log } = this.#options;
    const { target, call, codec, exchange, deadline, onSent } = errand;
    const { request, dropped, form } = await this.#request(errand, key);
    const startedAt = now();
    const attempt = new Try<Answer>({
      read: readOnce({ dialect, codec, form, call, now, log }),
      onCut: (error) => health.failed(error),
      timeouts: target.timeouts,
      // A body that is relayed as it comes is a stream, too.
      stream: call.stream || codec.type === "bytes",
      deadline,
      signal: exchange.signal,
      ...(onSent && { onSent }),
      wheel,
      now,
    });
    try {
      const answer = await attempt.run(pool, request);
      if (attempt.firstByte !== null) latencies.record(target, attempt.firstByte);
      health.served(attempt.firstByte);
      return dropped.length > 0 ? { ...answer, dropped } : answer;
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      this.#failed(errand, error, now() - startedAt);
      throw withoutKey(error, key);
    }
  }

  /** @throws AttemptError "unsupported" when the dialect cannot say it, or a strict model's call would lose something. */
  async #request({ codec, call, target, exchange, deadline }: Errand, key: string): Promise<Written> {
    const { upstream, dialect, address, signer, now } = this.#options;
    const written = write(() => codec.request(call, target, key));
    const dropped = written.dropped ?? [];
    if (exchange.model.strict && dropped.length > 0) {
      throw new AttemptError("unsupported", `${shown(dropped)} cannot be expressed for this model`);
    }
    const changed = target.parameters ? withParameters(written, target.parameters) : written;
    const request = await signer.sign({
      dialect,
      request: addressed(changed, address, exchange.requestId),
      host: address.host,
      apiKey: key,
      now: now(),
      signal: exchange.signal,
      patience: Math.min(target.timeouts.connect, deadline - now()),
    });
    // Only a streamed body can be broken off over HTTP/2 without harm, and undici keeps any other till the answer's end.
    const { body } = request;
    const whole = typeof body === "string" && (upstream.http2 || body.length > WHOLE_CHARACTERS);
    return { request: whole ? { ...request, body: streamed(body) } : request, dropped, form: written.form };
  }

  #failed({ target, exchange }: Errand, error: AttemptError, elapsed: number): void {
    const { upstream, latencies, log } = this.#options;
    const { failure, status, cause } = error;
    // Without this an upstream that only times out would stay unknown, and unknown ones are tried first. A timeout that
    // the request's own deadline brought about says nothing about the upstream.
    const patience = Math.min(target.timeouts.connect, target.timeouts.firstByte);
    if (failure === "timeout" && elapsed >= patience) latencies.record(target, Math.max(elapsed, latencies.of(target)));
    // The code alone: undici's errors carry addresses and bytes of the answer.
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const fields = { upstream: upstream.name, model: target.model, requestId: exchange.requestId };
    log.debug({ ...fields, failure, status, code }, "an attempt failed");
  }

  /** What an operator can cure. Only identifiers of the upstream's words: the rest may be about anything. */
  #warn({ target, exchange }: Errand, key: PooledKey, { failure, status, reason, message }: AttemptError): void {
    const told = WARNINGS[failure];
    if (told === undefined) return;
    const fields = {
      upstream: this.#options.upstream.name,
      model: target.model,
      requestId: exchange.requestId,
      status,
    };
    const ofKey = failure === "credentials" || failure === "quota" ? { key: key.position } : {};
    this.#options.log.warn({ ...fields, ...ofKey, ...(reason && { reason }) }, told || message);
  }
}

/**
 * Reads one answer and forgets what was asked: a try lives as long as its stream does. A function of its own, because all
 * closures of one function keep what any of them uses.
 */
function readOnce(conversation: Conversation): TryOptions<Answer>["read"] {
  let left: Conversation | null = conversation;
  return (head, owner) => {
    const asked = left;
    left = null;
    return asked && readAnswer(asked, head, owner);
  };
}

/** What one dialect cannot say another one of the chain may: only when none can is the request the client's fault. */
function write(request: () => UpstreamRequest): UpstreamRequest {
  try {
    return request();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "INVALID_REQUEST") throw error;
    throw new AttemptError("unsupported", error.message.replace(/^Invalid request: /, ""), { cause: error });
  }
}

/** Pointers that a refusal names: of a hundred thousand the rest says nothing new. */
const MOST_NAMED = 20;

function shown(dropped: readonly string[]): string {
  const more = dropped.length > MOST_NAMED ? ` and ${dropped.length - MOST_NAMED} more` : "";
  return dropped.slice(0, MOST_NAMED).join(", ") + more;
}

export function notSpoken(dialect: string, what = ""): AttemptError {
  return new AttemptError("protocol", `this gateway does not speak the dialect "${dialect}" ${what}`.trimEnd());
}

/** Providers quote the key they refuse, in whatever shape it has. */
function withoutKey(error: AttemptError, key: string): AttemptError {
  if (key === "" || !error.message.includes(key)) return error;
  // The error's own fields are those it was made of.
  return new AttemptError(error.failure, error.message.replaceAll(key, "[redacted]"), error);
}

/** Of the failures of several keys the one that passes soonest. */
function milder(a: AttemptError | null, b: AttemptError): AttemptError {
  if (a === null || a.failure !== "rate_limited") return b;
  return b.failure === "rate_limited" && (b.retryAfter ?? 0) < (a.retryAfter ?? 0) ? b : a;
}
