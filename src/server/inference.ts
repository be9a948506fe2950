import type { IncomingHttpHeaders } from "node:http";
import { referencesIn } from "../dialects/references/find.ts";
import {
  atOnce,
  type Call,
  type ClientRequest,
  DenseSet,
  type GatewayError,
  type Idempotency,
  type Indexed,
  type InferenceRequest,
  inTurns,
  invalidRequest,
  isPromise,
  type Json,
  type Log,
  type Principal,
  type Reference,
  type RequestBody,
  nextTurn,
  type RequestPipeline,
  type RequestTrace,
  type Target,
  type Uuids,
} from "../kit/index.ts";
import { digestForm, digestSteps } from "./body-digest.ts";
import type { ValidateBody } from "./body-schemas.ts";
import type { ByteBudget, ByteClaim } from "./byte-budget.ts";
import { ServerClient } from "./client.ts";
import { credentialsOf } from "./credentials.ts";
import type { Format, FormFormat, JsonFormat } from "./endpoint.ts";
import { readForm, type StoredUpload } from "./form.ts";
import { SMALL_BODY_BYTES } from "./json.ts";
import { type BodyParts, JoinedBodies, type ReadJson, readJson } from "./request-body.ts";
import type { HttpExchange } from "./respond.ts";

export interface InferenceOptions {
  /** Of the configuration in force; asked once a request. */
  readonly pipeline: () => RequestPipeline;
  /** Another configuration that serves this caller, whom the one in force has identified; null: it serves it itself. */
  readonly candidateFor?: (userId: string) => RequestPipeline | null;
  /** Why a request of the plan is not served now; null: it is. Left out: all are. */
  readonly shed?: (tier: string) => GatewayError | null;
  readonly validateBody: ValidateBody;
  readonly log: Log;
  /** Milliseconds with fractions, of a clock for durations. */
  readonly elapsed: () => number;
  /** For bodies in memory, and for uploads on disk. */
  readonly budgets: { readonly memory: ByteBudget; readonly disk: ByteBudget };
  readonly ids: Uuids;
}

/** A request to an inference endpoint, as far as the server has looked at it. */
export interface ReceivedInference {
  readonly http: HttpExchange;
  readonly ip: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** The same by `elapsed`. */
  readonly arrivedAt: number;
  readonly bodyLimit: number;
  /** Whether the answer says how long it took. */
  readonly serverTiming: boolean;
  readonly trace: RequestTrace | null;
}

/** A request with a streamed answer, under way. */
export interface RunningStream {
  /** The gateway's own, unique in all processes. */
  readonly id: string;
  readonly requestId: string;
  readonly userId: string;
  readonly model: string;
  /** That it was last tried at; null before the first. */
  readonly upstream: string | null;
  /** Milliseconds. */
  readonly age: number;
  /** Of the upstream's stream, as far as they were written to the client. */
  readonly events: number;
  /** Written to the client's connection. */
  readonly bytes: number;
  /** Whether the client has been sent the head. */
  readonly begun: boolean;
}

export interface Inference {
  serve(received: ReceivedInference, format: Format): void;
  /** Those that have not been answered and settled. */
  readonly requests: DenseSet<ServedRequest>;
}

export function createInference(options: InferenceOptions): Inference {
  const requests = new DenseSet<ServedRequest>();
  const joined = new JoinedBodies();
  return {
    requests,
    serve(received, format) {
      const request = new ServedRequest(received, format, options, joined);
      requests.add(request);
      request.serve(requests).catch((err: unknown) => {
        options.log.error({ err, request_id: request.head.requestId }, "request cleanup failed");
      });
    },
  };
}

/** One inference request from its head to its settlement, with what it holds of the server until then. */
class ServedRequest implements InferenceRequest, Indexed {
  index = -1;
  readonly id: string;
  readonly receivedAt: number;
  readonly arrivedAt: number;
  readonly serverTiming: boolean;
  waited = 0;
  readonly head: ClientRequest;
  readonly client: ServerClient;
  body: RequestBody | null = null;
  idempotency: Idempotency | null = null;
  #userId = "";
  /** The model of a call that streams; null before it is read, and for any other. */
  #streamedModel: string | null = null;
  #target: Target | null = null;
  readonly #received: ReceivedInference;
  readonly #format: Format;
  readonly #options: InferenceOptions;
  readonly #joined: JoinedBodies;
  /** Entered, from `serve` on. */
  #pipeline: RequestPipeline;
  #claim: ByteClaim | null = null;
  #upload: StoredUpload | null = null;

  constructor(received: ReceivedInference, format: Format, options: InferenceOptions, joined: JoinedBodies) {
    const { http, ip, receivedAt, arrivedAt, serverTiming, trace } = received;
    this.id = options.ids.timed(receivedAt);
    this.receivedAt = receivedAt;
    this.arrivedAt = arrivedAt;
    this.serverTiming = serverTiming;
    this.head = {
      requestId: http.requestId,
      credentials: credentialsOf(http.req.headers),
      ip,
      endpoint: format.endpoint,
      trace: trace ?? undefined,
      header: (name) => valueOf(http.req.headers[name]),
    };
    this.client = new ServerClient(http, options.log);
    this.#received = received;
    this.#format = format;
    this.#options = options;
    this.#joined = joined;
    this.#pipeline = options.pipeline();
  }

