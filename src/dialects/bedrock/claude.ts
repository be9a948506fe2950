import { VERSION } from "../anthropic/headers.ts";
import { rulesOf } from "../anthropic/models.ts";
import { maxTokensOf, samplingOf, thinkingOf } from "../anthropic/options.ts";
import type { Json } from "../../kit/index.ts";
import { callsWithoutThinking } from "../reasoning.ts";
import { numberAt } from "./options.ts";
import type { Translation } from "./translation.ts";

export interface Asked {
  /** Converse's id for the model. */
  readonly model: string;
  /** The conversation in Converse's form. */
  readonly turns: readonly Json[];
  /** A tool must be called. */
  readonly forced: boolean;
}

export interface Settled {
  /** The canonical body, its sampling as the model takes it. */
  readonly body: Json;
  /** `additionalModelRequestFields`. */
  readonly fields: Json;
}

/**
 * How a Claude model thinks and samples: by the rules of its generation, the same wherever it is served. One that is told
 * what it does not know refuses the request.
 * @throws GatewayError for a value of the wrong type.
 */
export function settled(body: Json, { model, turns, forced }: Asked, translation: Translation): Settled {
  const rules = rulesOf(model.toLowerCase());
  const { report } = translation;
  const maxTokens = maxTokensOf(body, rules, report);
  const { thinking, effort } = thinkingOf({
    body,
    rules,
    maxTokens,
    forced,
    unthoughtCalls: callsWithoutThinking(turns, kindOf),
    verbatim: false,
    report,
  });
  for (const name of SAMPLING) numberAt(body, name, translation);
  const thinks = thinking !== undefined && thinking["type"] !== "disabled";
  const sampling = samplingOf({ body, rules, version: VERSION, thinks, verbatim: false, report });
  const others = Object.entries(body).filter(([name]) => !SAMPLING.includes(name));
  return {
    body: { ...Object.fromEntries(others), ...limitOf(body, maxTokens), ...sampling },
    fields: {
      ...(thinking === undefined ? {} : { thinking }),
      ...(effort === undefined ? {} : { output_config: { effort } }),
    },
  };
}

/** The client's own limit, as far as the model can write so much; none where it named none. */
function limitOf(body: Json, maxTokens: number): Json {
  const name = ["max_completion_tokens", "max_tokens"].find((name) => typeof body[name] === "number");
  return name === undefined ? {} : { [name]: maxTokens };
}

const SAMPLING: readonly string[] = ["temperature", "top_p", "top_k"];

function kindOf(block: Json): "thought" | "call" | null {
  if ("reasoningContent" in block) return "thought";
  return "toolUse" in block ? "call" : null;
}
