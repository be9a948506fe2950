import type { Decision } from "#schema";
import {
  type AnswerFormat,
  type Call,
  decimal,
  type Endpoint,
  ERRORS,
  type ErrorCode,
  GatewayError,
  type Kind,
  type OutcomeKind,
  type StreamEvent,
  type StreamFormat,
  toNano,
  type Units,
  type Usage,
} from "../../kit/index.ts";
import { callOf } from "../requests.ts";

/** Refusals and failures that follow from configuration, counters and upstreams; all others stay as they were logged. */
const REPLAYED: ReadonlySet<string> = new Set<ErrorCode>([
  "INVALID_MODEL",
  "MODEL_NOT_FOUND",
  "MODEL_NOT_ALLOWED",
  "DAILY_REQUEST_LIMIT_EXCEEDED",
  "RATE_LIMIT_ERROR",
  "CIRCUIT_BREAKER_OPEN",
  "PROVIDER_ERROR",
  "PROVIDER_TIMEOUT",
]);
const ABORTED: ReadonlySet<string> = new Set<OutcomeKind>(["client_gone", "killed", "shutdown"]);
const KINDS: Readonly<Record<Endpoint, Kind>> = {
  chat: "chat",
  messages: "chat",
  responses: "chat",
  embeddings: "embedding",
  rerank: "rerank",
  speech: "speech",
  transcription: "transcription",
  image: "image",
};

type LoggedAttempt = Decision["attempts"][number];

/** Less than any time in a log tells apart, more than Unix milliseconds lose in a sum. */
const MOMENT_MS = 0.005;

/** One request of the log, as far as it is known: what is asked, and what upstreams did. */
export class PastRequest {
  readonly decision: Decision;
  /** Unix milliseconds, with fractions. */
  readonly receivedAt: number;
  /** When its body was there. */
  readonly startsAt: number;
  readonly endsAt: number;
  /** Of a request that used nothing then, which are assumed if it is served now. */
  readonly assumed: Pick<Usage, "prompt" | "completion">;
  /** That served it, or began to. */
  readonly serving: LoggedAttempt | null;
  /** Attempts that were made again. */
  readonly #made = new Set<LoggedAttempt>();

  /** @param completion tokens of an answer of the model as others have had them; null: nobody had one */
  constructor(decision: Decision, completion: number | null) {
    const { time, body_ms, total_ms, attempts, estimated } = decision;
    this.decision = decision;
    this.receivedAt = Date.parse(time);
    this.startsAt = this.receivedAt + (body_ms ?? 0);
    this.endsAt = this.receivedAt + total_ms;
    this.serving = attempts.findLast(({ answered_ms }) => answered_ms !== null) ?? null;
    this.assumed = { prompt: estimated.prompt, completion: completion ?? estimated.completion ?? 0 };
  }

  /** What became of it: the error's code, else how it ended. */
  get result(): string {
    return this.decision.code ?? this.decision.outcome;
  }

  get charge(): bigint {
    return toNano(decimal(this.decision.charge));
  }

  /** Whether the pipeline has seen it: only then a pipeline can be asked again. */
  get isReplayable(): boolean {
    const { plan, model, id, code } = this.decision;
    return plan !== null && model !== null && (id !== null || REPLAYED.has(code ?? ""));
  }

  /** Of a client that left, or whom something made leave. */
  get abortedBy(): "client_gone" | "killed" | "shutdown" | null {
    const { outcome } = this.decision;
    return ABORTED.has(outcome) ? (outcome as "client_gone" | "killed" | "shutdown") : null;
  }

  /** Of one that was ended: behind the answer, where both are of one moment, because it was charged for what had come. */
  get leavesAt(): number {
    if (this.serving === null) return this.endsAt;
    return Math.max(this.endsAt, this.receivedAt + this.serving.answered_ms! + MOMENT_MS);
  }

  /** A refusal that neither configuration nor upstreams explain, such as credits, or a plugin's that reads the prompt. */
  get lastingError(): GatewayError | null {
    const { code, attempts } = this.decision;
    if (code === null || REPLAYED.has(code) || this.abortedBy !== null) return null;
    // What upstreams did says why.
    if (attempts.length > 0 && this.serving === null) return null;
    return new GatewayError(Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : "INTERNAL", "as it was logged");
  }

