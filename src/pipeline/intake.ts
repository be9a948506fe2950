import {
  type ClientRequest,
  type Exchange,
  GatewayError,
  type Host,
  type Intake,
  type Observer,
  type Principal,
  type Tier,
  type Windows,
} from "../kit/index.ts";
import type { Pipeline } from "./build.ts";
import { exchangeOf, Held } from "./held.ts";
import { passOver } from "./hooks.ts";
import { modelOf } from "./model.ts";

/** Asks the identify plugins in order. @throws GatewayError: nobody known is a 401. */
export async function identify(pipeline: Pipeline, request: ClientRequest, observer: Observer): Promise<Principal> {
  for (const hook of pipeline.identify) {
    try {
      const principal = await hook.call(request);
      if (principal) return principal;
    } catch (error) {
      passOver(hook, error, observer);
    }
  }
  throw new GatewayError("AUTHENTICATION_REQUIRED", "Authentication required");
}

/** Reads the body and finds its model: what makes a request an exchange. @throws GatewayError */
export async function readExchange(
  intake: Intake,
  principal: Principal,
  host: Host,
): Promise<{ readonly exchange: Exchange; readonly held: Held }> {
  const { call, format } = await intake.read(principal.userId);
  const { id, receivedAt, request, client } = intake;
  const held = new Held(call, format);
  const exchange = {
    id,
    requestId: request.requestId,
    receivedAt,
    readAt: host.now(),
    endpoint: request.endpoint,
    principal,
    tier: tierOf(principal, host),
    model: modelOf(call, host.snapshot),
    signal: client.signal,
  };
  return { exchange: exchangeOf(exchange, held), held };
}

/** The caller's counters, for answers refused before admission; null when nobody counts or the store is away. */
export async function currentWindows(pipeline: Pipeline, principal: Principal, host: Host): Promise<Windows | null> {
  const [hook] = pipeline.windows;
  if (hook === undefined) return null;
  try {
    return await hook.call(principal);
  } catch (error) {
    host.log.debug({ err: error }, "no counters for a refusal");
    return null;
  }
}

/** A plan that the configuration no longer has may call nothing. */
export function tierOf(principal: Principal, host: Host): Tier {
  const none = { day: 0, hour: 0, minute: 0, streams: 0 };
  return host.snapshot.tiers[principal.tier] ?? { name: principal.tier, access: [], limits: none };
}
