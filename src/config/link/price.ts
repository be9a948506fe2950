import type { ModelConfig, PriceConfig } from "#schema";
import type { Kind } from "../../kit/index.ts";
import { join } from "../diagnostics.ts";
import type { Loose } from "../validate.ts";
import type { LinkContext } from "./context.ts";

type Unit = keyof PriceConfig;

/** The units a kind may have, and the sets of which one must be there. */
const UNITS: Readonly<
  Record<Kind, { readonly allowed: readonly Unit[]; readonly required: readonly (readonly Unit[])[] }>
> = {
  chat: {
    allowed: [
      "input_per_million",
      "output_per_million",
      "cached_input_per_million",
      "cache_write_per_million",
      "cache_write_1h_per_million",
      "reasoning_per_million",
      "per_request",
    ],
    required: [["input_per_million", "output_per_million"]],
  },
  embedding: {
    allowed: ["input_per_million", "output_per_million", "cached_input_per_million", "per_request"],
    required: [["input_per_million"], ["per_request"]],
  },
  rerank: {
    allowed: ["input_per_million", "output_per_million", "per_request"],
    required: [["per_request"], ["input_per_million"]],
  },
  speech: {
    allowed: ["per_million_characters", "per_request"],
    required: [["per_million_characters"], ["per_request"]],
  },
  transcription: { allowed: ["per_second", "per_request"], required: [["per_second"], ["per_request"]] },
  image: {
    allowed: ["per_image", "per_request", "input_per_million", "output_per_million", "cached_input_per_million"],
    required: [["per_image"], ["per_request"], ["input_per_million", "output_per_million"]],
  },
};

/** Prices are there, in units of the model's kind; a free model says 0. */
export function linkPrice(context: LinkContext, { kind, price }: Loose<ModelConfig>, modelPointer: string): void {
  const pointer = join(modelPointer, "price");
  if (kind === undefined) return;
  const { allowed, required } = UNITS[kind];
  const units = Object.keys(price ?? {}) as Unit[];
  const foreign = units.filter((unit) => !allowed.includes(unit));
  for (const unit of foreign) {
    const hint = `${kind} models have: ${allowed.join(", ")}`;
    context.report(
      join(pointer, unit),
      { rule: "price-unit", message: `${kind} models have no price ${unit}`, hint },
      "key",
    );
  }
  const complete = required.some((set) => set.every((unit) => units.includes(unit)));
  if (complete || foreign.length > 0 || context.damaged(pointer) || context.misspelt(modelPointer)) return;
  const missing = (required[0] ?? []).filter((unit) => !units.includes(unit));
  const finding = {
    rule: "missing-price",
    message: `the model has no price ${missing.join(" and no ")}`,
    hint: "a free model says 0",
  } as const;
  context.report(price === undefined ? modelPointer : pointer, finding, "key");
}
