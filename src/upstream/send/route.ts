import { AttemptError, type Call, type Exchange, type Reply, type Target } from "../../kit/index.ts";
import { sendInBatches, withRetries } from "./retries-and-batches.ts";
import { Sending, type SendingParts } from "./sending.ts";

interface RouteOptions extends SendingParts {
  readonly random: () => number;
}

/** Sends calls to one upstream under one configuration. */
export class Route {
  readonly #options: RouteOptions;

  constructor(options: RouteOptions) {
    this.#options = options;
  }

  /** One attempt, with its retries and changes of key. @throws AttemptError */
  send(
    target: Target,
    call: Call,
    exchange: Exchange,
    onSent?: () => void,
    spanId: string | null = null,
  ): Promise<Reply> {
    const { upstream, dialect, now, random, sweeper } = this.#options;
    const codec = dialect.codecs[call.kind];
    if (!codec) return Promise.reject(dialectNotSpoken(dialect.name, `for ${call.kind} models`));
    if (call.stream && (codec.type === "bytes" || codec.decoder === null)) {
      return Promise.reject(dialectNotSpoken(dialect.name, `for streams of ${call.kind} models`));
    }
    const batches = codec.type === "answer" ? codec.batches : undefined;
    const calls = batches?.split(call, target);
    if (batches !== undefined && calls !== undefined && calls.length > 1) {
      const send = (one: Call, part: Exchange): Promise<Reply> => this.send(target, one, part, onSent, spanId);
      return sendInBatches({ batches, calls, target, exchange, send });
    }
    const deadline = exchange.readAt + exchange.model.deadline;
    const context = { target, call, codec, exchange, deadline, onSent, spanId };
    if (upstream.retries.attempts <= 1) return new Sending(this.#options, context).run();
    const schedule = (at: number, callback: () => void): (() => void) => sweeper.schedule(at, callback);
    return withRetries({ settings: upstream.retries, deadline, signal: exchange.signal, now, random, schedule }, () =>
      new Sending(this.#options, context).run(),
    );
  }
}

export function dialectNotSpoken(dialect: string, what = ""): AttemptError {
  return new AttemptError("protocol", `this gateway does not speak the dialect "${dialect}" ${what}`.trimEnd());
}
