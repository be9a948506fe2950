import {
  type Bill,
  type BillingSettings,
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
      async settle(ending, { model }): Promise<Bill> {
        const policy = policyOf(ending, outcomes);
        if (policy === null) return FREE;
        const { usage, estimated } = await count(ending);
        if (policy === "free") return { usage, estimated, charge: 0n };
        return { usage, estimated, charge: tariffs.get(model.id)?.charge(usage) ?? 0n };
      },
    };
  },
});

/** null: nothing was produced, nothing is owed. */
function policyOf(ending: Ending, outcomes: BillingSettings["outcomes"]): OutcomePolicy | null {
  switch (ending.kind) {
    case "served":
      // A stream that broke off has no count either, but its own setting: `no_usage` is about whole answers.
      return ending.usage === null ? outcomes.no_usage : "delivered";
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

/** A stream that broke off has no count of its own: prompt and what was produced up to then are counted by tokenizer. */
async function count(ending: Ending): Promise<{ readonly usage: Usage; readonly estimated: boolean }> {
  if (ending.usage !== null) return { usage: ending.usage, estimated: false };
  const [prompt, completion] = await Promise.all([ending.countPrompt(), ending.countDelivered()]);
  return { usage: { prompt, completion, cached: 0, reasoning: 0 }, estimated: true };
}
