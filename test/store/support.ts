import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Admission, LedgerRecord, Limits, Settlement, Store, User } from "../../src/kit/index.ts";

/** 2027-01-15T08:00:00Z: the first millisecond of a minute and of an hour, not of a day. */
export const START = Date.UTC(2027, 0, 15, 8);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const OPEN: Limits = { day: null, hour: null, minute: null, streams: null };

/** A folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "gateway-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let last = 0;

/** A fresh id, so that tests may share a store. */
export function unique(prefix: string): string {
  return `${prefix}_${++last}`;
}

export const digest = (text: string): Uint8Array => createHash("sha256").update(text).digest();

/** A fresh user of the tier Free. */
export async function addUser(store: Store, credits = 0n): Promise<User> {
  const id = unique("user");
  const user = await store.addUser({ id, email: `${id}@example.com`, tier: "Free", credits });
  return user!;
}

export function admission(userId: string, more: Partial<Admission> = {}): Admission {
  const id = unique("ex");
  return {
    id,
    userId,
    limits: OPEN,
    units: 1,
    stream: false,
    hold: 0n,
    enforceCredits: true,
    model: "route/swift",
    ...more,
  };
}

export const RECORD: LedgerRecord = {
  requestId: "req-1",
  keyId: "key_1",
  model: "route/swift",
  upstream: "alpha",
  outcome: "served",
  usage: { prompt: 10, completion: 20, cached: 4, reasoning: 3 },
  estimated: false,
  receivedAt: START,
  endedAt: START + 1_500,
};

export function charged({ id, userId }: Admission, charge: bigint): Settlement {
  return { id, userId, giveBack: false, charge, record: RECORD };
}

export function givenBack({ id, userId }: Admission): Settlement {
  return { id, userId, giveBack: true, charge: 0n, record: null };
}
