import * as fc from "fast-check";

/**
 * Properties start from one seed, so that a commit that passed passes again; `SEED=N` sets another, and with
 * `NUM_RUNS` or `SEED=random` each run draws its own, which fast-check prints when a property fails.
 */
const { SEED, NUM_RUNS } = process.env;
if (SEED === undefined ? NUM_RUNS === undefined : SEED !== "random")
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(SEED ?? 20_261_123) });
