import {
  type Call,
  type Cancellation,
  type ClientDialect,
  type Exchange,
  GatewayError,
  type Host,
  type InferenceRequest,
  invalidRequest,
  type Json,
  type Model,
  modelAt,
  type Principal,
  type Snapshot,
  type Tag,
  tierOf,
  type Units,
  type Upload,
} from "../kit/index.ts";

/** Headers that plugins get nothing of: what they read may end in a log. */
const CREDENTIALS = new Set("authorization proxy-authorization x-api-key api-key x-goog-api-key cookie".split(" "));

/** The part of a request's state that plugins may see. */
interface SeenState {
  readonly request: InferenceRequest;
  readonly call: Call;
  readonly cancellation: Cancellation;
  readonly tags: readonly Tag[] | null;
}

/**
 * What plugins see of a state: the facts, and of the call as much as is still there. A class, because an object literal with
 * getters takes ten times as long to make.
 */
export class FrozenExchange implements Exchange {
  readonly id: string;
  readonly requestId: string;
  readonly receivedAt: number;
  readonly readAt: number;
  readonly endpoint: Exchange["endpoint"];
  readonly principal: Principal;
  readonly tier: Exchange["tier"];
  readonly model: Model;
  readonly trace: Exchange["trace"];
  readonly header: (name: string) => string | null;
  readonly #state: SeenState;

  constructor(state: SeenState, principal: Principal, host: Host) {
    const { id, receivedAt, head } = state.request;
    this.#state = state;
    this.id = id;
    this.requestId = head.requestId;
    this.receivedAt = receivedAt;
    this.readAt = host.now();
    this.endpoint = head.endpoint;
    this.principal = principal;
    this.tier = tierOf(host.snapshot, principal.tier);
    this.model = modelOf(state.call, host.snapshot, this.readAt);
    this.trace = head.trace;
    this.header = (name) => {
      const lower = name.toLowerCase();
      return CREDENTIALS.has(lower) ? null : (head.header?.(lower) ?? null);
    };
    Object.freeze(this);
  }

  get call(): Call {
    return this.#state.call;
  }

  get signal(): AbortSignal {
    return this.#state.request.client.signal;
  }

  get cancellation(): Cancellation {
    return this.#state.cancellation;
  }

  get tags(): readonly Tag[] | undefined {
    return this.#state.tags ?? undefined;
  }
}

/** What stays of a call. Reading what is gone throws: left out, a plugin would take it for a request without. */
export class BegunCall implements Call {
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
    return rejectReading("body");
  }

  get native(): Json {
    return rejectReading("native");
  }
}

function rejectReading(field: string): never {
  throw new TypeError(`call.${field} is gone once an answer streams: a transform hook can keep what is needed of it`);
}

/** The model that a call names. @throws GatewayError for none of its kind (images have their own), or one that cannot serve it. */
function modelOf(call: Call, snapshot: Snapshot, now: number): Model {
  const { model: id, kind } = call;
  const model = modelAt(snapshot, id, now);
  if (model !== null && model.kind !== kind && kind === "image")
    throw new GatewayError("MODEL_NOT_FOUND", "Model not found");
  if (model === null || model.kind !== kind) throw new GatewayError("INVALID_MODEL", `Invalid model: '${id}'`);
  if (model.realtime) throw new GatewayError("INVALID_REQUEST", `Model '${id}' is for real-time streaming only`);
  if (kind === "speech") checkVoice(call, model);
  return model;
}

/** A model without a list leaves its voices to the upstream. */
function checkVoice({ body }: Call, { voices }: Model): void {
  if (voices.length === 0 || voices.includes(body["voice"] as string)) return;
  throw invalidRequest("/voice", `must be one of ${voices.map((voice) => JSON.stringify(voice)).join(", ")}`);
}
