/**
 * Works on a store until it is killed, and prints what was acknowledged, one JSON array a line: `try` before and `ok`
 * after each operation. Arguments: the file, the user to make, a mode: `work`, `idle`, or `command` for a process that
 * does not serve and ends by itself.
 */
import { writeSync } from "node:fs";
import { createKey, digest } from "../../src/accounts/api-keys.ts";
import { openStore } from "../../src/store/open.ts";
import type { Admission, Limits } from "../../src/kit/index.ts";

const [file = "", userId = "", mode = "work"] = process.argv.slice(2);
const NOW = Date.UTC(2027, 0, 15, 8);
const LIMITS: Limits = { day: 1_000_000, hour: null, minute: null, streams: 100 };
const store = await openStore(`sqlite:${file}`, { serving: mode !== "command", now: () => NOW });

// One write a line: a line is there as a whole or not at all.
const say = (...line: unknown[]) => writeSync(1, `${JSON.stringify(line)}\n`);

await store.addUser({ id: userId, email: `${userId}@example.com`, tier: "Free", credits: 1_000_000_000n });
say("ok", "user", userId);
if (mode === "command") await store.close();
else if (mode === "idle") setInterval(() => {}, 1_000);
else await Promise.all([accounts(), refreshes(), ...[1, 2, 3, 4].map(requests)]);

async function requests(lane: number): Promise<void> {
  for (let turn = 0; ; turn++) {
    const id = `${userId}-${lane}-${turn}`;
    const hold = BigInt(turn % 7);
    const request: Admission = {
      id,
      userId,
      limits: LIMITS,
      units: 1,
      stream: turn % 2 === 0,
      hold,
      enforceCredits: true,
      model: "route/swift",
    };
    await store.admit(request);
    say("ok", "admit", id);
    const giveBack = turn % 5 === 4;
    const charge = giveBack ? 0 : turn % 11;
    const usage = { prompt: 1, completion: 2, cached: 0, reasoning: 0 };
    const record = {
      requestId: id,
      keyId: null,
      model: "route/swift",
      upstream: "alpha",
      outcome: "served" as const,
      usage,
      estimated: false,
      receivedAt: NOW,
      endedAt: NOW,
    };
    await store.settle({ id, userId, giveBack, charge: BigInt(charge), record: giveBack ? null : record });
    say("ok", giveBack ? "back" : "settle", id, charge);
  }
}

async function accounts(): Promise<void> {
  for (let turn = 1, previous = ""; ; turn++) {
    const { body } = await createKey(store, { userId, name: `key ${turn}` });
    say("ok", "key", body.id, body.key);
    say("try", "grant", turn);
    await store.grant(userId, BigInt(turn));
    say("ok", "grant", turn);
    if (previous) {
      say("try", "revoke", previous);
      await store.revokeKey(previous);
      say("ok", "revoke", previous);
    }
    previous = body.id;
    // Lets requests and kills in between.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** One sign-in whose refresh tokens follow one another. */
async function refreshes(): Promise<void> {
  const token = (turn: number) => digest(`${userId} ${turn}`);
  await store.addFamily({ id: `${userId}-family`, userId, digest: token(0), expiresAt: NOW + 1_000 });
  for (let turn = 0; ; turn++) {
    say("try", "refresh", turn);
    if (await store.rotate({ digest: token(turn), successor: token(turn + 1), grace: 0 })) say("ok", "refresh", turn);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
