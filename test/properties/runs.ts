/** Runs of each property; `NUM_RUNS` sets another number. */
export const RUNS = Number(process.env["NUM_RUNS"] ?? 300);

/** Of properties that other suites run as often on the same code. */
export const FEW_RUNS = Math.ceil(RUNS / 10);

/** Milliseconds for a test of as many runs as are asked for, on a busy machine. */
export const PATIENCE = 20_000 + 50 * RUNS;
