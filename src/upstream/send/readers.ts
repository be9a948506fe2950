import type { AnswerForm, Codec, UpstreamDialect } from "../../dialects/dialect.ts";
import { readError } from "../../dialects/canonical/errors.ts";
import type { AttemptError, Call, FailureClass, Kind, Log } from "../../kit/index.ts";
import { ByteStream } from "./relay.ts";
import { contentType, type Head, headFailure, protocolError, refusalFailure, statusFailure } from "./classify.ts";
import { decompressed, canDecompress } from "./compressed.ts";
import { EventStream } from "./event-stream.ts";
import { type Answer, joinChunks, type Reader, type ReaderOwner } from "./reader.ts";

const MIB_BYTES = 1024 * 1024;
const MAX_ANSWER_BYTES = 32 * MIB_BYTES;
/** A full batch of vectors as decimal numbers, or ten large images, is larger than any text. */
const MAX_ANSWER_BYTES_BY_KIND: Readonly<Partial<Record<Kind, number>>> = {
  embedding: 128 * MIB_BYTES,
  image: 128 * MIB_BYTES,
};
const MAX_REFUSAL_BYTES = 64 * 1024;

export interface ReadContext {
  readonly dialect: UpstreamDialect;
  readonly codec: Codec;
  /** Left out: the codec's own. */
  readonly form?: AnswerForm | undefined;
  readonly call: Call;
  readonly now: () => number;
  readonly log: Log;
}

/** Picks the reader for a response by its head; null if it is rejected already and its body not wanted. */
export function readAnswer(conversation: ReadContext, head: Head, owner: ReaderOwner<Answer>): Reader | null {
  const { headers } = head;
  if (head.status !== 200) return readRefusal(conversation, head, owner);
  return decompressed(headers, owner, (plain) => readSuccess(conversation, head, plain));
}

function readSuccess(conversation: ReadContext, head: Head, owner: ReaderOwner<Answer>): Reader | null {
  const { codec, call, log } = conversation;
  if (codec.type === "bytes") {
    const type = codec.contentType(contentType(head.headers), call);
    if (type !== null) return new ByteStream(owner, type, call, log);
    owner.fail(protocolError("upstream answered with something other than what was asked for"));
    return null;
  }
  const form = conversation.form ?? codec;
  const decoder = call.stream && form.decoder ? form.decoder(call) : null;
  const wrong = headFailure(head.headers, decoder ? (form.streamType ?? "text/event-stream") : "application/json");
  if (!wrong) return decoder ? new EventStream(owner, decoder, log) : new AnswerReader(owner, form, call);
  owner.fail(wrong);
  return null;
}

/** Failure classes of a status that the body of the response may change; for all others the body is not waited for. */
const BODY_DECIDES: ReadonlySet<FailureClass> = new Set(["client_fault", "credentials", "rate_limited"]);

function readRefusal({ dialect, call, now }: ReadContext, head: Head, owner: ReaderOwner<Answer>): Reader | null {
  const { status, headers } = head;
  const refusal = statusFailure(status, headers, now());
  if (!BODY_DECIDES.has(refusal.failure) || !canDecompress(headers)) {
    owner.reject(refusal);
    owner.drain();
    return null;
  }
  const refused = (body: Uint8Array): AttemptError => {
    const error = readError(body);
    const code = dialect.codeOf?.(headers) ?? "";
    const known = code === "" ? error : { ...error, codes: [code, ...error.codes] };
    const found = { dialect: dialect.name, vendor: dialect.vendor, status, error: known, call };
    return refusalFailure(found, refusal, dialect.errorMessage(body));
  };
  return decompressed(headers, owner, (plain) => new RefusalReader(plain, refusal, refused));
}

/** Reads an answer that is not streamed. */
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
    this.#maximum = MAX_ANSWER_BYTES_BY_KIND[call.kind] ?? MAX_ANSWER_BYTES;
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maximum) this.#owner.fail(protocolError("upstream sent too large an answer"));
  }

  end(): void {
    const { body, usage } = this.#form.answer(joinChunks(this.#chunks), this.#call);
    this.#owner.resolve({ type: "answer", body, usage });
  }

  fail(error: AttemptError): void {
    this.#owner.reject(error);
  }
}

/** Reads the body of an error response, up to a limit, for what it says of the failure. */
export class RefusalReader implements Reader {
  readonly #owner: ReaderOwner<Answer>;
  readonly #refusal: AttemptError;
  readonly #classify: (body: Uint8Array) => AttemptError;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  /** @param refusal the failure by the head alone; @param classify the failure by head and whole body. */
  constructor(owner: ReaderOwner<Answer>, refusal: AttemptError, classify: (body: Uint8Array) => AttemptError) {
    this.#owner = owner;
    this.#refusal = refusal;
    this.#classify = classify;
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_REFUSAL_BYTES) this.#owner.fail(this.#refusal);
  }

  end(): void {
    this.#owner.reject(this.#classify(joinChunks(this.#chunks)));
  }

  fail(error: AttemptError): void {
    this.#owner.reject(error.failure === "aborted" ? error : this.#refusal);
  }
}
