import { readCountTokens } from "../../dialects/messages/client/request.ts";
import { GatewayError, invalidRequest, type Json, type Principal } from "../../kit/index.ts";
import { jsonResponse, type Route, type Visit } from "../app.ts";
import { readBody, requireJson } from "../body.ts";
import { parseJson } from "../json.ts";
import { keyHolderOf } from "./caller.ts";
import { mayCall } from "./catalogue.ts";
import type { Claim } from "../room.ts";
import type { RouteParts } from "./parts.ts";

/** Decisions 10.1. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_AT_ONCE = 4;

/**
 * Counts a Messages request's tokens with the gateway's own tokenizer: no upstream is asked, nothing is counted against
 * the caller and nothing charged (decisions 7).
 */
export function tokenCountRoutes(parts: RouteParts): readonly Route[] {
  /** Counts that run, by user. */
  const running = new Map<string, number>();
  const atMost = async <T>(userId: string, work: () => Promise<T>): Promise<T> => {
    const others = running.get(userId) ?? 0;
    if (others >= MOST_AT_ONCE) {
      throw new GatewayError("RATE_LIMIT_ERROR", "Concurrent count_tokens limit exceeded", { retryAfter: 1 });
    }
    running.set(userId, others + 1);
    try {
      return await work();
    } finally {
      const left = (running.get(userId) ?? 1) - 1;
      if (left > 0) running.set(userId, left);
      else running.delete(userId);
    }
  };
  return [
    {
      method: "POST",
      path: "/v1/messages/count_tokens",
      async handle(_event, visit) {
        const principal = await keyHolderOf(visit, parts.identities);
        const claim = visit.memory?.claim(principal.userId);
        try {
          const input_tokens = await atMost(principal.userId, () => countTokens(parts, visit, principal, claim));
          return jsonResponse(200, { input_tokens });
        } finally {
          claim?.release();
        }
      },
    },
  ];
}

/** @throws GatewayError in the order of checks of the inference routes (decisions 4). */
async function countTokens(
  { snapshot, validateTokenCount, tokensIn }: RouteParts,
  visit: Visit,
  principal: Principal,
  claim: Claim | undefined,
): Promise<number> {
  const { models, tiers, server } = snapshot();
  const body = await readWhole(visit, Math.min(MOST_BYTES, server.bodyLimit), claim);
  const fault = validateTokenCount(body);
  if (fault !== null) throw invalidRequest(fault.pointer, fault.what);
  const { model: id, text } = readCountTokens(body);
  const model = models[id];
  if (model?.kind !== "chat") throw new GatewayError("INVALID_MODEL", `Invalid model: '${id}'`);
  if (!mayCall(tiers[principal.tier], model)) {
    throw new GatewayError("MODEL_NOT_ALLOWED", `Model '${id}' is not available on your plan`);
  }
  return tokensIn(text);
}

async function readWhole({ req }: Visit, limit: number, claim: Claim | undefined): Promise<Json> {
  requireJson(req);
  return parseJson(await readBody(req, limit, { ...(claim && { claim }) }).finally(() => req.resume()));
}
