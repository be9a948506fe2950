import type { TestUser } from "../../support/in-process.ts";
import { tier } from "../../support/gateway-config.ts";
import { STREAMS, WORDS } from "./providers.ts";
import { ErrorStage, refuses, streams } from "./stage.ts";

/** What a client of a gateway may meet, in the order of the table in `docs/clients.md`. */
export const SITUATIONS = [
  "wrong key",
  "unknown model",
  "model not in the plan",
  "no credits",
  "rate limit",
  "malformed body",
  "provider's rate limit",
  "provider refuses a field",
  "prompt too long",
  "every upstream is down",
  "stream breaks off",
] as const;
export type SituationName = (typeof SITUATIONS)[number];

/** How a request meets it. */
export interface Meeting {
  readonly key: string;
  readonly model: string;
  readonly stream: boolean;
}

const { limited, tooLong, tooMuch } = WORDS.openai;
const { type, begin } = STREAMS.openai;

/** @param who meets them: each has upstreams of their own, for one that limits its rate is left alone afterwards. */
export async function startSituations(
  who: readonly string[],
): Promise<{ readonly stage: ErrorStage; readonly meet: (name: SituationName, who: string) => Meeting }> {
  const provider = "openai" as const;
  const chains = who.flatMap((one) => [
    [`fine-${one}`, [{ provider, plays: streams(type, begin, (res) => res.end()) }]] as const,
    [`limited-${one}`, [{ provider, plays: refuses(limited) }]] as const,
    [`field-${one}`, [{ provider, plays: refuses(tooMuch) }]] as const,
    [`long-${one}`, [{ provider, plays: refuses(tooLong) }]] as const,
    [`down-${one}`, [{ provider, plays: (res: { destroy(): void }) => res.destroy() }]] as const,
  ]);
  const stage = await ErrorStage.start(Object.fromEntries(chains), {
    tiers: { Busy: tier({ minute: 0 }) },
    models: {
      "route/premium": {
        kind: "chat",
        tier: "Max",
        owned_by: "elsewhere",
        price: { input_per_million: 1, output_per_million: 2 },
        chain: [{ upstream: `fine-${who[0]}-1`, model: "up" }],
      },
    },
  });
  const users: Record<string, TestUser> = {
    free: await stage.gateway.user({ tier: "Free" }),
    poor: await stage.gateway.user({ credits: "0" }),
    busy: await stage.gateway.user({ tier: "Busy" }),
  };
  const plain = { key: stage.user.key, stream: false };
  const meet = (name: SituationName, one: string): Meeting => {
    const fine = { ...plain, model: `route/fine-${one}` };
    switch (name) {
      case "wrong key":
        return { ...fine, key: `rk_${"0".repeat(64)}` };
      case "unknown model":
        return { ...fine, model: "route/nothing" };
      case "model not in the plan":
        return { ...fine, model: "route/premium", key: users["free"]!.key };
      case "no credits":
        return { ...fine, key: users["poor"]!.key };
      case "rate limit":
        return { ...fine, key: users["busy"]!.key };
      case "malformed body":
        return { ...fine, model: "" };
      case "provider's rate limit":
        return { ...plain, model: `route/limited-${one}` };
      case "provider refuses a field":
        return { ...plain, model: `route/field-${one}` };
      case "prompt too long":
        return { ...plain, model: `route/long-${one}` };
      case "every upstream is down":
        return { ...plain, model: `route/down-${one}` };
      case "stream breaks off":
        return { ...fine, stream: true };
    }
  };
  return { stage, meet };
}
