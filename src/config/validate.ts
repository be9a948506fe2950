import type { GatewayConfig } from "#schema";
import gateway from "../../schemas/gateway.source.schema.json" with { type: "json" };
import { branches, validate as validateGateway } from "../../schemas/validate.gen.js";
import { pathOf, type Steps } from "../kit/index.ts";
import { diagnose, type Diagnostic, join } from "./diagnostics.ts";
import { explain, type Problem } from "./explain.ts";
import { find, isStep, type MapNode, type Node, type Reference, type Scalar, showNode, toPlain } from "./node.ts";
import type { Resolved } from "./references.ts";
import { absoluteBranch, isRecord, runtimeSchema, type Schema, type SchemaError } from "./schema.ts";

/** The schema of gateway.yaml. Compiled ahead: compiling takes longer than a reload may. */
export const GATEWAY_SCHEMA: Schema = {
  root: runtimeSchema(gateway) as Schema["root"],
  validate: validateGateway,
  branch: (schema) => branches[JSON.stringify(absoluteBranch(schema, gateway.$id))]!,
};

/** A configuration of which any value may be missing: what is left after the wrong ones were taken out. */
export type Incomplete<T> = T extends readonly (infer Item)[]
  ? readonly (Incomplete<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Incomplete<T[Key]> }
    : T;

export interface Validated {
  readonly tree: MapNode;
  readonly config: Incomplete<GatewayConfig>;
  /** The whole configuration, when nothing was wrong with it. */
  readonly valid: GatewayConfig | null;
  /** Pointers at which something was wrong. */
  readonly invalid: readonly string[];
  /** Pointers of unset variables where empty text cannot stand. */
  readonly unsetPointers: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks the resolved tree against the schema of gateway.yaml. */
export function* validate({ root, diagnostics: before }: Resolved, schema: Schema): Steps<Validated> {
  const { value, problems, unsetPointers } = yield* checkInSteps(schema, root, "");
  const unresolved = new Set(before.map(({ pointer }) => pointer));
  const found = problems.filter(({ pointer }) => !unresolved.has(pointer));
  const invalid = [...problems.map(({ pointer }) => pointer), ...unresolved, ...unsetPointers];
  const valid = invalid.length === 0 ? (value as GatewayConfig) : null;
  for (const { pointer, unusable, unknown } of problems) if (unusable) remove(value, pointer, unknown !== undefined);
  for (const pointer of [...unsetPointers, ...unresolved]) remove(value, pointer, false);
  return {
    tree: root,
    config: isRecord(value) ? value : {},
    valid,
    invalid,
    unsetPointers,
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

interface Checked {
  /** The node as plain data. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Pointers of unset variables where empty text cannot stand. */
  readonly unsetPointers: readonly string[];
}

/**
 * Checks a node that stands at `base` against a schema. A scalar that came from a reference is read as text or as a
 * YAML scalar, whichever the schema accepts.
 */
export function check(schema: Schema, node: Node, base: string): Checked {
  const steps = checkInSteps(schema, node, base);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** As `check`, with steps between the entries of sections. */
function* checkInSteps(schema: Schema, node: Node, base: string): Steps<Checked> {
  const override = new Map<string, Scalar>();
  const tried = new Set<string>();
  for (;;) {
    const value = yield* plainInSteps(node, override);
    const errors = yield* errorsInSteps(schema, value);
    const problems = errors.length === 0 ? [] : explain(schema, errors, { show, isWritten });
    const settled = problems.map(({ pointer }) => reconsider(pointer)).every((changed) => !changed);
    if (settled) return finish(value, problems);
  }

  /** Takes the other reading, once; takes it back when it is no better, for the first one is what was written. */
  function reconsider(pointer: string): boolean {
    if (override.delete(pointer)) return true;
    const reference = referenceAt(pointer);
    if (!reference || tried.has(pointer)) return false;
    tried.add(pointer);
    override.set(pointer, reference.alternative);
    return true;
  }

  function finish(value: unknown, problems: readonly Problem[]): Checked {
    // What is wrong with the empty text of an unset variable is that the variable is not set.
    const unsetPointers = problems.filter((problem) => problem.unusable && isUnset(problem));
    return {
      value,
      problems: problems
        .filter((problem) => !isUnset(problem))
        .map((problem) => ({ ...problem, pointer: base + problem.pointer })),
      unsetPointers: unsetPointers.map(({ pointer }) => base + pointer),
    };
  }

  function isUnset({ pointer }: Problem): boolean {
    return typeof referenceAt(pointer)?.unset === "string";
  }

  function referenceAt(pointer: string): Reference | undefined {
    const found = find(node, pointer)?.node;
    return found?.kind === "scalar" ? found.reference : undefined;
  }

  function isWritten(pointer: string): boolean {
    return referenceAt(pointer) === undefined;
  }

  function show(pointer: string): string {
    const found = find(node, pointer)?.node;
    return found ? showNode(found) : "nothing";
  }
}

/** As `toPlain`. */
function* plainInSteps(root: Node, override: ReadonlyMap<string, Scalar>): Steps<unknown> {
  if (root.kind !== "map") return toPlain(root, override);
  const record = Object.create(null) as Record<string, unknown>;
  for (const [section, { value }] of root.entries) {
    if (value.kind !== "map") {
      record[section] = toPlain(value, override, join("", section));
      continue;
    }
    const entries: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    record[section] = entries;
    let done = 0;
    for (const [name, entry] of value.entries) {
      entries[name] = toPlain(entry.value, override, join("", section, name));
      if (isStep(++done)) yield;
    }
  }
  return record;
}

/** Of so many models at once: the validator takes a whole configuration in one turn of the event loop. */
const MAX_MODELS_COUNT = 256;

/** What is wrong with a value. One with many models is checked with a part of them after the other. */
function* errorsInSteps(schema: Schema, value: unknown): Steps<readonly SchemaError[]> {
  const errorsOf = (data: unknown) => (schema.validate(data) ? [] : (schema.validate.errors ?? []));
  const models = isRecord(value) && isRecord(value.models) ? Object.entries(value.models) : [];
  if (models.length <= MAX_MODELS_COUNT) return errorsOf(value);
  const found: SchemaError[] = [];
  for (let at = 0; at < models.length; at += MAX_MODELS_COUNT) {
    const part = Object.fromEntries(models.slice(at, at + MAX_MODELS_COUNT));
    const errors = errorsOf({ ...(value as object), models: Object.setPrototypeOf(part, null) });
    // What is wrong elsewhere is found with every part.
    found.push(...(at === 0 ? errors : errors.filter(({ instancePath }) => instancePath.startsWith("/models/"))));
    yield;
  }
  return found;
}

/** A problem of the node at `base`, at its place in a file. */
export function place(node: Node, base: string, { pointer, at, finding }: Problem): Diagnostic {
  const found = find(node, pointer.slice(base.length)) ?? { node, key: node.place };
  return diagnose(at === "key" ? found.key : found.node.place, pointer, finding);
}
