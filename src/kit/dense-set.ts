/** A member knows its place; -1 while it is in no list. */
export interface Indexed {
  index: number;
}

/**
 * What comes and goes with every request: a list with holes filled from its end. In a Set, each rehash leaves behind a
 * dead table that keeps the members of its time alive until the next full collection: measured, a third of the cost of
 * a request.
 */
export class DenseSet<T extends Indexed> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    member.index = this.#members.push(member) - 1;
  }

  delete(member: T): void {
    if (member.index < 0) return;
    const last = this.#members.pop();
    if (last !== undefined && last !== member) {
      this.#members[member.index] = last;
      last.index = member.index;
    }
    member.index = -1;
  }

  /** Visits all, backwards: a member that leaves during its visit is replaced by one that has been seen. */
  each(visit: (member: T) => void): void {
    for (let index = this.#members.length - 1; index >= 0; index -= 1) {
      const member = this.#members[index];
      if (member !== undefined) visit(member);
    }
  }
}
