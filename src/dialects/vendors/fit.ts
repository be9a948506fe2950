import { type EffortLevel, EFFORTS, isJson, type Json } from "../../kit/index.ts";
import { fitSchema } from "../schemas/fit.ts";
import { vendorSchemas } from "../schemas/rules.ts";
import type { Work } from "../schemas/work.ts";
import type { Rules } from "./types.ts";

/** Most tokens of thought that still are an effort, as upstreams translate efforts into budgets. */
const BUDGETS: readonly (readonly [number, EffortLevel])[] = [
  [2_048, "low"],
  [16_384, "medium"],
];

type EffortRules = Pick<Rules, "efforts" | "reasoningOff" | "unknownFields">;

/** The fields that say how much to reason, and the pointers of what they cannot say. */
interface Effort {
  readonly fields: Json;
  readonly lost: readonly string[];
}

/**
 * How much to reason, in the target's words. `thinking` speaks where `reasoning_effort` does not: `adaptive` is what
 * models do unasked. What the target does not know is the next lower level that it does, else its lowest; only an effort
 * of `none`, or thinking that is disabled, turns reasoning off.
 */
export function effortOf({ reasoning_effort: effort, thinking }: Json, rules: EffortRules): Effort {
  const disabled = isJson(thinking) && thinking["type"] === "disabled";
  if (typeof effort === "string") {
    const { fields, lost } = isLevel(effort)
      ? fittedEffort(effort, "/reasoning_effort", rules)
      : unknown(effort, rules);
    return { fields, lost: disabled && (effort !== "none" || lost.length > 0) ? [...lost, "/thinking"] : lost };
  }
  if (effort !== undefined && effort !== null) return unknown(effort, rules);
  if (!isJson(thinking) || thinking["type"] === "adaptive") return { fields: {}, lost: [] };
  if (disabled) return turnedOff(rules) ?? { fields: {}, lost: ["/thinking"] };
  const { type, budget_tokens: budget } = thinking;
  if (type !== "enabled" || typeof budget !== "number") return { fields: {}, lost: ["/thinking"] };
  return fittedEffort(BUDGETS.find(([most]) => budget <= most)?.[1] ?? "high", "/thinking", rules);
}

function isLevel(effort: string): effort is EffortLevel {
  return (EFFORTS as readonly string[]).includes(effort);
}

/** A level that nobody here knows is for those alone that take what nobody knows. */
function unknown(effort: unknown, { efforts, unknownFields }: EffortRules): Effort {
  if (unknownFields && efforts.length > 0) return { fields: { reasoning_effort: effort }, lost: [] };
  return { fields: {}, lost: ["/reasoning_effort"] };
}

function fittedEffort(level: EffortLevel, at: string, rules: EffortRules): Effort {
  const { efforts, reasoningOff } = rules;
  const off = level === "none" ? turnedOff(rules) : null;
  if (off !== null) return off;
  const nearest = nearestEffort(level, efforts);
  if (nearest !== null) return { fields: { reasoning_effort: nearest }, lost: [] };
  if (reasoningOff === "thinking" && level !== "none") return { fields: { thinking: { type: "enabled" } }, lost: [] };
  return { fields: {}, lost: [at] };
}

/** The level itself, the next lower one, else the lowest; null where no level but `none` is taken. */
function nearestEffort(level: EffortLevel, efforts: readonly EffortLevel[]): EffortLevel | null {
  const rank = EFFORTS.indexOf(level);
  // What asks for some reasoning does not turn it off; `minimal` is hardly any.
  const taken = level === "minimal" || level === "none" ? efforts : efforts.filter((effort) => effort !== "none");
  if (taken.every((effort) => effort === "none") && level !== "none") return null;
  return taken.findLast((effort) => EFFORTS.indexOf(effort) <= rank) ?? taken[0] ?? null;
}

/** How a target is told not to reason; null where it cannot be told. */
function turnedOff({ efforts, reasoningOff }: EffortRules): Effort | null {
  switch (reasoningOff) {
    case "thinking":
      return { fields: { thinking: { type: "disabled" } }, lost: [] };
    case "enable_thinking":
      return { fields: { enable_thinking: false }, lost: [] };
    case "effort":
      return efforts.includes("none") ? { fields: { reasoning_effort: "none" }, lost: [] } : null;
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
  const rules = vendorSchemas(target, strict);
  if (rules === null || !isJson(schema)) return { owner, dropped: [] };
  const fitted = fitSchema(schema, rules, work);
  if (strict && !fitted.shaped) return { owner: { ...owner, strict: false }, dropped: ["/strict"] };
  return {
    owner: fitted.schema === schema ? owner : { ...owner, [name]: fitted.schema },
    dropped: fitted.dropped.map((pointer) => `/${name}${pointer}`),
  };
}
