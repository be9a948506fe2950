import { isJson, type Json } from "../../kit/index.ts";
import { SimError } from "../error.ts";
import { shown } from "../shown.ts";
import { bad } from "./refusal.ts";

const SAMPLING = ["temperature", "top_p", "top_k"];
const EFFORTS: readonly unknown[] = ["low", "medium", "high", "xhigh", "max"];
const LEAST_BUDGET = 1_024;

export interface Thinking {
  /** undefined: the request does not say. */
  readonly asked: boolean | undefined;
  /** Asked for with a budget, which has rules of its own. */
  readonly budget: boolean;
  readonly display: "summarized" | "omitted";
}

/** @throws SimError 400 */
export function parseThinking(body: Json, maximum: number): Thinking {
  const { thinking, tool_choice: choice, output_config: output } = body;
  const effort = isJson(output) ? output["effort"] : undefined;
  if (effort !== undefined && !EFFORTS.includes(effort)) {
    throw bad("output_config.effort", `Input should be ${EFFORTS.map((one) => `'${shown(one)}'`).join(", ")}`);
  }
  if (thinking === undefined) return { asked: undefined, budget: false, display: "summarized" };
  const type = isJson(thinking) ? thinking["type"] : undefined;
  if (!isJson(thinking) || !["enabled", "adaptive", "between_tools", "disabled"].includes(shown(type))) {
    throw bad(
      "thinking",
      "Input tag does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'",
    );
  }
  const { budget_tokens: budget, display } = thinking;
  if (type === "enabled") {
    if (!Number.isInteger(budget)) throw bad("thinking.enabled.budget_tokens", "Field required");
    if (Number(budget) < LEAST_BUDGET)
      throw bad("thinking.enabled.budget_tokens", "Input should be greater than or equal to 1024");
    if (Number(budget) >= maximum)
      throw new SimError(400, "`max_tokens` must be greater than `thinking.budget_tokens`.");
    if (isJson(choice) && (choice["type"] === "any" || choice["type"] === "tool"))
      throw new SimError(400, "Thinking may not be enabled when tool_choice forces tool use.");
  } else if (budget !== undefined) throw bad(`thinking.${shown(type)}.budget_tokens`, "Extra inputs are not permitted");
  return {
    asked: type !== "disabled",
    budget: type === "enabled",
    display: display === "omitted" ? "omitted" : "summarized",
  };
}

/** @throws SimError 400 for what this version of the interface, or thinking, does not go with. */
export function checkSampling(
  body: Json,
  { strict, thinks }: { readonly strict: boolean; readonly thinks: boolean },
): void {
  const given = SAMPLING.filter((name) => body[name] !== undefined);
  const [first] = given;
  if (first !== undefined && strict) throw bad(first, "is not supported in this version of the API");
  for (const name of given) {
    const value = body[name];
    if (typeof value !== "number") throw bad(name, "Input should be a valid number");
    if (value < 0 || (name !== "top_k" && value > 1)) throw bad(name, "range: 0..1");
  }
  if (!thinks) return;
  if (body["temperature"] !== undefined && body["temperature"] !== 1)
    throw new SimError(400, "`temperature` may only be set to 1 when thinking is enabled.");
  if (body["top_k"] !== undefined) throw new SimError(400, "`top_k` must be unset when thinking is enabled.");
}
