import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openMemory } from "../../../src/store/sqlite/database.ts";
import { sqliteStore } from "../../../src/store/sqlite/store.ts";
import { HOUR, MINUTE, START, digest } from "../support.ts";

const clock = { now: START };
beforeEach(() => {
  clock.now = START;
});

function openWithUser() {
  const database = openMemory();
  const store = sqliteStore(database, () => clock.now);
  onTestFinished(() => store.close());
  store.addUser({ id: "user_1", email: "a@example.com", tier: "Free", credits: 0n });
  const rows = (table: string) => Number(database.db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.["rows"]);
  return { store, rows };
}

/** Rows after each of `times` calls, counted from 0. */
function after(times: number, rows: () => number, call: (turn: number) => unknown): number[] {
  return Array.from({ length: times }, (_, turn) => {
    call(turn);
    return rows();
  });
}

describe("what has ended goes, a little with each that comes", () => {
  test("windows", () => {
    const { store, rows } = openWithUser();
    const throttle = (turn: number, length = MINUTE) =>
      store.throttle(
        ["ip", "email"].map((kind) => ({ name: `${kind} ${turn}`, limit: 1 })),
        length,
      );
    after(100, () => 0, throttle);
    after(
      100,
      () => 0,
      (turn) => throttle(turn, HOUR),
    );
    expect(rows("counters")).toBe(400);
    clock.now += MINUTE;
    const counts = after(
      100,
      () => rows("counters"),
      (turn) => throttle(1_000 + turn),
    );
    expect(counts[0], "two come, four go").toBe(398);
    expect(Math.max(...counts)).toBeLessThanOrEqual(400);
    expect(counts.at(-1), "the hour's and the new ones").toBe(400);
    throttle(1_000);
    expect(rows("counters"), "a refusal changes nothing").toBe(400);
  });

  test("codes", () => {
    const { store, rows } = openWithUser();
    const put = (turn: number) =>
      store.putCode({
        email: `${turn % 2}@example.com`,
        client: `client ${turn}`,
        digest: digest(`${turn}`),
        expiresAt: clock.now + MINUTE,
        tries: 5,
        triesOfOthers: 5,
      });
    expect(after(100, () => rows("codes"), put).at(-1)).toBe(100);
    clock.now += MINUTE;
    expect(
      after(
        100,
        () => rows("codes"),
        (turn) => put(100 + turn),
      ),
    ).toEqual(Array.from({ length: 100 }, (_, turn) => 99 - turn + Math.max(0, 2 * turn - 98)));
    store.takeCode("0@example.com", "client 150", [digest("150")]);
    expect(rows("codes"), "used").toBe(99);
  });

  test("families with their tokens, at most a hundred at once", () => {
    const { store, rows } = openWithUser();
    const begin = (id: string) =>
      store.addFamily({ id, userId: "user_1", digest: digest(`${id} 0`), expiresAt: clock.now + HOUR });
    const rotate = (id: string, turn: number) =>
      store.rotate({ digest: digest(`${id} ${turn}`), successor: digest(`${id} ${turn + 1}`), grace: 0 });
    begin("long");
    after(
      249,
      () => 0,
      (turn) => rotate("long", turn),
    );
    expect([rows("families"), rows("refresh_tokens")]).toEqual([1, 250]);
    clock.now += HOUR;
    const counts = after(
      4,
      () => rows("refresh_tokens"),
      (turn) => begin(`next ${turn}`),
    );
    expect(counts).toEqual([151, 52, 3, 4]);
    expect(rows("families")).toBe(4);
    store.endFamily(digest("next 0 0"));
    rotate("next 1", 0);
    expect([rows("families"), rows("refresh_tokens")], "a refresh takes an ended one away").toEqual([3, 4]);
  });
});
