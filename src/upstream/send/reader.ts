import type { AnswerForm } from "../../dialects/dialect.ts";
import type { AttemptError, AnswerReply, ByteReply, Call, EventReply, Kind } from "../../kit/index.ts";
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

/** A refusal: its body says what it means, as far as it can be had. */
export class RefusalReader implements Reader {
  readonly #owner: ReaderOwner<Answer>;
  readonly #refusal: AttemptError;
  readonly #judge: (body: Uint8Array) => AttemptError;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  /** @param refusal what its head alone means; @param judge what it means with its whole body. */
  constructor(owner: ReaderOwner<Answer>, refusal: AttemptError, judge: (body: Uint8Array) => AttemptError) {
    this.#owner = owner;
    this.#refusal = refusal;
    this.#judge = judge;
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MAXIMUM_REFUSAL) this.#owner.fail(this.#refusal);
  }

  end(): void {
    this.#owner.reject(this.#judge(joined(this.#chunks)));
  }

  fail(error: AttemptError): void {
    this.#owner.reject(error.failure === "aborted" ? error : this.#refusal);
  }
}

export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only ? only : Buffer.concat(chunks);
}
