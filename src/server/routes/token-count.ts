import { readCountTokens } from "../../dialects/clients/messages.ts";
import { GatewayError, invalidRequest, type Json } from "../../kit/index.ts";
import { jsonResponse, type Route, type Visit } from "../app.ts";
import { readBody, requireJson } from "../body.ts";
import { parseJson } from "../json.ts";
import { keyHolderOf } from "./caller.ts";
import { mayCall } from "./catalogue.ts";
import type { RouteParts } from "./parts.ts";

/**
 * Counts a Messages request's tokens with the gateway's own tokenizer: no upstream is asked, nothing is counted against
 * the caller and nothing charged (decisions 7).
 */
export function tokenCountRoutes(parts: RouteParts): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/v1/messages/count_tokens",
      handle: async (_event, visit) => jsonResponse(200, { input_tokens: await countTokens(parts, visit) }),
    },
  ];
}

/** @throws GatewayError in the order of checks of the inference routes (decisions 4). */
async function countTokens({ snapshot, identities, validateTokenCount, tokensIn }: RouteParts, visit: Visit) {
  const principal = await keyHolderOf(visit, identities);
  const { models, tiers, server } = snapshot();
  const body = await readWhole(visit, server.bodyLimit);
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

/** As long as an inference request may be: agents count what they are about to send. */
async function readWhole({ req }: Visit, limit: number): Promise<Json> {
  requireJson(req);
  return parseJson(await readBody(req, limit).finally(() => req.resume()));
}
