/**
 * Indexes of the fewest items to move so that the rest never descends: one plugin in the wrong place is one mistake,
 * however many stand on its wrong side.
 */
export function misplaced(ranks: readonly number[]): number[] {
  const length: number[] = [];
  const before: number[] = [];
  for (const [index, rank] of ranks.entries()) {
    const earlier = ranks.slice(0, index).flatMap((other, at) => (other <= rank ? [at] : []));
    const best = earlier.reduce(
      (chosen, at) => (chosen < 0 || (length[at] ?? 0) > (length[chosen] ?? 0) ? at : chosen),
      -1,
    );
    length.push(best < 0 ? 1 : (length[best] ?? 0) + 1);
    before.push(best);
  }
  const kept = new Set<number>();
  for (let at = length.indexOf(Math.max(...length)); at >= 0; at = before[at] ?? -1) kept.add(at);
  return ranks.flatMap((_, index) => (kept.has(index) ? [] : [index]));
}
