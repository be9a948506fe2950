const BUCKET_COUNT = 10;

interface Bucket {
  index: number;
  failed: number;
  total: number;
}

/** Results within the last `window` milliseconds, to a tenth of it. */
export class RollingCount {
  readonly #width: number;
  readonly #buckets: Bucket[] = Array.from({ length: BUCKET_COUNT }, () => ({ index: -Infinity, failed: 0, total: 0 }));

  constructor(window: number) {
    this.#width = Math.max(1, window / BUCKET_COUNT);
  }

  add(now: number, ok: boolean): void {
    const index = Math.floor(now / this.#width);
    const slot = index % BUCKET_COUNT;
    let bucket = this.#buckets[slot];
    if (bucket?.index !== index) bucket = this.#buckets[slot] = { index, failed: 0, total: 0 };
    bucket.total += 1;
    if (!ok) bucket.failed += 1;
  }

  sum(now: number): { readonly failed: number; readonly total: number } {
    const current = Math.floor(now / this.#width);
    let failed = 0;
    let total = 0;
    for (const bucket of this.#buckets) {
      // The upper bound excludes buckets that lie in the future because the clock was set back.
      if (bucket.index <= current - BUCKET_COUNT || bucket.index > current) continue;
      failed += bucket.failed;
      total += bucket.total;
    }
    return { failed, total };
  }

  clear(): void {
    for (const bucket of this.#buckets) bucket.index = -Infinity;
  }
}
