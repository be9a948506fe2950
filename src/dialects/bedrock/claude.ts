import { VERSION } from "../anthropic/headers.ts";
import { rulesOf } from "../anthropic/models.ts";
import { maxTokensOf } from "../anthropic/options.ts";
import { samplingOf } from "../anthropic/sampling.ts";
import { thinkingOf } from "../anthropic/thinking.ts";
import { isJson, type Json } from "../../kit/index.ts";
import { numberAt } from "./options.ts";
import type { Translation } from "./translation.ts";

export interface Asked {
  /** Converse's id for the model. */
  readonly model: string;
  /** The conversation in Converse's form. */
  readonly turns: unknown;
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
  const lose = (pointer: string): void => translation.report.drop(pointer);
  const { thinking, effort } = thinkingOf({
    body,
    rules,
    maxTokens: maxTokensOf(body, rules),
    forced,
    unthoughtCalls: callsWithoutThinking(turns),
    verbatim: false,
    lose,
  });
  for (const name of SAMPLING) numberAt(body, name, translation);
  const thinks = thinking !== undefined && thinking["type"] !== "disabled";
  const sampling = samplingOf({ body, rules, version: VERSION, thinks, verbatim: false, lose });
  const others = Object.entries(body).filter(([name]) => !SAMPLING.includes(name));
  return {
    body: { ...Object.fromEntries(others), ...sampling },
    fields: {
      ...(thinking === undefined ? {} : { thinking }),
      ...(effort === undefined ? {} : { output_config: { effort } }),
    },
  };
}

const SAMPLING: readonly string[] = ["temperature", "top_p", "top_k"];

/** Whether the last turn of the model called tools without a thought before them. */
function callsWithoutThinking(turns: unknown): boolean {
  const said: readonly unknown[] = Array.isArray(turns) ? turns : [];
  const last = said.findLast((turn) => isJson(turn) && turn["role"] === "assistant");
  const content = isJson(last) ? last["content"] : undefined;
  const blocks = Array.isArray(content) ? content.filter(isJson) : [];
  return blocks.some((block) => "toolUse" in block) && !("reasoningContent" in blocks[0]!);
}
