import { readCountTokens } from "../../dialects/messages/client/format.ts";
import { referencesIn } from "../../dialects/references/find.ts";
import {
  firstTarget,
  GatewayError,
  invalidRequest,
  keyMayCall,
  lifecycleHeaders,
  mediaTokensAt,
  mayCall,
  modelAt,
  notOfKey,
  type Principal,
  requireTakenReferences,
  tierOf,
} from "../../kit/index.ts";
import type { ByteClaim } from "../byte-budget.ts";
import { keyHolderOf } from "../credentials.ts";
import { BODY_ERRORS, CALLER_ERRORS, json, type RouteEndpoint, type RouteParts } from "../endpoint.ts";
import { readObject } from "../request-body.ts";
import { type Route, type RouteContext, textResponse } from "../router.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Counts that one user may have under way. */
const MAX_AT_ONCE = 4;
const MINUTE_MS = 60_000;

/**
 * Counts a Messages request's tokens with the gateway's own tokenizer: no upstream is asked, no limit of requests is
 * touched and nothing charged. What bounds it is a budget of bytes a minute and user.
 */
export const COUNT_TOKENS: RouteEndpoint = {
  method: "POST",
  credentials: "API key",
  tag: "Inference",
  path: "/v1/messages/count_tokens",
  id: "countMessageTokens",
  summary: "Count a Messages request's tokens",
  description:
    "By the gateway's own tokenizer; counts against no limit of requests and costs nothing. At most 4 MiB, four at once a user, and server.count_budget bytes a minute.",
  request: { required: true, content: json("CountTokensRequest") },
  answers: { 200: { description: "The count.", content: json("TokenCount") } },
  errors: [...BODY_ERRORS, ...CALLER_ERRORS, "INVALID_MODEL", "MODEL_NOT_ALLOWED", "RATE_LIMIT_ERROR", "OVERLOADED"],
  messagesErrors: true,
  route: countTokensRoute,
};

/** Bytes of bodies that users have had counted in a minute of UTC, in this process: each has a tokenizer of its own. */
class CountBudget {
  readonly #used = new Map<string, number>();
  #minute = 0;

  /** @throws GatewayError 429 for more than the user has left. */
  require(userId: string, bytes: number, budget: number, now: number): void {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.#minute) this.#used.clear();
    this.#minute = minute;
    if ((this.#used.get(userId) ?? 0) + bytes <= budget) return;
    const retryAfter = ((minute + 1) * MINUTE_MS - now) / 1000;
    throw new GatewayError("RATE_LIMIT_ERROR", "Per-minute count_tokens budget exceeded", { retryAfter });
  }

  /** @throws GatewayError 429; then nothing was taken. */
  take(userId: string, bytes: number, budget: number, now: number): void {
    this.require(userId, bytes, budget, now);
    this.#used.set(userId, (this.#used.get(userId) ?? 0) + bytes);
  }
}

function countTokensRoute(parts: RouteParts): Route["handle"] {
  const budget = new CountBudget();
  /** Counts that run, by user. */
  const running = new Map<string, number>();
  const atMost = async <T>(userId: string, work: () => Promise<T>): Promise<T> => {
    const others = running.get(userId) ?? 0;
    if (others >= MAX_AT_ONCE) {
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
  return async (_event, context) => {
    const principal = await keyHolderOf(context, parts.identities);
    const shed = parts.shed(principal.tier);
    if (shed !== null) throw shed;
    const claim = context.memory?.claim(principal.userId);
    try {
      const counted = await atMost(principal.userId, () => countTokens(parts, context, principal, { claim, budget }));
      const body = JSON.stringify({ input_tokens: counted.tokens });
      return textResponse(200, "application/json", body, lifecycleHeaders(parts.snapshot(), counted.model));
    } finally {
      claim?.release();
    }
  };
}

/** @throws GatewayError in the order of checks of the inference routes. */
async function countTokens(
  { snapshot, validateTokenCount, tokensIn, now }: RouteParts,
  { req }: RouteContext,
  principal: Principal,
  { claim, budget }: { readonly claim: ByteClaim | undefined; readonly budget: CountBudget },
): Promise<{ readonly tokens: number; readonly model: string }> {
  const current = snapshot();
  const { tiers, server } = current;
  const { bodyLimit, countBudget } = server;
  const { userId } = principal;
  // What is announced beyond the budget is not read, still less parsed.
  const announced = Number(req.headers["content-length"] ?? 1);
  if (announced <= countBudget) budget.require(userId, announced, countBudget, now());
  const body = await readObject(req, Math.min(MAX_BODY_BYTES, bodyLimit, countBudget), claim);
  const fault = validateTokenCount(body);
  if (fault !== null) throw invalidRequest(fault.pointer, fault.what);
  const { model: id, text, media } = readCountTokens(body);
  const references = referencesIn(body);
  const model = modelAt(current, id, now());
  if (model?.kind !== "chat") throw new GatewayError("INVALID_MODEL", `Invalid model: '${id}'`);
  if (!mayCall(tierOf({ tiers }, principal.tier), model)) {
    throw new GatewayError("MODEL_NOT_ALLOWED", `Model '${id}' is not available on your plan`);
  }
  if (!keyMayCall(principal.keyLimits, model.id)) throw notOfKey(id);
  // What no upstream of the model would be sent has no count.
  requireTakenReferences({ kind: "chat", references }, model, current.upstreams);
  budget.take(userId, claim?.bytes ?? Buffer.byteLength(text), countBudget, now());
  const ofMedia = mediaTokensAt(media, firstTarget(model), current.upstreams);
  return { tokens: ofMedia + (await tokensIn(text, userId)), model: id };
}
