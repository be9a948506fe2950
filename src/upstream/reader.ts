import type { AnswerForm, RefusalHeaders, UpstreamDialect } from "../dialects/dialect.ts";
import { AttemptError, type AnswerReply, type ByteReply, type Call, type EventReply, type Kind } from "../kit/index.ts";
import { protocol } from "./classify.ts";

const MIB = 1024 * 1024;
const MAXIMUM_ANSWER = 32 * MIB;
/** A full batch of vectors written as numbers, or ten large images, come to more than any text does. */
const MAXIMUM_ANSWERS: Readonly<Partial<Record<Kind, number>>> = { embedding: 128 * MIB, image: 128 * MIB };
const MAXIMUM_REFUSAL = 64 * 1024;

/** What one try of a call brings. */
export type Answer = Omit<AnswerReply, "target"> | Omit<EventReply, "target"> | Omit<ByteReply, "target">;

/** What is done with the body of one response. */
export interface Reader {
  /** @throws what the dialect throws */
  data(chunk: Buffer): void;
  /** The body is complete. @throws what the dialect throws */
  end(): void;
  /** The body will not be complete; called at most once, and nothing after it. */
  fail(error: AttemptError): void;
}

/** What a reader may ask of the try it reads for. */
export interface ReaderOwner<Result> {
  resolve(result: Result): void;
  reject(error: AttemptError): void;
  /** Ends the request; the reader is told through its `fail`. */
  fail(error: AttemptError): void;
  /** A stream has begun: neither the chain's deadline nor the exchange's signal ends it any more, who takes it does. */
  begin(): void;
  /** What had begun will not be complete. */
  cut(error: AttemptError): void;
  /** Nothing more is wanted: what is left of the body is thrown away. */
  drain(): void;
  /** Stops and starts reading from the upstream. */
  hold(): void;
  flow(): void;
  /** Ends the request; the reader hears nothing more. */
  cancel(): void;
}

/** A complete answer. */
export class AnswerReader implements Reader {
  readonly #owner: ReaderOwner<Answer>;
  readonly #form: AnswerForm;
  readonly #call: Call;
  readonly #maximum: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(owner: ReaderOwner<Answer>, form: AnswerForm, call: Call) {
    this.#owner = owner;
    this.#form = form;
    this.#call = call;
    this.#maximum = MAXIMUM_ANSWERS[call.kind] ?? MAXIMUM_ANSWER;
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maximum) this.#owner.fail(protocol("upstream sent too large an answer"));
  }

  end(): void {
    const { body, usage } = this.#form.answer(joined(this.#chunks), this.#call);
    this.#owner.resolve({ type: "answer", body, usage });
  }

  fail(error: AttemptError): void {
    this.#owner.reject(error);
  }
}

/** A refusal of the request: its body says what the client did wrong, as far as it can be had. */
export class RefusalReader implements Reader {
  readonly #owner: ReaderOwner<Answer>;
  readonly #dialect: UpstreamDialect;
  readonly #refusal: AttemptError;
  readonly #headers: RefusalHeaders;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(owner: ReaderOwner<Answer>, dialect: UpstreamDialect, refusal: AttemptError, headers: RefusalHeaders) {
    this.#owner = owner;
    this.#dialect = dialect;
    this.#refusal = refusal;
    this.#headers = headers;
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MAXIMUM_REFUSAL) this.#owner.fail(this.#refusal);
  }

  end(): void {
    const body = joined(this.#chunks);
    const refusal = this.#dialect.judge?.(this.#refusal, body, this.#headers) ?? this.#refusal;
    // Only what is the client's fault is told in the upstream's words.
    const said = refusal.failure === "client_fault" ? this.#dialect.errorMessage(body) : "";
    const { failure, message, status, retryAfter } = refusal;
    this.#owner.reject(new AttemptError(failure, said || message, { status, retryAfter }));
  }

  fail(error: AttemptError): void {
    this.#owner.reject(error.failure === "aborted" ? error : this.#refusal);
  }
}

export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}
