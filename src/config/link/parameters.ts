import type { ModelConfig, TargetConfig } from "#schema";
import { pathOf } from "../../kit/index.ts";
import { join } from "../diagnostics.ts";
import type { Loose } from "../validate.ts";
import type { LinkContext } from "./context.ts";

/** What the chain and the client decide: changed behind their backs, answers would be misread and misbilled. */
const ROUTED: ReadonlySet<string | undefined> = new Set(["model", "stream"]);

/** The `parameters` of a chain target. */
export function linkParameters(
  context: LinkContext,
  { kind }: Loose<ModelConfig>,
  { parameters }: Loose<TargetConfig>,
  targetPointer: string,
): void {
  if (parameters === undefined) return;
  const pointer = join(targetPointer, "parameters");
  if (kind === "transcription") {
    const message = "a transcription is sent as a form, not as JSON: there is nothing to change";
    context.report(pointer, { rule: "target-parameters", message, hint: "remove it" }, "key");
    return;
  }
  const { set = {}, remove = [], rename = {} } = parameters;
  const removed: ReadonlySet<string | undefined> = new Set(remove);
  const report = (at: string, [message, hint]: Mistake, place: "key" | "value" = "key"): void =>
    context.report(at, { rule: "target-parameters", message, hint }, place);

  for (const path of Object.keys(set)) {
    const at = join(pointer, "set", path);
    if (isRouted(path)) report(at, routed(path));
    else if (removed.has(path)) report(at, [`'${path}' is set and removed`, "set alone replaces what was there"]);
  }
  for (const [index, path] of remove.entries()) {
    if (path !== undefined && isRouted(path)) report(join(pointer, "remove", index), routed(path), "value");
  }
  for (const [path, name] of Object.entries(rename)) {
    const at = join(pointer, "rename", path);
    const own = pathOf(path);
    if (isRouted(path)) report(at, routed(path));
    else if (name === undefined) continue;
    else if (own.length === 1 && isRouted(`/${name}`)) report(at, routed(`/${name}`), "value");
    else if (own.at(-1) === name) report(at, [`'${path}' has that name already`, "remove it"], "value");
    else if (removed.has(path)) report(at, [`'${path}' is removed before it could be renamed`, "do one of the two"]);
  }
}

type Mistake = readonly [message: string, hint: string];

function isRouted(path: string): boolean {
  return ROUTED.has(pathOf(path)[0]);
}

function routed(path: string): Mistake {
  return [
    `'${path}' is what the request is routed by, and cannot be changed`,
    "the model is the target's own key; whether it streams is the client's to say",
  ];
}
