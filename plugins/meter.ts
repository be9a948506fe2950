import {
  type Bill,
  type BillingSettings,
  type Call,
  definePlugin,
  type Ending,
  type OutcomePolicy,
  tariffsOf,
  type Usage,
} from "#kit";
import type { MeterOptions } from "#schema";

const NO_USAGE: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };
const FREE: Bill = { usage: NO_USAGE, estimated: false, charge: 0n };

/** Says what an exchange costs: the upstream's count where there is one, else by `billing.outcomes` (decisions 6). */
export default definePlugin<MeterOptions>({
  name: "meter",
  stage: "account",
  schema: new URL("../schemas/plugins/meter.schema.json", import.meta.url),
  setup(_options, { snapshot }) {
    const { outcomes } = snapshot.billing;
    const tariffs = tariffsOf(snapshot);
    return {
      async settle(ending, { model, call }): Promise<Bill> {
        const tariff = tariffs.get(model.id);
        const estimated = tariff?.lacks(ending.usage) ?? false;
        const policy = policyOf(ending, estimated, outcomes);
        if (policy === null) return FREE;
        const usage = estimated ? await estimate(ending, call) : (ending.usage ?? { ...NO_USAGE, ...call.units });
        if (policy === "free") return { usage, estimated, charge: 0n };
        return { usage, estimated, charge: tariff?.charge(usage) ?? 0n };
      },
    };
  },
});

/** null: nothing was produced, nothing is owed. */
function policyOf(ending: Ending, estimated: boolean, outcomes: BillingSettings["outcomes"]): OutcomePolicy | null {
  switch (ending.kind) {
    case "served":
      // A stream that broke off has no count either, but its own setting: `no_usage` is about whole answers.
      return estimated ? outcomes.no_usage : "delivered";
    case "refused":
    case "failed":
    case "client_fault":
      return null;
    case "upstream_cut":
      return outcomes.upstream_cut;
    case "shutdown":
      return ending.begun ? outcomes.upstream_cut : null;
    case "client_gone":
    case "killed":
      return ending.begun ? outcomes[ending.kind] : null;
  }
}

/** What the upstream did say stays; a stream that broke off has no count of its own at all. */
async function estimate(ending: Ending, { units }: Call): Promise<Usage> {
  return ending.usage === null ? ending.estimate() : { ...ending.usage, ...units };
}
