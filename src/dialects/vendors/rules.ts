import { type Accepts, type EffortLevel, EFFORTS, isJson, type Json, type Vendor, VENDORS } from "../../kit/index.ts";
import { OPENAI_FIELDS, SAMPLING } from "../canonical/parameters.ts";
import { OTHER_MODEL_OR_RATE } from "../canonical/own-model.ts";
import type { Location } from "../dialect.ts";
import { ANY_ORDER } from "../canonical/turns.ts";
import { fitSchema } from "../schemas/fit.ts";
import { vendorSchemas } from "../schemas/rules.ts";
import type { Work } from "../schemas/work.ts";
import { conversationRules } from "./conversations.ts";
import { HOSTS } from "./hosts.ts";
import { MAKERS } from "./makers.ts";
import { azure, openai } from "./openai.ts";
import { type Entry, NO_FIELDS, type RuledVendor, type Rules } from "./types.ts";

/** What is taken by one model of an upstream. @param dialect whose table is meant: `azure` has an entry of its own. */
export function rulesOf(location: Location, model: string, dialect: "openai" | "azure" = "openai"): Rules {
  const vendor: RuledVendor = dialect === "azure" ? "azure" : vendorOf(location);
  const { rules, models } = TABLE[vendor];
  const found = models?.find(({ match }) => match.test(model));
  const conversation = conversationRules(vendor, model, location.baseUrl);
  const complete: Rules = { ...GENERIC, ...conversation, ...rules, ...found?.rules, vendor };
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
  const { fields, references: _references, sampling, reasoningEcho, parts, ...single } = accepts;
  const named = new Set(fields);
  const sampled = sampling === undefined ? null : sampling ? GENERIC.sampling : NO_FIELDS;
  return {
    ...rules,
    ...single,
    ...(parts !== undefined && { parts: new Set(parts) }),
    ...(accepts.cacheMarks !== undefined && { clientMarks: "any" as const }),
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
  maxOutput: Number.POSITIVE_INFINITY,
  efforts: ["none", "minimal", "low", "medium", "high"],
  reasoningOff: "effort",
  reasoningEcho: "never",
  reasoningDemanded: null,
  thoughtDemanded: false,
  unknownFields: true,
  fields: new Set(OPENAI_FIELDS),
  renamedFields: {},
  refusedFields: OTHER_MODEL_OR_RATE,
  messageFields: new Set(["name", "refusal", "audio", "function_call"]),
  toolTypes: NO_FIELDS,
  stop: Number.POSITIVE_INFINITY,
  // Other than most limits this one costs nothing to keep: names are mapped back.
  toolName: 64,
  toolNameCharacters: "any",
  toolChoice: "any",
  user: Number.POSITIVE_INFINITY,
  streamOptions: true,
  developerRole: true,
  strictTools: true,
  openaiForms: false,
  toolCallIds: "any",
  toolCallId: 64,
  sampling: SAMPLING,
  samplingWithoutReasoning: SAMPLING,
  schemaKeywords: null,
  structuredOutput: "beside_tools",
  endpoint: "chat",
  ...ANY_ORDER,
  parts: null,
  mediaTypes: null,
  imageUrls: true,
  fileUrls: false,
  reasonsByDefault: true,
  jsonObject: "any",
  jsonObjectBesideTools: true,
  verbosity: true,
  allowedTools: false,
  parametersDemanded: false,
  maxTemperature: Number.POSITIVE_INFINITY,
  maxTools: Number.POSITIVE_INFINITY,
  stopList: false,
  cacheMarks: "none",
  clientMarks: "any",
  fileForm: "file",
  reasoningBesideText: true,
};

/** Of the models that any server may have. */
const generic: Entry = {
  source: ["nothing is known, so a chat client's body travels"],
  rules: { reasoningOff: "never", toolTypes: new Set(["custom"]), openaiForms: true },
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

/** Most tokens of thought that still are an effort, as upstreams translate efforts into budgets. */
const BUDGETS: readonly (readonly [number, EffortLevel])[] = [
  [2_048, "low"],
  [16_384, "medium"],
];

type EffortRules = Pick<Rules, "efforts" | "reasoningOff" | "unknownFields">;

/** The fields that say how much to reason, and the pointers of what they cannot say. */
interface Effort {
  readonly fields: Json;
  readonly dropped: readonly string[];
}

/**
 * How much to reason, in the target's fields. `thinking` counts where there is no `reasoning_effort`: `adaptive` is what
 * models do by default. What the target does not know is the next lower level that it does, else its lowest; only an effort
 * of `none`, or thinking that is disabled, turns reasoning off.
 */
export function effortOf({ reasoning_effort: effort, thinking }: Json, rules: EffortRules): Effort {
  const disabled = isJson(thinking) && thinking["type"] === "disabled";
  if (typeof effort === "string") {
    const { fields, dropped } = isLevel(effort)
      ? fittedEffort(effort, "/reasoning_effort", rules)
      : unknown(effort, rules);
    return {
      fields,
      dropped: disabled && (effort !== "none" || dropped.length > 0) ? [...dropped, "/thinking"] : dropped,
    };
  }
  if (effort !== undefined && effort !== null) return unknown(effort, rules);
  if (!isJson(thinking) || thinking["type"] === "adaptive") return { fields: {}, dropped: [] };
  if (disabled) return turnedOff(rules) ?? { fields: {}, dropped: ["/thinking"] };
  const { type, budget_tokens: budget } = thinking;
  if (type !== "enabled" || typeof budget !== "number") return { fields: {}, dropped: ["/thinking"] };
  return fittedEffort(BUDGETS.find(([max]) => budget <= max)?.[1] ?? "high", "/thinking", rules);
}

function isLevel(effort: string): effort is EffortLevel {
  return (EFFORTS as readonly string[]).includes(effort);
}

/** A level that nobody here knows is for those alone that take what nobody knows. */
function unknown(effort: unknown, { efforts, unknownFields }: EffortRules): Effort {
  if (unknownFields && efforts.length > 0) return { fields: { reasoning_effort: effort }, dropped: [] };
  return { fields: {}, dropped: ["/reasoning_effort"] };
}

function fittedEffort(level: EffortLevel, at: string, rules: EffortRules): Effort {
  const { efforts, reasoningOff } = rules;
  const off = level === "none" ? turnedOff(rules) : null;
  if (off !== null) return off;
  const nearest = nearestEffort(level, efforts);
  if (nearest !== null) return { fields: { reasoning_effort: nearest }, dropped: [] };
  if (reasoningOff === "thinking" && level !== "none")
    return { fields: { thinking: { type: "enabled" } }, dropped: [] };
  return { fields: {}, dropped: [at] };
}

/** The level itself, the next lower one, else the lowest; null where no level but `none` is taken. */
function nearestEffort(level: EffortLevel, efforts: readonly EffortLevel[]): EffortLevel | null {
  const rank = EFFORTS.indexOf(level);
  // What asks for some reasoning does not turn it off; `minimal` is hardly any.
  const taken = level === "minimal" || level === "none" ? efforts : efforts.filter((effort) => effort !== "none");
  if (taken.every((effort) => effort === "none") && level !== "none") return null;
  return taken.findLast((effort) => EFFORTS.indexOf(effort) <= rank) ?? taken[0] ?? null;
}

/** The fields that turn reasoning off; null where the target has none. */
function turnedOff({ efforts, reasoningOff }: EffortRules): Effort | null {
  switch (reasoningOff) {
    case "thinking":
      return { fields: { thinking: { type: "disabled" } }, dropped: [] };
    case "enable_thinking":
      return { fields: { enable_thinking: false }, dropped: [] };
    case "effort":
      return efforts.includes("none") ? { fields: { reasoning_effort: "none" }, dropped: [] } : null;
    case "never":
      return null;
  }
}

interface Held {
  /** The very same object where the target takes the schema as it is. */
  readonly owner: Json;
  /** JSON pointers into the owner. */
  readonly dropped: readonly string[];
}

/**
 * A `json_schema` or a function with its schema as the target takes it. One that nothing can be held to strictly goes as it
 * is, to be followed as far as the model does by itself.
 */
export function withFittedSchema(owner: Json, name: "schema" | "parameters", target: Rules, work: Work): Held {
  const { [name]: schema } = owner;
  const strict = owner["strict"] === true;
  const rules = vendorSchemas(target, name, strict);
  if (rules === null || !isJson(schema)) return { owner, dropped: [] };
  const fitted = fitSchema(schema, rules, work);
  if (strict && !fitted.shaped) return { owner: { ...owner, strict: false }, dropped: ["/strict"] };
  return {
    owner: fitted.schema === schema ? owner : { ...owner, [name]: fitted.schema },
    dropped: fitted.dropped.map((pointer) => `/${name}${pointer}`),
  };
}
