import type { ModelConfig, TargetConfig } from "#schema";
import { join } from "../diagnostics.ts";
import type { Loose } from "../validate.ts";

type Chain = Loose<ModelConfig>["chain"];

export interface Place {
  readonly target: Loose<TargetConfig>;
  readonly pointer: string;
  /** The step spreads requests by weight. */
  readonly weighted: boolean;
}

/** Every target of a chain, in order, with its pointer. */
export function targetsOf(chain: Chain, pointer: string): Place[] {
  return (chain ?? []).flatMap((step, index) => {
    const at = join(pointer, index);
    if (step === undefined) return [];
    if (!("targets" in step)) return [{ target: step as Loose<TargetConfig>, pointer: at, weighted: false }];
    const weighted = step.balance === "weighted";
    const targets: readonly (Loose<TargetConfig> | undefined)[] = step.targets ?? [];
    return targets.flatMap((target, place) =>
      target ? [{ target, pointer: join(at, "targets", place), weighted }] : [],
    );
  });
}