  /** Whether a plugin answered in an upstream's stead. */
  get answeredByPlugin(): boolean {
    const { upstream, attempts, first_event_ms } = this.decision;
    return upstream === null && attempts.length === 0 && first_event_ms !== null;
  }

  /** What the log says of the next attempt at a target; null: nothing. */
  attempt(upstream: string, model: string): LoggedAttempt | null {
    const { attempts } = this.decision;
    return attempts.find((one) => one.upstream === upstream && one.model === model && !this.#made.has(one)) ?? null;
  }

  /** @returns when it began, if all that came before it was made again; else null. */
  make(attempt: LoggedAttempt): number | null {
    this.#made.add(attempt);
    const { attempts } = this.decision;
    const before = attempts.slice(0, attempts.indexOf(attempt));
    const isInOrder = before.every((one) => one.outcome === "skipped" || this.#made.has(one));
    return isInOrder ? this.receivedAt + attempt.start_ms : null;
  }

  /** Whether anything is known of what it used; else `assumed` stands in. */
  get isCounted(): boolean {
    const { tokens } = this.decision;
    return this.serving !== null || tokens.prompt + tokens.completion > 0 || this.answeredByPlugin;
  }

  /** As the upstream counted; null when it did not, or nothing is known of it. */
  get usage(): Usage {
    const { tokens, asked } = this.decision;
    if (!this.isCounted) return { ...this.assumed, cached: 0, reasoning: 0, ...unitsOf(asked) };
    const { prompt, completion, cached, reasoning, cache_write: cacheWrite, cache_write_1h: cacheWrite1h } = tokens;
    return {
      prompt,
      completion,
      cached,
      reasoning,
      ...(cacheWrite !== undefined && { cacheWrite }),
      ...(cacheWrite1h !== undefined && { cacheWrite1h }),
      ...unitsOf(tokens),
    };
  }

  get isEstimated(): boolean {
    return this.decision.tokens_estimated;
  }

  /** Whether the whole of its answer had been seen. */
  get isFinished(): boolean {
    const { outcome, charge } = this.decision;
    return outcome === "served" || (!this.isEstimated && this.isCounted && charge !== "0");
  }

  /** The request in the canonical shape, with nothing of what it said. */
  call(voices: readonly string[]): Call {
    const { endpoint, model, stream, prompt_bytes, max_output, answers, asked } = this.decision;
    const name = model ?? "";
    const least = callOf(endpoint, { model: name, ...(stream && { stream }) });
    const body = { ...(least?.body ?? { model: name }), ...(endpoint === "speech" && { voice: voices[0] ?? "alloy" }) };
    return Object.freeze<Call>({
      ...least,
      kind: KINDS[endpoint],
      body: Object.freeze(body),
      model: name,
      stream,
      promptBytes: prompt_bytes ?? 0,
      maxOutput: max_output,
      answers,
      units: unitsOf(asked),
    });
  }

  /** How its answer is written: to nobody. Tokens of texts are read by `countedTokens`. */
  format(): AnswerFormat {
    const { usage, decision } = this;
    const failure = this.serving === null && !this.answeredByPlugin ? null : this.lastingError;
    const stream: StreamFormat = {
      event() {
        if (failure !== null) throw failure;
        return decision.given_back ? "" : ".";
      },
      heartbeat: "",
      failure: () => "",
      done: () => "",
      killed: () => "",
    };
    return {
      contentType: "application/json",
      answer() {
        if (failure !== null) throw failure;
        return "";
      },
      promptText: () => String(usage.prompt > 0 ? usage.prompt : this.assumed.prompt),
      producedText: () => String(usage.completion),
      stream,
    };
  }

  /** Its whole stream at once. */
  event(): StreamEvent {
    const choices = this.isFinished ? [{ index: 0, delta: {}, finish_reason: "stop" }] : [];
    const event = { data: { choices }, text: "", usage: this.usage };
    return this.isEstimated ? { ...event, partial: true } : event;
  }
}

/** Of a text that `PastRequest.format` made. */
export function countedTokens(text: string): Promise<number> {
  return Promise.resolve(Number(text));
}

function unitsOf({ characters, audio_ms, images, image_variant }: Decision["asked"]): Units {
  return {
    ...(characters !== undefined && { characters }),
    ...(audio_ms !== undefined && { milliseconds: audio_ms }),
    ...(images !== undefined && { images }),
    ...(image_variant !== undefined && { imageVariant: image_variant }),
  };
}
