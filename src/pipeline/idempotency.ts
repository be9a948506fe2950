import { createHash, createHmac } from "node:crypto";
import {
  type AbortReason,
  type Awaitable,
  GatewayError,
  type Idempotency,
  type IdempotencyKeys,
  type InferenceRequest,
  invalidRequest,
  keyMayCall,
  type KeyClaim,
  modelAt,
  notOfKey,
  type Principal,
  shuttingDown,
  storeUnavailable,
  type TakenKey,
} from "../kit/index.ts";
import { serverTimingHeader, standingHeaders } from "./answer-headers.ts";
import { AnswerRecord, opened } from "./answer-record.ts";
import { elapsedOf } from "./exchange.ts";
import { currentWindows } from "./hooks.ts";
import { FREE } from "./outcome.ts";
import type { RunnerParts } from "./request-run.ts";
import { EVENT_STREAM } from "./stream.ts";

/** How often a caller is identified again while the account is being changed. */
const MAX_IDENTIFICATIONS = 5;
/** How long a request waits if its model does not exist, so that it has no deadline. */
const DEFAULT_WAIT_MS = 60_000;
const REPLAYED = { "Idempotency-Replayed": "true" };

interface Runner {
  identify(request: InferenceRequest): Awaitable<Principal>;
  run(request: InferenceRequest, principal: Principal, record: AnswerRecord): Promise<void>;
  refuse(request: InferenceRequest, principal: Principal, error: unknown, requestId?: string): Promise<void>;
}

/** Values derived from key and body. The store has neither of these, so it cannot read the answers it keeps. */
interface Secrets {
  readonly digest: string;
  readonly fingerprint: string;
  readonly answer: Buffer;
}

/**
 * Serves requests with an idempotency key. The first one is served as usual, and repeated ones get its answer. A repeated
 * request is never admitted, so it takes no slot while it waits and counts nowhere.
 */
export class KeyedRequests {
  readonly #keys: IdempotencyKeys;
  readonly #parts: RunnerParts;
  readonly #runner: Runner;

  constructor(keys: IdempotencyKeys, parts: RunnerParts, runner: Runner) {
    this.#keys = keys;
    this.#parts = parts;
    this.#runner = runner;
  }

  /** Never rejects. */
  async serve(request: InferenceRequest, asked: Idempotency, principal: Principal): Promise<void> {
    const { digest, fingerprint, answer } = secretsOf(asked);
    const { userId } = principal;
    const claim: KeyClaim = { userId, digest, fingerprint, id: request.id, requestId: request.head.requestId };
    let current = principal;
    try {
      const cancellation = request.client.cancellation ?? request.client.signal;
      const taken = await this.#keys.take(claim, { cancellation, maxMs: this.#maxWait(request) });
      if (taken.state === "first") {
        try {
          // The API key may have been revoked during the wait.
          if (taken.waited) current = await this.#confirmed(request);
          await this.#runner.run(request, current, new AnswerRecord(taken.key, answer));
        } finally {
          await taken.key.release();
        }
        return;
      }
      if (taken.state === "aborted") return await this.#giveUp(request, principal);
      // There is no admission, which would otherwise check that the principal is up to date.
      current = await this.#confirmed(request);
      await this.#answerAgain(request, current, taken, answer);
    } catch (error) {
      await this.#runner.refuse(request, current, error);
    }
  }

  /** Milliseconds. Not inlined: a local `call` in `serve` would stay in memory as long as the answer streams. */
  #maxWait({ body }: InferenceRequest): number {
    const { snapshot, now } = this.#parts.host;
    return modelAt(snapshot, body!.call.model, now())?.deadline ?? DEFAULT_WAIT_MS;
  }

  /** The caller as the store knows it now. @throws GatewayError */
  async #confirmed(request: InferenceRequest): Promise<Principal> {
    const { host } = this.#parts;
    for (let left = MAX_IDENTIFICATIONS; left > 0; left -= 1) {
      const principal = await this.#runner.identify(request);
      if (await host.identities.confirm(principal)) return principal;
      host.identities.forget(principal);
    }
    throw storeUnavailable(new Error("the caller's account changes faster than it can be read"));
  }

  /** @throws GatewayError 403, 409 and 422 */
  async #answerAgain(
    request: InferenceRequest,
    principal: Principal,
    taken: Exclude<TakenKey, { readonly state: "first" | "aborted" }>,
    secret: Buffer,
  ): Promise<void> {
    const { requestId } = taken;
    const { call } = request.body!;
    if (!keyMayCall(principal.keyLimits, call.model)) throw notOfKey(call.model);
    if (taken.state === "mismatch") {
      throw new GatewayError("IDEMPOTENCY_CONFLICT", "Idempotency-Key was sent with another request before", {
        status: 422,
      });
    }
    if (taken.state === "running") {
      const message = `Request ${requestId} with this Idempotency-Key has not ended yet`;
      throw new GatewayError("IDEMPOTENCY_CONFLICT", message, { retryAfter: 1 });
    }
    const kept = taken.answer === null ? null : opened(secret, taken.answer);
    if (kept === null) {
      const message = `Request ${requestId} with this Idempotency-Key has ended (${taken.outcome}): its answer is not kept`;
      const error = new GatewayError("IDEMPOTENCY_CONFLICT", message, { permanent: true, headers: REPLAYED });
      return this.#runner.refuse(request, principal, error, requestId);
    }
    const { host, pipeline, observer } = this.#parts;
    const windows = await currentWindows(pipeline, principal, host);
    const headers = {
      ...kept.headers,
      ...standingHeaders(host, call.asked ?? call.model, windows),
      ...serverTimingHeader(request, elapsedOf(request, host)),
      ...REPLAYED,
    };
    const body = "text" in kept ? kept.text : Buffer.from(kept.base64, "base64");
    request.client.answer(200, kept.contentType, body, headers, requestId);
    observer.replayed?.(request.head, requestId, request.receivedAt);
  }

  /** The client has left while the request waited, or the gateway stops. */
  #giveUp(request: InferenceRequest, principal: Principal): Promise<void> {
    const { client, body } = request;
    const reason = (client.cancellation ?? client.signal).reason as AbortReason;
    const stream = body?.format.stream ?? null;
    if (reason === "killed" && stream !== null) {
      client.startStream(EVENT_STREAM, {});
      client.end(stream.killed(FREE));
      return Promise.resolve();
    }
    const error = reason === "shutdown" ? shuttingDown() : invalidRequest("/", "was given up");
    return this.#runner.refuse(request, principal, error);
  }
}

function secretsOf({ key, body }: Idempotency): Secrets {
  const derived = (use: string): Buffer => createHmac("sha256", key).update(use).update(body).digest();
  return {
    digest: createHash("sha256").update(key).digest("hex"),
    fingerprint: derived("fingerprint").toString("hex"),
    answer: derived("answer"),
  };
}
