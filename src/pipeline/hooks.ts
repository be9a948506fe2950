import {
  type AttemptSpan,
  type Bill,
  type Call,
  type Exchange,
  GatewayError,
  type Host,
  isJson,
  isStoreUnavailable,
  type Json,
  type Observer,
  type OwnReply,
  type PluginHeaders,
  type Principal,
  type Reply,
  StalePrincipal,
  type Tag,
  TAG_NAME,
  type Tags,
  tagValue,
  type Windows,
} from "../kit/index.ts";
import type { BoundHooks, Pipeline } from "./build.ts";

/** The call as the transform hooks leave it. @throws GatewayError */
export async function transform(hooks: BoundHooks["transform"], exchange: Exchange, observer: Observer): Promise<Call> {
  let { call } = exchange;
  for (const hook of hooks) {
    try {
      call = checkedCall(await hook.call(call, exchange), call);
    } catch (error) {
      passOver(hook, error, observer);
    }
  }
  // What is deep within its body may have been changed in place.
  const { text: _text, ...changed } = call;
  return Object.freeze(changed);
}

/** A complete answer as the response hooks leave it. @throws GatewayError */
export async function respond(
  hooks: BoundHooks["response"],
  answer: Json,
  exchange: Exchange,
  observer: Observer,
): Promise<Json> {
  let body = answer;
  for (const hook of hooks) {
    try {
      const returned = await hook.call(body, exchange);
      if (!isJson(returned)) throw new TypeError("response must return the answer's body");
      body = returned;
    } catch (error) {
      passOver(hook, error, observer);
    }
  }
  return body;
}

/** The caller's counters, for answers refused before admission; null when nobody counts or the store is away. */
export async function currentWindows(pipeline: Pipeline, principal: Principal, host: Host): Promise<Windows | null> {
  const [hook] = pipeline.windows;
  if (hook === undefined) return null;
  try {
    return await hook.call(principal);
  } catch (error) {
    host.log.debug({ err: error }, "counters for a refusal could not be read");
    return null;
  }
}

/** Whether a refusal stands; a store that is away leaves it what it is. */
export async function isConfirmed(principal: Principal, { identities }: Host): Promise<boolean> {
  try {
    return await identities.confirm(principal);
  } catch (error) {
    if (isStoreUnavailable(error)) return true;
    throw error;
  }
}

/**
 * Decides on what a hook threw. A GatewayError is the hook's answer and passes, as does StalePrincipal. Anything else is
 * the plugin's own failure: it is reported and, unless the step says `fail: open`, fails the request.
 */
export function passOver(
  hook: { readonly plugin: string; readonly failOpen: boolean },
  error: unknown,
  observer: Observer,
): void {
  if (error instanceof GatewayError || error instanceof StalePrincipal) throw error;
  observer.pluginFailed(hook.plugin, error);
  if (!hook.failOpen) throw internalError(error);
}

/** The list with one more. Arrays that are pushed to get room for 17: 130 bytes too many for the one that most hold. */
export function added<Item>(list: readonly Item[], item: Item): readonly Item[] {
  return list.length === 0 ? [item] : [...list, item];
}

/** A failure of the gateway: the client reads nothing of the cause, which is for the log. */
export function internalError(cause: unknown): GatewayError {
  return new GatewayError("INTERNAL", "Internal server error", { cause });
}

/*
 * What plugins return is checked: a value of the wrong shape must be reported as that plugin's fault, and must not break
 * what runs after it. Each check throws a TypeError that says what was expected.
 */

/** The call that `transform` made of `before`, frozen. Its model and streaming have been admitted: they stay. */
function checkedCall(call: Call, before: Call): Call {
  const sound = isJson(call) && isJson(call.body);
  if (!sound || call.kind !== before.kind || call.model !== before.model || call.stream !== before.stream) {
    throw new TypeError("transform must return a call of the same kind, model and stream");
  }
  Object.freeze(call.body);
  return Object.freeze(call);
}

const HEADER_NAME = /^X-[A-Za-z0-9-]{1,62}$/i;
const HEADER_VALUE = /^[ -~]{1,256}$/;

export function checkedHeaders(headers: PluginHeaders): PluginHeaders {
  for (const [name, value] of Object.entries(headers)) {
    if (HEADER_NAME.test(name) && typeof value === "string" && HEADER_VALUE.test(value)) continue;
    throw new TypeError(`no header that a plugin may add: ${name}`);
  }
  return headers;
}

const MAX_TAG_COUNT = 16;

/**
 * The tags of a request with those that a plugin adds. Those of the caller's key come first, take the place of no other
 * one, and keep their values, whatever a client says.
 * @throws TypeError for marks that no plugin may make.
 */
export function marked(before: readonly Tag[] | null, added: readonly Tag[], ofKey: Tags = {}): readonly Tag[] | null {
  const own = Object.entries(ofKey).map(([name, value]) => Object.freeze({ name, value, measured: false }));
  const all = new Map((before ?? own).map((tag) => [tag.name, tag]));
  for (const { name, value, measured = false } of added) {
    if (!TAG_NAME.test(name) || typeof value !== "string") throw new TypeError(`no tag: ${name}`);
    if (!all.has(name) && all.size >= MAX_TAG_COUNT + own.length) continue;
    const kept = Object.hasOwn(ofKey, name) ? ofKey[name]! : tagValue(value);
    all.set(name, Object.freeze({ name, value: kept, measured }));
  }
  return all.size === 0 ? null : Object.freeze([...all.values()]);
}

/** The facts of an attempt, without the methods that end it: plugins are told of them with the outcome. */
export function spanOf({ target, start, answered, end, result, status, detail, spanId }: AttemptSpan): AttemptSpan {
  return { target, start, answered, end, result, status, detail, spanId };
}

export function checkedBill(bill: Bill): Bill {
  if (!isJson(bill) || !isJson(bill.usage) || typeof bill.charge !== "bigint" || bill.charge < 0n) {
    throw new TypeError("settle must return a bill");
  }
  return bill;
}

const EXPECTED = { answer: "a complete answer", events: "a stream of events", bytes: "a stream of bytes" } as const;

/** The reply that a hook gives to `call`; a stream of the wrong type is cancelled. */
export function checkedReply<Given extends Reply | OwnReply>(
  reply: Given,
  call: Call,
  hook: "relay" | "answer",
): Given {
  const expected = call.stream ? "events" : call.kind === "speech" ? "bytes" : "answer";
  const sound = isJson(reply) && isJson(reply.type === "answer" ? reply.body : reply.source);
  if (sound && reply.type === expected && (hook === "answer" || ("target" in reply && isJson(reply.target))))
    return reply;
  if (sound && reply.type !== "answer") reply.source.cancel();
  throw new TypeError(`${hook} must return ${EXPECTED[expected]}`);
}
