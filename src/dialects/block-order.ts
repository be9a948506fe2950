import type { Json } from "../kit/index.ts";

/** Which list of a canonical assistant message a block is in. */
export type BlockPlace = "reasoning" | "content" | "tool_call";

const USUAL: readonly BlockPlace[] = ["reasoning", "content", "tool_call"];

export function isUsual(order: readonly BlockPlace[]): boolean {
  return order.every((place, index) => index === 0 || USUAL.indexOf(order[index - 1]!) <= USUAL.indexOf(place));
}

/** The blocks of an assistant turn in the order in which they were. */
export function inOrder(lists: Readonly<Record<BlockPlace, readonly Json[]>>, order: unknown): readonly Json[] {
  const left = new Map<unknown, Json[]>(USUAL.map((place) => [place, [...lists[place]]]));
  const told: readonly unknown[] = Array.isArray(order) ? order : [];
  const ordered = told.map((place) => left.get(place)?.shift()).filter((block) => block !== undefined);
  return [...ordered, ...USUAL.flatMap((place) => left.get(place) ?? [])];
}
