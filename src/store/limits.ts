/** Milliseconds for which entries are kept unless it is said. */
export const LEDGER_RETENTION_MS = 90 * 86_400_000;

/** Of a window; bounds what a flood of names takes. */
export const MAX_COUNTS_PER_WINDOW = 100_000;
