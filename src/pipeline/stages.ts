import type { Admitted, Call, Exchange, Json, Observer } from "../kit/index.ts";
import type { Plan } from "./build.ts";
import { passOver } from "./hooks.ts";
import { checkedBody, checkedCall } from "./returned.ts";

/** Asks every admit hook in order; `onAdmitted` has what one reserved before the next may refuse. @throws GatewayError */
export async function admit(
  hooks: Plan["admit"],
  exchange: Exchange,
  observer: Observer,
  onAdmitted: (admitted: Admitted) => void,
): Promise<void> {
  for (const hook of hooks) {
    let admitted: Admitted | void = undefined;
    try {
      admitted = await hook.call(exchange);
    } catch (error) {
      passOver(hook, error, observer);
    }
    if (admitted) onAdmitted(admitted);
  }
}

/** The call as the transform hooks leave it. @throws GatewayError */
export async function transform(hooks: Plan["transform"], exchange: Exchange, observer: Observer): Promise<Call> {
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
  hooks: Plan["response"],
  answer: Json,
  exchange: Exchange,
  observer: Observer,
): Promise<Json> {
  let body = answer;
  for (const hook of hooks) {
    try {
      body = checkedBody(await hook.call(body, exchange));
    } catch (error) {
      passOver(hook, error, observer);
    }
  }
  return body;
}
