import { Document, isMap, isScalar, isSeq, type Node, type Pair, Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import type { GatewayConfig } from "#schema";
import { join } from "../config/diagnostics.ts";
import type { Draft } from "./draft.ts";

/** A map or list that is not longer stands on one line. */
const MAX_LINE_CHARACTERS = 110;
/** Maps of names, which have a line or more for each. */
const BLOCKS = /^\/(?:server|store|auth|tiers|defaults|upstreams|models|pipeline)?$|^\/models\/[^/]+(?:\/chain)?$/;
const SECTIONS: readonly (keyof GatewayConfig)[] = [
  "version",
  "server",
  "store",
  "auth",
  "billing",
  "tiers",
  "defaults",
  "upstreams",
  "models",
  "pipeline",
  "telemetry",
];

/** The configuration as YAML, sections in their usual order, with comments where an operator has to do something. */
export function writeYaml(draft: Draft, header: readonly string[], schema: string | null): string {
  const { config, notes } = draft;
  const ordered = Object.fromEntries(
    SECTIONS.filter((section) => config[section] !== undefined).map((section) => [section, config[section]]),
  );
  return toYaml(ordered, [...modeline(schema), ...header], notes);
}

/** The comment in which an editor finds the schema, and an empty line; nothing without a schema. */
export function modeline(schema: string | null): readonly string[] {
  return schema === null ? [] : [` yaml-language-server: $schema=${schema}`, ""];
}

/** @param notes comments by the pointer of the key that they stand above. */
export function toYaml(
  value: unknown,
  header: readonly string[],
  notes: ReadonlyMap<string, readonly string[]> = new Map(),
): string {
  const document = new Document(value, { version: "1.2", aliasDuplicateObjects: false });
  layOut(document.contents as Node, "", { notes, above: placesAbove(notes) });
  const comments = header.map((line) => (line === "" ? "#\n" : `#${line.startsWith(" ") ? "" : " "}${line}\n`));
  return comments.join("") + document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

interface Comments {
  readonly notes: ReadonlyMap<string, readonly string[]>;
  /** What must not stand on one line, as something below has a comment. */
  readonly above: ReadonlySet<string>;
}

function placesAbove(notes: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const above = new Set<string>();
  for (const noted of notes.keys())
    for (let end = noted.lastIndexOf("/"); end >= 0; end = noted.lastIndexOf("/", end - 1)) {
      above.add(noted.slice(0, end));
      if (end === 0) break;
    }
  return above;
}

/** Gives short maps and lists one line each, and comments their places. */
function layOut(node: Node, pointer: string, comments: Comments): void {
  const { notes, above } = comments;
  if (isScalar(node)) {
    // Text of one line: in double quotes wherever quotes are needed, as the rest of the configuration has it.
    if (typeof node.value === "string" && /[^\w./ -]/.test(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    return;
  }
  if (isMap(node)) {
    for (const [index, pair] of (node.items as Pair<Scalar<string>, Node>[]).entries()) {
      pair.key.spaceBefore = pointer === "" && index > 0;
      const below = join(pointer, pair.key.value);
      const note = notes.get(below);
      if (note !== undefined) pair.key.commentBefore = note.map((line) => ` ${line}`).join("\n");
      if (/[^\w./:@-]/.test(pair.key.value)) pair.key.type = Scalar.QUOTE_DOUBLE;
      layOut(pair.value!, below, comments);
    }
  } else if (isSeq(node)) {
    for (const [index, item] of (node.items as Node[]).entries()) {
      const note = notes.get(join(pointer, index));
      if (note !== undefined) item.commentBefore = note.map((line) => ` ${line}`).join("\n");
      layOut(item, join(pointer, index), comments);
    }
  } else return;
  node.flow = !BLOCKS.test(pointer || "/") && !above.has(pointer) && isShort(node);
}

function isShort(node: YAMLMap | YAMLSeq): boolean {
  const inner = isMap(node) ? node.items.map(({ value }) => value) : node.items;
  const isFlat = inner.every((one) => isScalar(one) || ((isMap(one) || isSeq(one)) && one.flow === true));
  return isFlat && JSON.stringify(node).length <= MAX_LINE_CHARACTERS;
}
