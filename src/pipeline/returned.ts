import { type Bill, type Call, isJson, type Json, type Reply, type StreamEvent } from "../kit/index.ts";

/*
 * What plugins return, checked: one written without types, or with a bug, must be named and must not break what runs
 * after it. Each check throws a TypeError that says what was expected.
 */

/** The call that `transform` made of `before`, frozen. Its model and streaming have been admitted: they stay. */
export function checkedCall(call: Call, before: Call): Call {
  const sound = isJson(call) && isJson(call.body);
  if (!sound || call.kind !== before.kind || call.model !== before.model || call.stream !== before.stream) {
    throw new TypeError("transform must return a call of the same kind, model and stream");
  }
  Object.freeze(call.body);
  return Object.freeze(call);
}

export function checkedEvent(event: StreamEvent): StreamEvent {
  if (!isJson(event) || !isJson(event.data)) throw new TypeError("event must return a stream event");
  return event;
}

export function checkedBody(body: Json): Json {
  if (!isJson(body)) throw new TypeError("response must return the answer's body");
  return body;
}

export function checkedBill(bill: Bill): Bill {
  if (!isJson(bill) || !isJson(bill.usage) || typeof bill.charge !== "bigint" || bill.charge < 0n) {
    throw new TypeError("settle must return a bill");
  }
  return bill;
}

const EXPECTED = { answer: "a complete answer", events: "a stream of events", bytes: "a stream of bytes" } as const;

/** The reply to `call`; a stream for a client that does not wait for one is ended. */
export function checkedReply(reply: Reply, call: Call): Reply {
  const expected = call.stream ? "events" : call.kind === "speech" ? "bytes" : "answer";
  const sound = isJson(reply) && isJson(reply.target) && isJson(reply.type === "answer" ? reply.body : reply.source);
  if (sound && reply.type === expected) return reply;
  if (sound && reply.type !== "answer") reply.source.cancel();
  throw new TypeError(`relay must return ${EXPECTED[expected]}`);
}
