import type { TierConfig } from "#schema";
import { join } from "../diagnostics.ts";
import type { Loose } from "../validate.ts";
import type { LinkContext } from "./context.ts";

/** Access lists name tiers that are defined. */
export function linkTiers(context: LinkContext): void {
  for (const [name, tier] of Object.entries(context.config.tiers ?? {})) {
    if (!Array.isArray(tier?.access)) continue;
    const access: readonly (string | undefined)[] = tier.access;
    for (const [index, other] of access.entries())
      context.resolve("tiers", other, join("/tiers", name, "access", index));
  }
}

/** Whether a plan may call models of a tier; a plan that is wrong in itself is taken to. */
export function canCall(plan: Loose<TierConfig> | undefined, modelTier: string): boolean {
  const access: "all" | readonly (string | undefined)[] = plan?.access ?? "all";
  return access === "all" || access.includes(modelTier);
}
