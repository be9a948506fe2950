import {
  type Bill,
  type BillingSettings,
  type CallFacts,
  definePlugin,
  type Ending,
  type OutcomePolicy,
  type Tariff,
  tariffsOf,
  type Usage,
} from "#kit";
import type { MeterOptions } from "#schema";

const NO_USAGE: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
const FREE: Bill = { usage: NO_USAGE, estimated: false, charge: 0n };

/**
 * Says what an exchange costs: the upstream's count as far as there is one, what it leaves out by
 * `billing.outcomes`.
 */
export default definePlugin<MeterOptions>({
  name: "meter",
  stage: "account",
  schema: new URL("../schemas/plugins/meter.schema.json", import.meta.url),
  setup(_options, { snapshot }) {
    const { outcomes } = snapshot.billing;
    const tariffs = tariffsOf(snapshot);
    return {
      settle(ending, { model, call }) {
        // Nobody pays for it, so no tokenizer has to run: what the upstream reported is recorded.
        if (ending.kind === "gateway_error") return { ...FREE, usage: ending.usage ?? NO_USAGE };
        const tariff = tariffs.get(model.id);
        if (ending.answeredBy !== undefined) return billOfOwn(ending, outcomes, tariff);
        const reported = ending.usageComplete ? ending.usage : null;
        const estimated = tariff?.lacks(reported) ?? false;
        const policy = policyOf(ending, estimated, outcomes);
        if (policy === null) return FREE;
        const billOf = (usage: Usage): Bill => {
          if (policy === "free") return { usage, estimated, charge: 0n };
          const owed = policy === "prompt" ? withoutImages(usage) : usage;
          return { usage: owed, estimated, charge: tariff?.charge(owed) ?? 0n };
        };
        // Most upstreams count: nothing has to be waited for.
        if (estimated) return estimate(ending, call).then(billOf);
        return billOf(ending.usage ?? { ...NO_USAGE, ...call.units });
      },
    };
  },
});

type Outcomes = BillingSettings["outcomes"];

/** Of an answer that a plugin gave: what it declares, of which nothing has to be estimated. */
function billOfOwn(ending: Ending, outcomes: Outcomes, tariff: Tariff | undefined): Bill {
  const { usage } = ending;
  const policy = policyOf(ending, false, outcomes);
  if (usage === null || policy === null) return FREE;
  return { usage, estimated: false, charge: policy === "free" ? 0n : (tariff?.charge(usage) ?? 0n) };
}

/** null: nothing was produced, nothing is owed, and nothing need be counted. */
function policyOf(ending: Ending, estimated: boolean, outcomes: Outcomes): OutcomePolicy | "prompt" | null {
  // The settings are about what broke off half-way; this answer was whole, and the upstream has counted it.
  if (ending.finished && !estimated) return "delivered";
  switch (ending.kind) {
    case "served":
      // A stream that broke off has no count either, but its own setting: `no_usage` is about whole answers.
      return estimated ? outcomes.no_usage : "delivered";
    case "refused":
      return ending.begun ? "delivered" : null;
    case "failed":
    case "client_fault":
    case "gateway_error":
      return null;
    case "upstream_cut":
      return outcomes.upstream_cut;
    case "shutdown":
      return ending.begun ? outcomes.upstream_cut : null;
    case "client_gone":
    case "killed":
      if (ending.begun) return outcomes[ending.kind];
      return ending.sent && outcomes.unanswered === "prompt" ? "prompt" : null;
  }
}

/** Of the units of a call only images are what is made, not what is asked with. */
function withoutImages(usage: Usage): Usage {
  return usage.images === undefined ? usage : { ...usage, images: 0 };
}

/** What the upstream did say stays; what was produced behind its last count is in the exchange's estimate. */
async function estimate(ending: Ending, { units }: CallFacts): Promise<Usage> {
  return ending.usageComplete && ending.usage !== null ? { ...units, ...ending.usage } : ending.estimate();
}
