/** Calls that one method has under way at once: less than what the connection lets wait, so that requests have room. */
const SIZE = 200;

/** Works on all items, some at a time; the results are in their order. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += SIZE) {
    results.push(...(await Promise.all(items.slice(at, at + SIZE).map(work))));
  }
  return results;
}
