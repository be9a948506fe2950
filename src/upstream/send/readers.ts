import { filterRefusal, isFilteredAnswer, isFilteredBeginning } from "../../dialects/canonical/content-filters.ts";
import { readError } from "../../dialects/canonical/errors.ts";
import { sentJson } from "../../dialects/canonical/own-field.ts";
import type { AnswerForm, Codec, StreamReader, UpstreamDialect, UpstreamRequest } from "../../dialects/dialect.ts";
import {
  type AttemptError,
  type Call,
  type FailureClass,
  isJson,
  type Kind,
  type Log,
  type StreamEvent,
} from "../../kit/index.ts";
import {
  contentType,
  type Head,
  headFailure,
  isJsonType,
  protocolError,
  refusalFailure,
  retryAfter,
  statusFailure,
} from "./classify.ts";
import { canDecompress, decompressed } from "./compressed.ts";
import { type Answer, ByteStream, joinChunks, type Reader, type ReaderOwner, Relay, type RelayKind } from "./relay.ts";

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
  /** Whether an answer that is nothing but a content filter's refusal counts as refused. */
  readonly refusesFiltered: boolean;
  readonly sender: RequestSender;
  readonly now: () => number;
  readonly log: Log;
}

/** Who sent the request. */
export interface RequestSender {
  /** The request once more, for what a refusal of it means. @throws what writing it throws */
  rewritten(): UpstreamRequest;
}

/** Picks the reader for a response by its head; null if it is rejected already and its body not wanted. */
export function readAnswer(conversation: ReadContext, head: Head, owner: ReaderOwner<Answer>): Reader | null {
  const { headers } = head;
  if (head.status !== 200) return readRefusal(conversation, head, owner);
  return decompressed(headers, owner, (plain) => readSuccess(conversation, head, plain));
}

function readSuccess(conversation: ReadContext, head: Head, owner: ReaderOwner<Answer>): Reader | null {
  const { codec, call, log, refusesFiltered } = conversation;
  if (codec.type === "bytes") {
    const type = codec.contentType(contentType(head.headers), call);
    if (type !== null) return new ByteStream(owner, type, call, log);
    owner.fail(protocolError("upstream answered with something other than what was asked for"));
    return null;
  }
  const form = conversation.form ?? codec;
  const decoder = call.stream && form.decoder ? form.decoder(call) : null;
  const wrong = headFailure(head.headers, decoder ? (form.streamType ?? "text/event-stream") : "application/json");
  if (!wrong && decoder) return new EventStream(owner, decoder, log, refusesFiltered);
  if (!wrong) return new AnswerReader(owner, form, call, refusesFiltered);
  owner.fail(wrong);
  return null;
}

/** Failure classes of a status that the body of the response may change; for all others the body is not waited for. */
const BODY_DECIDES: ReadonlySet<FailureClass> = new Set(["client_fault", "credentials", "rate_limited", "declined"]);
/** Statuses whose body may say when to come back. */
const MAY_SAY_WHEN: ReadonlySet<number> = new Set([503, 529]);

function readRefusal(
  { dialect, call, sender, now }: ReadContext,
  head: Head,
  owner: ReaderOwner<Answer>,
): Reader | null {
  const { status, headers } = head;
  const at = now();
  const refusal = statusFailure(status, headers, at);
  const decides = BODY_DECIDES.has(refusal.failure) || (MAY_SAY_WHEN.has(status) && isJsonType(headers));
  if (!decides || !canDecompress(headers)) {
    owner.reject(refusal);
    owner.drain();
    return null;
  }
  const refused = (body: Uint8Array): AttemptError => {
    const error = readError(body);
    const code = dialect.codeOf?.(headers) ?? "";
    const known = code === "" ? error : { ...error, codes: [code, ...error.codes] };
    const found = { dialect: dialect.name, vendor: dialect.vendor, status, error: known, call };
    const told = { wait: retryAfter(headers, at), now: at };
    const message = dialect.errorMessage(body);
    return refusalFailure(found, refusal, message, () => sentJson(sender.rewritten().body), told);
  };
  return decompressed(headers, owner, (plain) => new RefusalReader(plain, refusal, refused));
}

/** Reads an answer that is not streamed. */
class AnswerReader implements Reader {
  readonly #owner: ReaderOwner<Answer>;
  readonly #form: AnswerForm;
  readonly #call: Call;
  readonly #maximum: number;
  readonly #refusesFiltered: boolean;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(owner: ReaderOwner<Answer>, form: AnswerForm, call: Call, refusesFiltered: boolean) {
    this.#owner = owner;
    this.#form = form;
    this.#call = call;
    this.#refusesFiltered = refusesFiltered;
    this.#maximum = MAX_ANSWER_BYTES_BY_KIND[call.kind] ?? MAX_ANSWER_BYTES;
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maximum) this.#owner.fail(protocolError("upstream sent too large an answer"));
  }

  end(): void {
    const { body, usage } = this.#form.answer(joinChunks(this.#chunks), this.#call);
    if (this.#refusesFiltered && isFilteredAnswer(body)) return this.#owner.reject(filterRefusal());
    this.#owner.resolve({ type: "answer", body, usage });
  }

  fail(error: AttemptError): void {
    this.#owner.reject(error);
  }
}

