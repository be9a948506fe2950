import type { Json } from "../../src/kit/index.ts";
import type { SweepCase } from "./cases.ts";
import type { SweepTarget } from "./targets.ts";

/**
 * Cases that no target can serve, with the reason: legal in their format, but answered 400 before an upstream is asked. By
 * `format/case`.
 */
const REFUSED: Readonly<Record<string, string>> = {};

/** What one target cannot serve, by its name. */
const REFUSED_AT: Readonly<Record<string, Refusal>> = {
  "openai/gpt-6 via chat": {
    reason: "the model takes tools at the Responses endpoint alone, and `api: chat` keeps a request from it",
    refuses: ({ tools, functions }) => isList(functions) || (isList(tools) && tools.some(runsAtClient)),
  },
};

const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

/** Others run at a provider, and are dropped. */
function runsAtClient({ type, input_schema: schema }: Json): boolean {
  return schema !== undefined || /^(?:function|custom|namespace|local_shell|shell|apply_patch)$/.test(String(type));
}

interface Refusal {
  readonly reason: string;
  readonly refuses: (body: Json) => boolean;
}

/** Why a case is refused at a target; undefined where it must be served. */
export function refusedAt({ format, name, body }: SweepCase, target: SweepTarget): string | undefined {
  const { [target.name]: here } = REFUSED_AT;
  return REFUSED[`${format}/${name}`] ?? (here?.refuses(body) === true ? here.reason : undefined);
}
