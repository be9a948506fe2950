import { expect, test } from "vitest";
import { type LastErrorBody, withNewest } from "../../src/gateway/upstream-state.ts";

function error(at: string): LastErrorBody {
  return { at, status: 500, code: null, cause: at, message: "", request_id: at, recovered_at: null };
}

const [EARLY, LATE] = ["2026-11-28T10:00:00.000Z", "2026-11-28T11:00:00.000Z"];
const key = (position: number, at: string | null) => ({ position, last_error: at === null ? null : error(at) });
const target = (at: string | null, last_success_at: string | null) => ({
  last_error: at === null ? null : error(at),
  last_success_at,
});

test("of several processes the newest error and success of each key and model is shown", () => {
  const own = { keys: [key(1, EARLY), key(2, null)], targets: { a: target(EARLY, LATE), b: target(null, null) } };
  const other = { keys: [key(1, LATE), key(2, EARLY)], targets: { a: target(LATE, EARLY), c: target(EARLY, null) } };
  expect(withNewest({ ...own, breaker: "closed" }, [other])).toEqual({
    breaker: "closed",
    keys: [key(1, LATE), key(2, EARLY)],
    targets: { a: target(LATE, LATE), b: target(null, null), c: target(EARLY, null) },
  });
  expect(withNewest(own, [])).toEqual(own);
  // A worker that serves an older configuration knows other keys.
  expect(withNewest(own, [{ keys: [], targets: {} }])).toEqual(own);
});
