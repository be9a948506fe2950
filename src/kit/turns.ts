import { setImmediate as nextTurn } from "node:timers/promises";

/** Work that is too long for one turn of the event loop, in steps: every `next` is one. */
export type Steps<Result> = Generator<void, Result, void>;

export { nextTurn };

/** Does the work in this turn. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Does the work with a turn of the event loop between its steps. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await nextTurn();
  }
}
