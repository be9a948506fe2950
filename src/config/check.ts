import { diagnose, type Diagnostic } from "./diagnostics.ts";
import { explain, type Problem } from "./explain.ts";
import { find, type Node, type Reference, type Scalar, showNode, toPlain } from "./node.ts";
import type { Schema } from "./schema.ts";

export interface Checked {
  /** The node as plain data. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Pointers of unset variables where empty text cannot stand. */
  readonly unfit: readonly string[];
}

/**
 * Checks a node that stands at `base` against a schema. A scalar that came from a reference is read as text or as a
 * YAML scalar, whichever the schema accepts.
 */
export function check(schema: Schema, node: Node, base: string): Checked {
  const override = new Map<string, Scalar>();
  const tried = new Set<string>();
  for (;;) {
    const value = toPlain(node, override);
    const problems = schema.validate(value) ? [] : explain(schema, schema.validate.errors ?? [], show);
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
    const unfit = problems.filter((problem) => problem.unusable && isUnset(problem));
    return {
      value,
      problems: problems
        .filter((problem) => !isUnset(problem))
        .map((problem) => ({ ...problem, pointer: base + problem.pointer })),
      unfit: unfit.map(({ pointer }) => base + pointer),
    };
  }

  function isUnset({ pointer }: Problem): boolean {
    return typeof referenceAt(pointer)?.unset === "string";
  }

  function referenceAt(pointer: string): Reference | undefined {
    const found = find(node, pointer)?.node;
    return found?.kind === "scalar" ? found.reference : undefined;
  }

  function show(pointer: string): string {
    const found = find(node, pointer)?.node;
    return found ? showNode(found) : "nothing";
  }
}

/** A problem of the node at `base`, at its place in a file. */
export function place(node: Node, base: string, { pointer, at, finding }: Problem): Diagnostic {
  const found = find(node, pointer.slice(base.length)) ?? { node, key: node.place };
  return diagnose(at === "key" ? found.key : found.node.place, pointer, finding);
}
