import { type Accepts, type Vendor, VENDORS } from "../../kit/index.ts";
import type { Location } from "../dialect.ts";
import { GENERIC, TABLE } from "./table.ts";
import type { RuledVendor, Rules } from "./types.ts";

export type { Endpoint, RuledVendor, Rules } from "./types.ts";

/** What is taken by one model of an upstream. @param dialect whose table is meant: `azure` has an entry of its own. */
export function rulesOf(location: Location, model: string, dialect: "openai" | "azure" = "openai"): Rules {
  const vendor: RuledVendor = dialect === "azure" ? "azure" : vendorOf(location);
  const { rules, models } = TABLE[vendor];
  const found = models?.find(({ match }) => match.test(model));
  const complete: Rules = { ...GENERIC, ...rules, ...found?.rules, vendor };
  return location.accepts === undefined ? complete : overridden(complete, location.accepts);
}

/** The vendor as configured, else by the host. */
export function vendorOf({ vendor, baseUrl }: Location): Vendor {
  if (vendor !== undefined) return vendor;
  const host = URL.parse(baseUrl)?.hostname ?? "";
  return VENDORS.find((name) => TABLE[name].hosts?.test(host) === true) ?? "generic";
}

/** Whether the vendor is not known to do without a Responses endpoint. */
export function mayHaveResponses(location: Location): boolean {
  return TABLE[vendorOf(location)].responsesApi !== false;
}

const NONE: ReadonlySet<string> = new Set();

function overridden(rules: Rules, accepts: Accepts): Rules {
  const { fields, sampling, reasoningEcho, ...single } = accepts;
  const named = new Set(fields);
  const sampled = sampling === undefined ? null : sampling ? GENERIC.sampling : NONE;
  return {
    ...rules,
    ...single,
    fields: rules.fields.union(named),
    toolTypes: rules.toolTypes.union(named),
    refusedFields: rules.refusedFields.difference(named),
    ...(reasoningEcho !== undefined && { reasoningEcho, reasoningDemanded: null }),
    ...(sampled !== null && { sampling: sampled, samplingWithoutReasoning: sampled }),
  };
}
