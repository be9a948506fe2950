import type {
  Accepts,
  ApiChoice,
  AttemptError,
  Call,
  DialectName,
  Json,
  Kind,
  StreamEvent,
  Target,
  Usage,
  Vendor,
} from "../kit/index.ts";

/** One HTTP request to an upstream; `path` is appended to its base URL. Header names are in lower case. */
export interface UpstreamRequest {
  readonly method: "GET" | "POST";
  /** May begin with a version (`/v2/…`), which gives way to one that the base URL ends with. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | UnwrittenBody | StreamedBody | BytesBody | null;
  /** JSON pointers into the client's body of what the dialect cannot express; left out: none. */
  readonly dropped?: readonly string[];
  /**
   * What reads the answer to this very request, where that is not what reads the codec's others: another endpoint, tool
   * names that were shortened, an answer asked for as the call of a tool.
   */
  readonly form?: AnswerForm;
}

/** A value whose JSON text is too long to be written in one turn of the event loop. */
export interface UnwrittenBody {
  readonly json: Json;
  /** What the upstream takes at most: another target may take more. */
  readonly maxBytes?: number;
}

/** A body too large to be copied together; may be read as often as there are tries. */
export interface StreamedBody {
  /** Bytes. */
  readonly length: number;
  read(): AsyncIterable<Uint8Array>;
}

/** A body in memory, in chunks that are sent one after the other. */
export interface BytesBody extends StreamedBody {
  readonly chunks: readonly Uint8Array[];
}

export interface Decoded {
  readonly body: Json;
  /** null when the upstream gave no usable count. */
  readonly usage: Usage | null;
}

/** Turns the bytes of one upstream stream into canonical events, wherever the reads split them. */
export interface StreamReader {
  /** Events completed by this read. After a fault or the dialect's ending it returns nothing more. */
  feed(chunk: Uint8Array): readonly StreamEvent[];
  /** The body has ended: events that were still open. */
  finish(): readonly StreamEvent[];
  /** An error event, or something that is not the dialect. Events before it have been returned. */
  readonly fault: AttemptError | null;
  /** The dialect's ending was seen (`[DONE]`): nothing more will come. */
  readonly done: boolean;
  /** The ending or a finish reason was seen: the answer is whole. */
  readonly complete: boolean;
}

/** One kind of model in one dialect. Stateless: decoders hold the state of one stream. */
export type Codec = AnswerCodec | ByteCodec;

interface RequestCodec {
  /** @throws GatewayError when the call cannot be written down. */
  request(call: Call, target: Target, apiKey: string): UpstreamRequest;
}

/** How an answer in JSON, or in events for a call with `stream`, is read. */
export interface AnswerForm {
  /** @throws AttemptError "protocol" when the body is not what the dialect promises. */
  answer(body: Uint8Array, call: Call): Decoded;
  /** null: this kind has no streams of events. */
  readonly decoder: ((call: Call) => StreamReader) | null;
  /** The media type of a stream; left out: `text/event-stream`. */
  readonly streamType?: string;
}

export interface AnswerCodec extends RequestCodec, AnswerForm {
  readonly type: "answer";
  /** Left out: one request holds whatever a call asks for. */
  readonly batches?: Batches;
}

/** How a call that asks for more than one request may hold is sent as several. */
export interface Batches {
  /** In their order; the call itself alone where it fits. */
  split(call: Call, target: Target): readonly Call[];
  /** The answer to the call, of the answers to what it was split into, in that order. */
  join(answers: readonly Decoded[]): Decoded;
}

/** Answers with a body that is relayed as it is, such as audio. */
export interface ByteCodec extends RequestCodec {
  readonly type: "bytes";
  /** The media type for the client of a 200 with this `content-type` (parameters included); null for a body that cannot be it. */
  contentType(upstream: string, call: Call): string | null;
}

/** Names are in lower case. */
export type RefusalHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Where an upstream is and what stands there, as configured. */
export interface Location {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly vendor?: Vendor;
  readonly accepts?: Accepts;
  readonly api?: ApiChoice;
}

/** A kind of key that is not sent as it is: requests are signed with it, or carry an access token that it stands for. */
export type Signing = { readonly by: "aws"; readonly service: string } | { readonly by: "google" };

/** The upstream half of a dialect. */
export interface UpstreamDialect {
  readonly name: DialectName;
  /** Who stands behind the dialect, for what refusals mean; left out: nobody in particular. */
  readonly vendor?: Vendor;
  /** The dialect as one upstream speaks it, where that hangs on its address. */
  at?(location: Location): UpstreamDialect;
  /** What keys that are credentials of a cloud do to a request; left out: keys are sent as they are. */
  readonly signing?: Signing;
  /**
   * Whether a chat model of that name thinks when it is called so; undefined where nothing says so. Left out: nothing does.
   */
  thinks?(call: Call, model: string): boolean | undefined;
  /** What stands there caches prefixes by itself: a client that marks them loses nothing. */
  readonly cachesUnasked?: true;
  /** The kinds it serves. */
  readonly codecs: Readonly<Partial<Record<Kind, Codec>>>;
  /** Whether there may be a Responses endpoint; left out: there is none. */
  mayHaveResponses?(location: Location): boolean;
  /** A request that proves address and key and that no provider bills. */
  probe(apiKey: string): UpstreamRequest;
  /** The upstream's own words for an error body, fit for a client: no markup, keys or URLs; empty when there are none. */
  errorMessage(body: Uint8Array): string;
  /** The identifier of a refusal that stands in its headers, in lower case; empty without one. Left out: they have none. */
  codeOf?(headers: RefusalHeaders): string;
}
