import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import type { User } from "../../../src/kit/index.ts";
import { openMemory } from "../../../src/store/sqlite/database.ts";
import { type ResilienceOptions, withResilience } from "../../../src/store/resilient/store.ts";
import { sqliteStore } from "../../../src/store/sqlite/store.ts";
import { collectingLog, flaky } from "./flaky.ts";
import { START, addUser, temporaryFolder } from "../support.ts";

export const temporaryJournal = (): string => join(temporaryFolder(), "settlements.db");

/** A store in memory with one user, behind one that fails as told, behind the one under test. */
export async function resilient(more: Partial<ResilienceOptions> = {}) {
  const clock = { now: START };
  const inner = sqliteStore(openMemory(), () => clock.now);
  const user: User = await addUser(inner, 1_000n);
  onTestFinished(() => inner.close());
  const proxy = flaky(inner);
  const { log, lines } = collectingLog();
  const options: ResilienceOptions = {
    onFailure: () => "closed",
    journal: temporaryJournal(),
    log,
    now: () => clock.now,
    ...more,
  };
  const open = () => {
    const store = withResilience(proxy.store, options);
    onTestFinished(() => store.close());
    return store;
  };
  const away = (is: boolean) => {
    proxy.fate = () => (is ? "away" : "answer");
  };
  const charges = () => inner.ledger(user.id).map(({ id, charge }) => [id, charge] as const);
  const books = () => {
    const { balance, held, granted } = inner.findUser(user.id)!;
    expect(granted, "granted = balance + charges").toBe(
      balance + charges().reduce((sum, [, charge]) => sum + charge, 0n),
    );
    return { balance, held };
  };
  return { clock, inner, proxy, user, lines, options, open, away, charges, books };
}

/** Waits until it is so. */
export async function until(is: () => boolean): Promise<void> {
  while (!is()) await pause(5);
}
