import { isJson } from "../../src/kit/index.ts";
import type { SweepCase } from "./cases.ts";
import type { SweepTarget } from "./targets.ts";

/**
 * Cases that no target can serve, with the reason: legal in their format, but answered 400 before an upstream is asked. By
 * `format/case`.
 */
const REFUSED: Readonly<Record<string, string>> = {};

/** What single targets cannot serve, by their names. */
const REFUSED_AT: Readonly<Record<string, { readonly because: string; readonly when: (one: SweepCase) => boolean }>> = {
  "openai/gpt-6 via chat": {
    because:
      "it always reasons, and its chat endpoint takes no tools while it does; `api: auto` asks the other endpoint",
    when: ({ body: { tools, functions } }) =>
      [tools, functions].some((one) => Array.isArray(one) && one.some(isClients)),
  },
};

/** Those that run at a provider are left out there. */
function isClients(tool: unknown): boolean {
  return isJson(tool) && [undefined, "function", "custom", "namespace"].includes(tool["type"] as string | undefined);
}

/** Why a case is refused at a target; undefined where it must be served. */
export function refusedAt(one: SweepCase, target: SweepTarget): string | undefined {
  const at = REFUSED_AT[target.name];
  return REFUSED[`${one.format}/${one.name}`] ?? (at?.when(one) === true ? at.because : undefined);
}
