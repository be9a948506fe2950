import {
  ANY_MODEL,
  type Awaitable,
  type Call,
  checkKeyUse,
  type ClientRequest,
  GatewayError,
  type InferenceRequest,
  isPromise,
  isStoreUnavailable,
  mediaBytes,
  mediaTokens,
  type Model,
  modelAt,
  mostMediaTokens,
  type Principal,
  type RequestPipeline,
  ShedRefusal,
  type Snapshot,
  storeUnavailable,
} from "../kit/index.ts";
import { serverTimingHeader, standingHeaders } from "./answer-headers.ts";
import type { AnswerRecord } from "./answer-record.ts";
import type { Pipeline } from "./build.ts";
import { elapsedOf } from "./exchange.ts";
import { currentWindows, isConfirmed, passOver } from "./hooks.ts";
import { KeyedRequests } from "./idempotency.ts";
import { RequestRun, type RunnerParts } from "./request-run.ts";

/** With its media as the model's own providers count them, as a hold has to know. */
function withMediaOf(call: Call, model: Model, { upstreams }: Snapshot): Call {
  const { media, promptBytes } = call;
  if (media === undefined) return call;
  const more = mostMediaTokens(media, model, upstreams) - mediaTokens(media, ANY_MODEL);
  return { ...call, promptBytes: promptBytes + mediaBytes(more) };
}

/** How often a request is identified again while its user's account is being changed. */
const MAX_IDENTIFICATIONS = 5;

/** Serves requests by one pipeline; see `RequestPipeline` for the order of the calls. */
export class RequestRunner implements Omit<RequestPipeline, "enter" | "leave"> {
  readonly #parts: RunnerParts;
  /** null: keys are not looked at. */
  readonly #keyed: KeyedRequests | null;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#keyed =
      parts.keys === undefined
        ? null
        : new KeyedRequests(parts.keys, parts, {
            identify: (request) => this.identify(request),
            run: (request, principal, record) => this.#run(request, principal, MAX_IDENTIFICATIONS, record),
            refuse: (request, principal, error, requestId) => this.refuse(request, principal, error, requestId),
          });
  }

  /**
   * Asks the identify plugins in order. Whatever plugin has found the key: here it is refused what it may not do.
   * @throws GatewayError 401 for nobody known; KEY_RESTRICTED
   */
  identify({ head }: InferenceRequest): Awaitable<Principal> {
    return this.#identify(head, MAX_IDENTIFICATIONS);
  }

  #identify(head: ClientRequest, left: number): Awaitable<Principal> {
    const principal = this.#identifyBy(this.#parts.pipeline.identify, head);
    return isPromise(principal)
      ? principal.then((found) => this.#permitted(found, head, left))
      : this.#permitted(principal, head, left);
  }

  #permitted(principal: Principal, head: ClientRequest, left: number): Awaitable<Principal> {
    try {
      checkKeyUse(principal, "inference", head.ip);
      return principal;
    } catch (refusal) {
      if (principal.version === undefined || left === 0) throw refusal;
      return this.#reconsidered(principal, head, left, refusal);
    }
  }

  /** The key may have been changed, and the push of that lost: the refusal stands only if the store says so. */
  async #reconsidered(principal: Principal, head: ClientRequest, left: number, refusal: unknown): Promise<Principal> {
    const { host } = this.#parts;
    if (await isConfirmed(principal, host)) throw refusal;
    host.identities.forget(principal);
    return this.#identify(head, left - 1);
  }

  #identifyBy(hooks: Pipeline["identify"], head: ClientRequest): Awaitable<Principal> {
    for (let index = 0; index < hooks.length; index += 1) {
      const hook = hooks[index]!;
      try {
        const principal = hook.call(head);
        if (isPromise(principal)) return this.#identifyLater(principal, hooks.slice(index), head);
        if (principal) return principal;
      } catch (error) {
        passOver(hook, error, this.#parts.observer);
      }
    }
    throw new GatewayError("AUTHENTICATION_REQUIRED", "Authentication required");
  }

  /** @param asked of the first of the hooks. */
  async #identifyLater(
    asked: Promise<Principal | null | undefined>,
    [hook, ...others]: Pipeline["identify"],
    head: ClientRequest,
  ): Promise<Principal> {
    try {
      const principal = await asked;
      if (principal) return principal;
    } catch (error) {
      passOver(hook!, error, this.#parts.observer);
    }
    return this.#identifyBy(others, head);
  }

  resolve(call: Call): Call {
    const { snapshot, now } = this.#parts.host;
    const model = modelAt(snapshot, call.model, now());
    if (model === null) return call;
    const counted = withMediaOf(call, model, snapshot);
    return model.id === call.model ? counted : { ...counted, model: model.id, asked: call.model };
  }

  run(request: InferenceRequest, principal: Principal): Promise<void> {
    const { idempotency } = request;
    if (this.#keyed === null || !idempotency) return this.#run(request, principal, MAX_IDENTIFICATIONS, null);
    return this.#keyed.serve(request, idempotency, principal);
  }

  /** @param record of a request with an idempotency key, which nobody else serves. */
  #run(request: InferenceRequest, principal: Principal, left: number, record: AnswerRecord | null): Promise<void> {
    try {
      return new RequestRun(this.#parts, request, principal, record).serve().then(
        (served) => (served ? undefined : this.#runAgain(request, principal, left, record)),
        (error: unknown) => this.refuse(request, principal, error),
      );
    } catch (error) {
      return this.refuse(request, principal, error);
    }
  }

  /** The principal was out of date. */
  async #runAgain(
    request: InferenceRequest,
    former: Principal,
    left: number,
    record: AnswerRecord | null,
  ): Promise<void> {
    let current: Principal | null = former;
    try {
      if (left === 0) throw storeUnavailable(new Error("the caller's account changes faster than it can be read"));
      this.#parts.host.identities.forget(former);
      current = null;
      current = await this.identify(request);
    } catch (error) {
      return this.refuse(request, current, error);
    }
    return this.#run(request, current, left - 1, record);
  }

  /** @param requestId of the request whose answer it is; left out: this one's. */
  async refuse(
    request: InferenceRequest,
    principal: Principal | null,
    error: unknown,
    requestId?: string,
  ): Promise<void> {
    const { pipeline, host, observer } = this.#parts;
    // A store that is away would keep the refusal waiting for a second time.
    const asksStore = principal !== null && !isStoreUnavailable(error) && !(error instanceof ShedRefusal);
    const windows = asksStore ? await currentWindows(pipeline, principal, host) : null;
    observer.refused(request.head, error, request.receivedAt, { principal, call: request.body?.call ?? null });
    const timing = serverTimingHeader(request, elapsedOf(request, host));
    const call = request.body?.call;
    const asked = call === undefined ? null : (call.asked ?? call.model);
    request.client.refuse(error, { ...standingHeaders(host, asked, windows), ...timing }, requestId);
  }
}
