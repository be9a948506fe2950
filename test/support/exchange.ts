import { type Exchange, type Json, type Principal, type Snapshot } from "../../src/kit/index.ts";
import { readChat } from "../../src/dialects/chat/client.ts";
import { ManualClock } from "./clock.ts";

export interface ExchangeParts {
  readonly model?: string;
  readonly tier?: string;
  readonly body?: Json;
  readonly principal?: Partial<Principal>;
  readonly signal?: AbortSignal;
}

/** An admitted chat request of ann for a model and tier of the snapshot. */
export function testExchange(snapshot: Snapshot, parts: ExchangeParts = {}): Exchange {
  const { model = "route/free", tier = "Free" } = parts;
  const body = { model, messages: [{ role: "user", content: "hi" }], ...parts.body };
  return Object.freeze({
    id: "exchange-1",
    requestId: "request-1",
    receivedAt: new ManualClock().now(),
    readAt: new ManualClock().now(),
    endpoint: "chat" as const,
    principal: { userId: "ann", tier, keyId: "key_ann", ...parts.principal },
    tier: snapshot.tiers[tier]!,
    model: snapshot.models[model]!,
    call: Object.freeze(readChat(body)),
    signal: parts.signal ?? new AbortController().signal,
  });
}
