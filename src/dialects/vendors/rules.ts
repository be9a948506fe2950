import { type Accepts, type Vendor, VENDORS } from "../../kit/index.ts";
import type { Location } from "../dialect.ts";
import { HOSTS } from "./hosts.ts";
import { MAKERS } from "./makers.ts";
import { azure, openai } from "./openai.ts";
import { OPENAI_FIELDS, SAMPLING } from "../canonical/parameters.ts";
import { type Entry, NO_FIELDS, OTHER_MODEL_OR_RATE, type RuledVendor, type Rules } from "./types.ts";

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

function overridden(rules: Rules, accepts: Accepts): Rules {
  const { fields, sampling, reasoningEcho, ...single } = accepts;
  const named = new Set(fields);
  const sampled = sampling === undefined ? null : sampling ? GENERIC.sampling : NO_FIELDS;
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

/** A server of which nothing is known but that it calls itself OpenAI-compatible: what a chat client wrote travels. */
const GENERIC: Rules = {
  vendor: "generic",
  outputLimit: "either",
  efforts: ["none", "minimal", "low", "medium", "high"],
  reasoningOff: "effort",
  reasoningEcho: "never",
  reasoningDemanded: null,
  unknownFields: true,
  fields: new Set(OPENAI_FIELDS),
  renamedFields: {},
  refusedFields: OTHER_MODEL_OR_RATE,
  messageFields: new Set(["name", "refusal", "audio", "function_call"]),
  toolTypes: new Set(["custom"]),
  stop: Number.POSITIVE_INFINITY,
  // Other than most limits this one costs nothing to keep: names are mapped back.
  toolName: 64,
  toolNameCharacters: "any",
  toolChoice: "any",
  user: Number.POSITIVE_INFINITY,
  streamOptions: true,
  developerRole: true,
  strictTools: true,
  toolCallIds: "any",
  toolCallId: 64,
  sampling: SAMPLING,
  samplingWithoutReasoning: SAMPLING,
  schemaKeywords: null,
  structuredOutput: "beside_tools",
  endpoint: "chat",
};

/** Of the models that any server may have. */
const generic: Entry = {
  source: ["nothing is known, so a chat client's body travels"],
  rules: { reasoningOff: "never" },
  models: [
    {
      match: /(?:^|\/)(?:o[134](?:-|$)|gpt-[5-9])/,
      source: ["@ai-sdk/openai dist/index.js getOpenAILanguageModelCapabilities"],
      rules: { outputLimit: "max_completion_tokens" },
    },
    {
      match: /deepseek|kimi|(?:^|\/)glm-/i,
      source: [
        "https://api-docs.deepseek.com/guides/thinking_mode",
        "https://docs.z.ai/guides/capabilities/thinking-mode",
      ],
      rules: { reasoningEcho: "reasoning_content" },
    },
  ],
};

export const TABLE: Readonly<Record<RuledVendor, Entry>> = { openai, azure, ...MAKERS, ...HOSTS, generic };
