/** A binary heap: the least first; of equals the one that was added first. */
export class Heap<Item> {
  readonly #items: { readonly item: Item; readonly number: number }[] = [];
  readonly #compare: (a: Item, b: Item) => number;
  #added = 0;

  /** @param compare below 0: `a` comes first. */
  constructor(compare: (a: Item, b: Item) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  get least(): Item | null {
    return this.#items[0]?.item ?? null;
  }

  add(item: Item): void {
    const items = this.#items;
    let at = items.length;
    items.push({ item, number: this.#added++ });
    while (at > 0 && this.#isBefore(at, (at - 1) >> 1)) at = this.#swap(at, (at - 1) >> 1);
  }

  /** Takes the least out; null when it is empty. */
  take(): Item | null {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (first === undefined || last === undefined) return null;
    if (items.length === 0) return first.item;
    items[0] = last;
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      const child = left + 1 < items.length && this.#isBefore(left + 1, left) ? left + 1 : left;
      if (child >= items.length || !this.#isBefore(child, at)) return first.item;
      at = this.#swap(at, child);
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#items[a]!, this.#items[b]!];
    const order = this.#compare(one.item, other.item);
    return order < 0 || (order === 0 && one.number < other.number);
  }

  #swap(from: number, to: number): number {
    const items = this.#items;
    [items[from], items[to]] = [items[to]!, items[from]!];
    return to;
  }
}
