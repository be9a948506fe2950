import type { GatewayConfig } from "#schema";
import gateway from "../../schemas/gateway.schema.json" with { type: "json" };
import auth from "../../schemas/plugins/auth.schema.json" with { type: "json" };
import breaker from "../../schemas/plugins/breaker.schema.json" with { type: "json" };
import meter from "../../schemas/plugins/meter.schema.json" with { type: "json" };
import planCheck from "../../schemas/plugins/plan-check.schema.json" with { type: "json" };
import quota from "../../schemas/plugins/quota.schema.json" with { type: "json" };
import streamRelay from "../../schemas/plugins/stream-relay.schema.json" with { type: "json" };
import transform from "../../schemas/plugins/transform.schema.json" with { type: "json" };
import { pathOf } from "../kit/index.ts";
import { check, place } from "./check.ts";
import type { Diagnostic } from "./diagnostics.ts";
import type { MapNode } from "./node.ts";
import type { Resolved } from "./references.ts";
import { compileSchema, isRecord, type Schema } from "./schema.ts";

/** The schema of gateway.yaml. Compiled with the module, not with each load: it takes as long as a reload may. */
export const GATEWAY_SCHEMA: Schema = compileSchema(gateway, [
  auth,
  breaker,
  meter,
  planCheck,
  quota,
  streamRelay,
  transform,
]);

/** A configuration of which any value may be missing: what is left after the wrong ones were taken out. */
export type Loose<T> = T extends readonly (infer Item)[]
  ? readonly (Loose<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Loose<T[Key]> }
    : T;

export interface Validated {
  readonly tree: MapNode;
  readonly config: Loose<GatewayConfig>;
  /** The whole configuration, when nothing was wrong with it. */
  readonly sound: GatewayConfig | null;
  /** Pointers at which something was wrong. */
  readonly damage: readonly string[];
  /** Pointers of unset variables where empty text cannot stand. */
  readonly unfit: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks the resolved tree against the schema of gateway.yaml. */
export function validate({ root, diagnostics: before }: Resolved, schema: Schema): Validated {
  const { value, problems, unfit } = check(schema, root, "");
  const unresolved = new Set(before.map(({ pointer }) => pointer));
  const found = problems.filter(({ pointer }) => !unresolved.has(pointer));
  const damage = [...problems.map(({ pointer }) => pointer), ...unresolved, ...unfit];
  const sound = damage.length === 0 ? (value as GatewayConfig) : null;
  for (const { pointer, unusable, unknown } of problems) if (unusable) remove(value, pointer, unknown !== undefined);
  for (const pointer of [...unfit, ...unresolved]) remove(value, pointer, false);
  return {
    tree: root,
    config: isRecord(value) ? value : {},
    sound,
    damage,
    unfit,
    diagnostics: [...before, ...found.map((problem) => place(root, "", problem))],
  };
}

/** Takes a value out; list items keep their index, names of a map stay known unless the key itself is wrong. */
function remove(value: unknown, pointer: string, withKey: boolean): void {
  const path = pathOf(pointer);
  const last = path.at(-1);
  if (last === undefined) return;
  let parent: unknown = value;
  for (const segment of path.slice(0, -1)) parent = isContainer(parent) ? parent[segment] : undefined;
  if (!isContainer(parent)) return;
  if (withKey) delete parent[last];
  else parent[last] = undefined;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
