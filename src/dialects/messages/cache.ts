import { isJson, type Json } from "../../kit/index.ts";
import { changed, Edits, list, objects } from "../canonical/json.ts";
import { markOf } from "../canonical/marks.ts";
import { escaped, type Report } from "../canonical/report.ts";

/*
 * Marks of what to cache, wherever Claude is served: at most four, those that live longer first, and none where the API
 * takes none (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).
 */

/** Where a mark, or a block that may have to go, came from. */
interface Origin {
  /** Pointer into the canonical body. */
  readonly at: string;
  /** The pointer is one into the client's own body. */
  readonly isOwn?: true;
}

/** Where marks and blocks came from, by the object that is written. */
export type Origins = Map<Json, Origin>;

/** `{cache_control}` of an item that has a mark in any form, or nothing. @param at pointer to the item. */
export function cacheControl(item: Json, at: string, origins: Origins, more: Omit<Origin, "at"> = {}): Json {
  const marked = markOf(item);
  if (marked === null) return {};
  // Each mark is told apart by itself: what made the body may have used one for several.
  const mark = { ...marked.mark };
  origins.set(mark, { at: `${at}/${marked.field}`, ...more });
  return { cache_control: mark };
}

/** Reports what came from somewhere, or a field of it. */
export function dropOrigin(origin: Origin | undefined, report: Report, field = ""): void {
  if (origin === undefined) return;
  const pointer = field === "" ? origin.at : `${origin.at}/${escaped(field)}`;
  if (origin.isOwn === true) report.dropOwn(pointer);
  else report.drop(pointer);
}

/** "A maximum of 4 blocks with cache_control may be provided." */
export const MAX_MARKS = 4;

/** What of a mark a place takes. */
export interface MarkRules {
  /** `scope` is taken: it needs a beta. */
  readonly scope: boolean;
  /** How long a cache lives may be said. */
  readonly ttl: boolean;
}

/** The marks of a request in the order in which the API reads them, each as it is sent; null: not at all. */
export function fitMarks(
  marks: readonly Json[],
  rules: MarkRules,
  drop: (mark: Json, field?: string) => void,
): ReadonlyMap<Json, Json | null> {
  const fitted = new Map<Json, Json | null>(marks.map((mark) => [mark, fieldsOf(mark, rules, drop)]));
  const taken = marks.filter((mark) => fitted.get(mark) !== null);
  // The first holds what changes least, the last ones the longest beginnings.
  for (const mark of taken.slice(1, Math.max(1, taken.length - MAX_MARKS + 1))) {
    fitted.set(mark, null);
    drop(mark);
  }
  let isShort = false;
  for (const mark of taken) {
    const sent = fitted.get(mark);
    if (!isJson(sent)) continue;
    // "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
    if (sent["ttl"] === "1h" && isShort) {
      const { ttl: _ttl, ...rest } = sent;
      fitted.set(mark, rest);
      drop(mark, "ttl");
    } else if (sent["ttl"] !== "1h") isShort = true;
  }
  return fitted;
}

/** The very same mark where all of it is taken. */
function fieldsOf(mark: Json, rules: MarkRules, drop: (mark: Json, field?: string) => void): Json | null {
  if (mark["type"] !== "ephemeral") {
    drop(mark);
    return null;
  }
  const edits = new Edits(mark);
  for (const [name, value] of Object.entries(mark)) {
    if (name === "type" || (name === "ttl" && rules.ttl && (value === "5m" || value === "1h"))) continue;
    if (name === "scope" && rules.scope) continue;
    edits.remove(name);
    if (value !== null && value !== undefined) drop(mark, name);
  }
  return edits.object;
}

/** A body of the Messages format with its marks as they are taken; the very same where they are. */
export function withFitMarks(
  body: Json,
  rules: MarkRules,
  { origins, report }: { readonly origins: Origins; readonly report: Report },
): Json {
  const drop = (mark: Json, field?: string): void => dropOrigin(origins.get(mark), report, field);
  const unmarkable: Json[] = [];
  const marks: Json[] = [];
  const collect = (holder: Json): void => {
    for (const inner of objects(holder["content"])) collect(inner);
    const { cache_control: mark } = holder;
    if (isJson(mark)) (takesMark(holder) ? marks : unmarkable).push(mark);
  };
  for (const holder of holdersOf(body)) collect(holder);
  if (isJson(body["cache_control"])) marks.push(body["cache_control"]);
  if (marks.length + unmarkable.length === 0) return body;
  const fitted = new Map(fitMarks(marks, rules, drop));
  for (const mark of unmarkable) {
    fitted.set(mark, null);
    drop(mark);
  }
  const remark = (holder: Json): Json => {
    const edits = new Edits(holder);
    const { cache_control: mark } = holder;
    const sent = isJson(mark) ? fitted.get(mark) : undefined;
    if (sent === null) edits.remove("cache_control");
    else if (sent !== undefined) edits.set("cache_control", sent);
    for (const name of ["tools", "system", "messages", "content"]) {
      if (Array.isArray(holder[name])) edits.set(name, changed(holder[name], remark));
    }
    return edits.object;
  };
  return remark(body);
}

function holdersOf({ tools, system, messages }: Json): readonly Json[] {
  return [tools, system, messages].flatMap((holders) => list(holders)).filter(isJson);
}

/** "Tool '…' cannot have both defer_loading=true and cache_control set." Thoughts are cached with what follows them. */
function takesMark({ type, defer_loading, content }: Json): boolean {
  const isTool = content === undefined && defer_loading === true;
  return !isTool && type !== "thinking" && type !== "redacted_thinking";
}