  async serve(running: DenseSet<ServedRequest>): Promise<void> {
    this.#pipeline.enter();
    let principal: Principal | null = null;
    try {
      try {
        // Credentials come before the body: who has none can make the gateway neither read nor parse.
        const identified = this.#pipeline.identify(this);
        principal = isPromise(identified) ? await identified : identified;
        const shed = this.#options.shed?.(principal.tier) ?? null;
        if (shed !== null) throw shed;
        this.#moveTo(this.#options.candidateFor?.(principal.userId) ?? null);
        await this.#readBody(principal, keyOf(this.#received.http.req.headers));
      } catch (error) {
        await this.#pipeline.refuse(this, principal, error);
        return;
      }
      await this.#pipeline.run(this, principal);
    } catch (error) {
      this.client.refuse(error, {});
    } finally {
      this.#pipeline.leave();
      running.delete(this);
      this.#claim?.release();
      if (this.#upload !== null) await this.#upload.dispose();
    }
  }

  #moveTo(candidate: RequestPipeline | null): void {
    if (candidate === null) return;
    candidate.enter();
    this.#pipeline.leave();
    this.#pipeline = candidate;
  }

  tried(target: Target): void {
    this.#target = target;
  }

  /** null while it is not known to stream, and once its client has all of it or is gone. */
  stream(): RunningStream | null {
    const model = this.#streamedModel;
    // One that its client has left may still wait for its charge.
    if (model === null || this.client.over) return null;
    const { requestId } = this.head;
    const { events, bytes, streaming: begun } = this.client;
    const age = Math.max(0, Math.round(this.#options.elapsed() - this.arrivedAt));
    const upstream = this.#target?.upstream ?? null;
    return { id: this.id, requestId, userId: this.#userId, model, upstream, age, events, bytes, begun };
  }

  keep(bytes: number): void {
    this.body = null;
    // A form's file stays on the disk: an upstream may begin to answer before it has the whole of it.
    if (this.#format.body === "json") this.#claim?.shrink(bytes);
  }

  /** Reads, parses and checks the body. @throws GatewayError for one that cannot be used, or that there is no room for. */
  #readBody({ userId }: Principal, key: string | null): Promise<void> {
    const { http, bodyLimit } = this.#received;
    const format = this.#format;
    const { memory, disk } = this.#options.budgets;
    this.#userId = userId;
    const claim = (format.body === "json" ? memory : disk).claim(userId);
    this.#claim = claim;
    const { elapsed } = this.#options;
    const since = elapsed();
    const onWhole = (): void => {
      this.waited = elapsed() - since;
    };
    const parts = { signal: this.client.cancellation, claim, onWhole };
    if (format.body === "form") return this.#readForm(format, parts, key);
    return readJson(http, bodyLimit, parts, this.#joined, format.endpoint === "chat", (read) => {
      if (claim.bytes > SMALL_BODY_BYTES) return this.#takeLong(format, read, claim.bytes, key);
      this.#take(callOf(format, read, this.#checked(read.body, claim.bytes), http.req.headers));
      if (key !== null) this.idempotency = { key, body: atOnce(digestSteps(format.endpoint, read.body)) };
    });
  }

  /** Checking a long body, reading it, and what the pipeline does with it are a turn of the event loop each. */
  async #takeLong(format: JsonFormat, read: ReadJson, bytes: number, key: string | null): Promise<void> {
    const body = this.#checked(read.body, bytes);
    await nextTurn();
    const call = callOf(format, read, body, this.#received.http.req.headers);
    await nextTurn();
    if (key !== null) this.idempotency = { key, body: await inTurns(digestSteps(format.endpoint, read.body)) };
    this.#take(call);
  }

  async #readForm(format: FormFormat, parts: BodyParts, key: string | null): Promise<void> {
    const { http, bodyLimit } = this.#received;
    const { fields, upload } = await readForm(http, bodyLimit, parts);
    parts.onWhole?.();
    this.#upload = upload;
    if (key !== null) this.idempotency = { key, body: await digestForm(format.endpoint, fields, upload) };
    this.#take(naming(referencesIn(fields), await format.read(this.#checked(fields), upload)));
  }

  #take(read: Call): void {
    const call = Object.freeze(this.#pipeline.resolve(read));
    if (call.stream) this.#streamedModel = call.model;
    const created = Math.floor(this.receivedAt / 1000);
    this.body = { call, format: this.#format.write(call, { id: this.id, created }) };
  }

  /** @throws GatewayError 400 naming the first thing that is wrong. */
  #checked(body: Json, bytes?: number): Json {
    const fault = this.#options.validateBody(this.#format.endpoint, body, bytes);
    if (fault !== null) throw invalidRequest(fault.pointer, fault.what);
    return Object.freeze(body);
  }
}

function callOf(format: JsonFormat, { text, long }: ReadJson, body: Json, headers: IncomingHttpHeaders): Call {
  const call = format.read(body, headers, long?.texts);
  // Before long texts are in place: to look at one there decodes it.
  const references = long === null ? referencesIn(body) : referencesIn(body, (standIn) => long.addressAt(standIn));
  long?.place();
  return naming(references, text === null ? call : { ...call, text });
}

function naming(references: readonly Reference[], call: Call): Call {
  return references.length === 0 ? call : { ...call, references };
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** @throws GatewayError 400 for an `Idempotency-Key` that is none; several are one with blanks in it. */
function keyOf(headers: IncomingHttpHeaders): string | null {
  const key = valueOf(headers["idempotency-key"]);
  if (key === undefined) return null;
  if (IDEMPOTENCY_KEY.test(key)) return key;
  throw invalidRequest("Idempotency-Key", "must be 1 to 255 visible ASCII characters");
}

/** Several of one name are one. */
function valueOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" || header === undefined ? header : header.join(", ");
}