/** Reads the body of an error response, up to a limit, for what it says of the failure. */
class RefusalReader implements Reader {
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

const MAX_HELD_BYTES = 64 * 1024;
/** Bytes before the first event with content; a longer prelude begins the stream all the same. */
const MAX_PRELUDE_BYTES = 64 * 1024;
/**
 * Of one stream, decompressed. It bounds memory: decoders, and the writers of clients' formats, keep something of every
 * event until the stream ends (calls, ids, annotations, whole texts).
 */
const MAX_STREAM_BYTES = 256 * 1024 * 1024;
const NO_EVENTS: readonly StreamEvent[] = [];
const EVENTS: RelayKind<readonly StreamEvent[]> = {
  maxHeldBytes: MAX_HELD_BYTES,
  join: (batches) => batches.flat(),
  answer: (source) => ({ type: "events", source }),
};
const EMPTY_MESSAGE = "upstream ended its answer before the first event";

/**
 * Reads an answer streamed as events: decodes what arrives, one batch for each read. The stream begins with the first
 * event that has content; those before it are held back, because an error that follows them must still fail over.
 */
class EventStream implements Reader {
  readonly #owner: ReaderOwner<Answer>;
  readonly #decoder: StreamReader;
  readonly #relay: Relay<readonly StreamEvent[]>;
  readonly #refusesFiltered: boolean;
  /** The stream began with the refusal of a content filter, and must not begin. */
  #refusal: AttemptError | null = null;
  #prelude = NO_EVENTS;
  #preludeBytes = 0;
  #bytes = 0;

  constructor(owner: ReaderOwner<Answer>, decoder: StreamReader, log: Log, refusesFiltered: boolean) {
    this.#owner = owner;
    this.#decoder = decoder;
    this.#refusesFiltered = refusesFiltered;
    this.#relay = new Relay(owner, log, EVENTS);
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_STREAM_BYTES) return this.#owner.fail(protocolError("upstream sent too large an answer"));
    this.#accept(this.#decoder.feed(chunk), chunk.length);
    const { done } = this.#decoder;
    const fault = this.#decoder.fault ?? this.#refusal;
    if (fault) this.#owner.fail(fault);
    else if (done) this.#done();
  }

  end(): void {
    this.#accept(this.#decoder.finish(), 0);
    const { complete } = this.#decoder;
    const fault = this.#decoder.fault ?? this.#refusal;
    if (fault) this.fail(fault);
    else if (complete && this.#began()) this.#relay.complete();
    else
      this.fail(
        protocolError(
          this.#relay.begun || this.#prelude.length > 0
            ? "upstream connection lost: premature end of its answer"
            : EMPTY_MESSAGE,
        ),
      );
  }

  /** The connection fails. Behind a finish reason nothing is missing but an ending: the answer is whole. */
  fail(error: AttemptError): void {
    if (error.failure === "aborted") this.#relay.fail(error);
    else if (this.#isWhole()) this.#relay.complete();
    else this.#relay.fail(this.#refusal ?? error);
  }

  #isWhole(): boolean {
    const decoder = this.#decoder;
    if (decoder.fault !== null || !decoder.complete || decoder.done) return false;
    this.#accept(decoder.finish(), 0);
    return decoder.fault === null && this.#began();
  }

  #done(): void {
    if (!this.#began()) return this.#owner.fail(protocolError(EMPTY_MESSAGE));
    this.#owner.drain();
    this.#relay.complete();
  }

  #accept(events: readonly StreamEvent[], bytes: number): void {
    if (this.#relay.begun) {
      if (events.length > 0) this.#relay.push(events, bytes);
      return;
    }
    if (events.length > 0) this.#prelude = this.#prelude.length > 0 ? [...this.#prelude, ...events] : events;
    this.#preludeBytes += bytes;
    if (this.#refusesFiltered && isFilteredBeginning(this.#prelude)) this.#refusal = filterRefusal();
    else if (events.some(hasContent) || this.#preludeBytes > MAX_PRELUDE_BYTES) this.#began();
  }

  /** Passes on what was held back. @returns whether the stream has begun. */
  #began(): boolean {
    if (this.#refusal !== null) return false;
    if (!this.#relay.begun && this.#prelude.length > 0) {
      const prelude = this.#prelude;
      this.#prelude = NO_EVENTS;
      this.#relay.push(prelude, this.#preludeBytes);
    }
    return this.#relay.begun;
  }
}

/** Whether an event carries text, reasoning, a tool call or a finish; a role or a count alone does not. */
function hasContent({ data, text }: StreamEvent): boolean {
  if (text !== "") return true;
  const { choices } = data;
  if (!Array.isArray(choices)) return false;
  return choices.some((choice) => {
    if (!isJson(choice)) return false;
    if ((choice["finish_reason"] ?? null) !== null) return true;
    const { delta } = choice;
    return isJson(delta) && Object.entries(delta).some(([name, value]) => name !== "role" && !isEmptyDelta(value));
  });
}

/** Nothing yet, or what only announces something in the client's own format (`{native: {dialect, event}}`). */
function isEmptyDelta(value: unknown): boolean {
  if (!isJson(value))
    return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  const { dialect, event } = value;
  return isJson(event) && (dialect === "responses" || event["type"] === "message_start");
}
