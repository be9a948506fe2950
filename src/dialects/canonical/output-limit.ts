import { type Call, isJson, type Target } from "../../kit/index.ts";
import { Edits } from "./json.ts";
import { clientPointer } from "./parameters.ts";
import type { KeptBack } from "./report.ts";

/** The names under which any client's limit stands in a canonical body. */
const LIMITS = ["max_tokens", "max_completion_tokens"] as const;

/**
 * The call with its limit of output lowered to the `max_output` of the target's model, whatever the client called it and
 * whatever the upstream does. What is lowered is told. A budget for thinking is a part of the limit, so it is lowered too.
 */
export function withinMaxOutput(call: Call, { maxOutput }: Target): KeptBack {
  if (maxOutput === undefined || call.kind !== "chat") return { call, dropped: [] };
  const edits = new Edits(call.body);
  const lowered: string[] = [];
  for (const name of LIMITS) {
    const asked = call.body[name];
    if (typeof asked !== "number" || asked <= maxOutput) continue;
    edits.set(name, maxOutput);
    lowered.push(`/${name}`);
  }
  if (lowered.length === 0) return { call, dropped: [] };
  const { thinking } = call.body;
  const budget = isJson(thinking) ? thinking["budget_tokens"] : undefined;
  if (isJson(thinking) && typeof budget === "number" && budget >= maxOutput) {
    edits.set("thinking", { ...thinking, budget_tokens: maxOutput - 1 });
    lowered.push("/thinking/budget_tokens");
  }
  const dropped = new Set(lowered.map((pointer) => clientPointer(call, pointer)));
  return { call: { ...call, body: edits.object }, dropped: [...dropped] };
}
