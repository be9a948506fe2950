import type { Json } from "../../kit/index.ts";
import { VERSION } from "./headers.ts";
import type { ModelRules } from "./models.ts";

export interface SamplingRequest {
  readonly body: Json;
  readonly rules: ModelRules;
  readonly version: string;
  /** The model thinks first, which the API allows at its own temperature only. */
  readonly thinks: boolean;
  readonly verbatim: boolean;
  readonly lose: (pointer: string) => void;
}

const NAMES = ["temperature", "top_p", "top_k"] as const;

/** `temperature`, `top_p` and `top_k` as far as version, model and thinking allow; the API answers 400 to any other. */
export function samplingOf({ body, rules, version, thinks, verbatim, lose }: SamplingRequest): Json {
  const allowed = version <= VERSION && rules.sampling !== "none" && (verbatim || !thinks);
  const kept: Record<string, unknown> = {};
  for (const name of NAMES) {
    const value = body[name];
    if (typeof value !== "number") continue;
    const standard = name !== "top_k" && value === 1;
    if (standard && !(verbatim && allowed)) continue;
    const second = !verbatim && name === "top_p" && rules.sampling === "one" && kept["temperature"] !== undefined;
    if (!allowed || second) lose(`/${name}`);
    else kept[name] = value;
  }
  const { temperature } = kept;
  if (typeof temperature === "number" && temperature > 1) {
    lose("/temperature");
    kept["temperature"] = 1;
  }
  return kept;
}
