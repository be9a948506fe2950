import type { Call, Target } from "../../kit/index.ts";
import type { Codec } from "../dialect.ts";
import { FEATURES, type FeatureName } from "./features.ts";
import { type ChatDialect, SUPPORT } from "./support.ts";

/** Words of a model's `features` that are no names of features: what of it must be carried, any one of them. */
const WORDS: Readonly<Record<string, readonly FeatureName[]>> = {
  reasoning: ["reasoning_effort", "thinking_budget"],
  thinking: ["reasoning_effort", "thinking_budget"],
  images: ["vision"],
  pdf: ["documents"],
  files: ["documents"],
  audio_input: ["audio"],
  function_calling: ["tools"],
  json_mode: ["json_object"],
  structured_output: ["json_schema"],
  structured_outputs: ["json_schema"],
  caching: ["prompt_caching"],
};

/** How a feature is asked for. */
export interface Way {
  readonly dialect: ChatDialect;
  readonly codec: Codec;
  /** The codec is that of one upstream, whose vendor may take less than the dialect has. */
  readonly located: boolean;
}

/**
 * Whether a promise of a chat model is lost on the way to an upstream: its dialect has no place for it, or its vendor does
 * not take it.
 * @param promise a word of the model's `features`; one that no dialect knows is never lost.
 * @param model the upstream's name for it.
 */
export function loses(way: Way, promise: string, model: string): boolean {
  const wanted = Object.hasOwn(WORDS, promise) ? WORDS[promise]! : isFeature(promise) ? [promise] : [];
  return wanted.length > 0 && wanted.every((feature) => isDropped(way, feature, model));
}

function isFeature(name: string): name is FeatureName {
  return Object.hasOwn(FEATURES, name);
}

function isDropped({ dialect, codec, located }: Way, feature: FeatureName, model: string): boolean {
  const support = SUPPORT[dialect][feature];
  const asked = support === "model" || (located && support === "carried");
  return asked ? droppedOf(codec, feature, model).length > 0 : support === "dropped";
}

/** What the translation itself reports of a request for the feature. */
function droppedOf(codec: Codec, feature: FeatureName, model: string): readonly string[] {
  const { body } = FEATURES[feature];
  const call: Call = { kind: "chat", model, stream: false, body, promptBytes: 0, maxOutput: null };
  return codec.request(call, targetOf(model), "").dropped ?? [];
}

function targetOf(model: string): Target {
  const timeouts = { connect: 0, firstByte: 0, idle: 0, total: 0 };
  return { upstream: "", model, weight: 1, timeouts, contextWindow: null, features: [] };
}
