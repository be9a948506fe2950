import type { UpstreamDialect } from "../dialects/dialect.ts";
import { AttemptError, type EventSource, type Json, type Usage } from "../kit/index.ts";
import { protocol } from "./classify.ts";

const MAXIMUM_ANSWER = 32 * 1024 * 1024;
const MAXIMUM_REFUSAL = 64 * 1024;

export type Answer =
  | { readonly stream: false; readonly body: Json; readonly usage: Usage | null }
  | { readonly stream: true; readonly source: EventSource };

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
export interface ReaderOwner {
  resolve(answer: Answer): void;
  reject(error: AttemptError): void;
  /** Ends the request; the reader is told through its `fail`. */
  fail(error: AttemptError): void;
  /** The chain's deadline no longer applies. */
  begin(): void;
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
  readonly #owner: ReaderOwner;
  readonly #dialect: UpstreamDialect;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(owner: ReaderOwner, dialect: UpstreamDialect) {
    this.#owner = owner;
    this.#dialect = dialect;
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MAXIMUM_ANSWER) this.#owner.fail(protocol("upstream sent too large an answer"));
  }

  end(): void {
    const { body, usage } = this.#dialect.answer(joined(this.#chunks));
    this.#owner.resolve({ stream: false, body, usage });
  }

  fail(error: AttemptError): void {
    this.#owner.reject(error);
  }
}

/** A refusal of the request: its body says what the client did wrong, as far as it can be had. */
export class RefusalReader implements Reader {
  readonly #owner: ReaderOwner;
  readonly #dialect: UpstreamDialect;
  readonly #refusal: AttemptError;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(owner: ReaderOwner, dialect: UpstreamDialect, refusal: AttemptError) {
    this.#owner = owner;
    this.#dialect = dialect;
    this.#refusal = refusal;
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MAXIMUM_REFUSAL) this.#owner.fail(this.#refusal);
  }

  end(): void {
    const said = this.#dialect.errorMessage(joined(this.#chunks));
    const { failure, message, status } = this.#refusal;
    this.#owner.reject(new AttemptError(failure, said || message, { status }));
  }

  fail(error: AttemptError): void {
    this.#owner.reject(error.failure === "aborted" ? error : this.#refusal);
  }
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}
