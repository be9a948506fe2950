import * as fc from "fast-check";
import { RUNS } from "./runs.ts";

/** Runs that wait for a server leave the processor to others of them. */
const LANES = 16;

/** As many runs as are asked for, several at the same time. @throws the first counterexample. */
export async function inLanes<Value>(
  property: fc.IAsyncProperty<Value> | (() => fc.IAsyncProperty<Value>),
  lanes = LANES,
): Promise<void> {
  const seed = Date.now() ^ (Math.random() * 0x100000000);
  const check = (lane: number): Promise<void> =>
    fc.assert(typeof property === "function" ? property() : property, {
      seed: (seed + lane) | 0,
      numRuns: Math.ceil(RUNS / lanes),
    });
  await Promise.all(Array.from({ length: lanes }, (_, lane) => check(lane)));
}
