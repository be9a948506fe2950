const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Milliseconds of `250ms`, `5s`, `2m`, `1h`, `30d`. @throws RangeError for anything else. */
export function milliseconds(duration: string): number {
  return measure(duration, MILLISECONDS);
}

/** Bytes of `64KiB`, `32MiB`. @throws RangeError for anything else. */
export function bytes(size: string): number {
  return measure(size, BYTES);
}

function measure(text: string, units: Readonly<Record<string, number>>): number {
  const [, digits, unit] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  const factor = unit !== undefined && Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (digits === undefined || factor === undefined) throw new RangeError(`not one of the units ${Object.keys(units)}`);
  return Number(digits) * factor;
}
