import {
  type Bill,
  type Call,
  type Exchange,
  GatewayError,
  isJson,
  type Json,
  type Observer,
  type Reply,
  StalePrincipal,
  type StreamEvent,
} from "../kit/index.ts";
import type { BoundHooks } from "./build.ts";

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
  return call;
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

/** One event of a stream as the event hooks leave it. @throws GatewayError */
export function changeEvent(
  hooks: BoundHooks["event"],
  event: StreamEvent,
  exchange: Exchange,
  observer: Observer,
): StreamEvent {
  let current = event;
  for (const hook of hooks) {
    try {
      const returned = hook.call(current, exchange);
      if (!isJson(returned) || !isJson(returned.data)) throw new TypeError("event must return a stream event");
      current = returned;
    } catch (error) {
      passOver(hook, error, observer);
    }
  }
  return current;
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

export function checkedBill(bill: Bill): Bill {
  if (!isJson(bill) || !isJson(bill.usage) || typeof bill.charge !== "bigint" || bill.charge < 0n) {
    throw new TypeError("settle must return a bill");
  }
  return bill;
}

const EXPECTED = { answer: "a complete answer", events: "a stream of events", bytes: "a stream of bytes" } as const;

/** The reply to `call`; a stream of the wrong type is cancelled. */
export function checkedReply(reply: Reply, call: Call): Reply {
  const expected = call.stream ? "events" : call.kind === "speech" ? "bytes" : "answer";
  const sound = isJson(reply) && isJson(reply.target) && isJson(reply.type === "answer" ? reply.body : reply.source);
  if (sound && reply.type === expected) return reply;
  if (sound && reply.type !== "answer") reply.source.cancel();
  throw new TypeError(`relay must return ${EXPECTED[expected]}`);
}
