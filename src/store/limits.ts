/** For which ledger entries are kept, unless `store.retention` is set. */
export const LEDGER_RETENTION_MS = 90 * 86_400_000;

/** Names that are counted in one window: a flood of names takes no more memory. */
export const MAX_COUNTS_PER_WINDOW = 100_000;
