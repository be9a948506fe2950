import type { AnswerFormat, Call, ClientDialect, Exchange, Json, StreamFormat, Units, Upload } from "../kit/index.ts";
import { KeptText } from "./kept-text.ts";

/**
 * What an exchange holds of its request: all of it until an answer streams, from then on what its end may ask for. Who
 * keeps the call itself, in a closure that outlives the beginning of a stream, keeps a parsed body for as long as that.
 */
export class Held {
  /** null where the endpoint streams no events. */
  readonly stream: StreamFormat | null;
  #call: Call;
  #format: AnswerFormat | null;
  #prompt: KeptText | null = null;
  #streamBytes = 0;

  constructor(call: Call, format: AnswerFormat) {
    this.#call = call;
    this.#format = format;
    this.stream = format.stream;
  }

  get call(): Call {
    return this.#call;
  }

  /** How a whole answer is written. @throws TypeError once an answer streams */
  get format(): AnswerFormat {
    if (this.#format === null) throw new TypeError("the request of a begun stream is gone");
    return this.#format;
  }

  get prompt(): KeptText {
    return (this.#prompt ??= new KeptText(this.format.promptText()));
  }

  /** No upstream will be asked any more. */
  begin(): void {
    this.#prompt = this.prompt;
    this.#streamBytes = this.stream?.keptBytes?.() ?? 0;
    this.#format = null;
    this.#call = new BegunCall(this.#call);
  }

  /** Bytes that are still held; what a call has beside its body is not counted. */
  get bytes(): number {
    return (this.#prompt?.bytes ?? 0) + this.#streamBytes;
  }
}

/** The exchange of a request; its call is what is held of it. */
export function exchangeOf(parts: Omit<Exchange, "call">, held: Held): Exchange {
  const { id, requestId, receivedAt, readAt, endpoint, principal, tier, model, signal } = parts;
  return Object.freeze({
    id,
    requestId,
    receivedAt,
    readAt,
    endpoint,
    principal,
    tier,
    model,
    signal,
    get call() {
      return held.call;
    },
  });
}

/** What stays of a call. What is gone says so: left out, a plugin would take it for a request without. */
class BegunCall implements Call {
  readonly kind: Call["kind"];
  readonly model: string;
  readonly stream: boolean;
  readonly promptBytes: number;
  readonly maxOutput: number | null;
  readonly answers?: number;
  readonly units?: Units;
  readonly upload?: Upload;
  readonly dialect?: ClientDialect;
  readonly headers?: NonNullable<Call["headers"]>;

  constructor({ kind, model, stream, promptBytes, maxOutput, answers, units, upload, dialect, headers }: Call) {
    this.kind = kind;
    this.model = model;
    this.stream = stream;
    this.promptBytes = promptBytes;
    this.maxOutput = maxOutput;
    if (answers !== undefined) this.answers = answers;
    if (units !== undefined) this.units = units;
    if (upload !== undefined) this.upload = upload;
    if (dialect !== undefined) this.dialect = dialect;
    if (headers !== undefined) this.headers = headers;
    Object.freeze(this);
  }

  get body(): Json {
    return gone("body");
  }

  get native(): Json {
    return gone("native");
  }
}

function gone(field: string): never {
  throw new TypeError(`call.${field} is gone once an answer streams: a transform hook can keep what is needed of it`);
}
