import { expect, onTestFinished, test } from "vitest";
import { AccessTrail } from "../../src/accounts/access-trail.ts";
import { type AuditEntry, type AuditVerdict, type Store, storeUnavailable } from "../../src/kit/index.ts";
import { limitKey } from "../../src/server/client-address.ts";
import { openStore } from "../../src/store/open.ts";
import { openAt, recordingLog } from "../store/redis/support.ts";
import { unique } from "../store/support.ts";
import { describeRedis, redisOfSuite } from "../support/redis.ts";
import { START } from "./support.ts";

async function inMemory(): Promise<Store> {
  const store = await openStore("memory:", { serving: true, now: () => START });
  onTestFinished(async () => store.close());
  return store;
}

function trailOn(store: Pick<Store, "writeAudit" | "throttle">) {
  const counts = new Map<string, number>();
  const log = recordingLog();
  const trail = new AccessTrail({
    store,
    limitKey,
    count: (who, result, count) => counts.set(`${who} ${result}`, (counts.get(`${who} ${result}`) ?? 0) + count),
    now: () => START,
    log,
  });
  return { trail, counts, log };
}

const countOf = ({ details }: AuditEntry): number => Number(details["count"] ?? 1);
const failure = (address: string | null, count = 1) => ({ address, count, isLimited: false });
const all = async (store: Store): Promise<readonly AuditEntry[]> => store.listAudit({ before: null, limit: 1_000 });

/** Two processes that a million failures are told to, from as many networks as there are. */
async function failAMillionTimes(open: () => Promise<Store>): Promise<AuditVerdict> {
  const [store, other] = [await open(), await open()];
  const trails = [trailOn(store), trailOn(other)];
  const [first] = trails;
  for (let n = 0; n < 5; n++) await first!.trail.operatorsFailed([failure("192.0.2.1")]);
  expect((await all(store)).map(({ action, address }) => [action, address])).toEqual(
    Array.from({ length: 3 }, () => ["signInFailed", "192.0.2.1"]),
  );
  for (let n = 0; n < 100; n++) {
    for (const { trail } of trails) await trail.operatorsFailed([failure(`10.0.${n}.1`, 5_000)]);
  }
  const beforeSummary = await all(store);
  expect(beforeSummary).toHaveLength(20);
  for (const { trail } of trails) await trail.close();
  const entries = await all(store);
  expect(entries).toHaveLength(22);
  const told = entries.reduce((sum, entry) => sum + countOf(entry), 0);
  expect(told, "nothing is lost").toBe(5 + 2 * 100 * 5_000);
  expect(entries[0]).toMatchObject({
    action: "signInFailed",
    name: "",
    role: "none",
    address: null,
    outcome: "refused",
  });
  expect(entries[0]!.details["addresses"]).toBeGreaterThan(80);
  const counted = trails.reduce((sum, { counts }) => sum + (counts.get("operator failed") ?? 0), 0);
  expect(counted).toBe(told);
  return store.verifyAudit();
}

test("a million failed sign-ins are a few entries, and every one is counted", async () => {
  const store = await inMemory();
  expect(await failAMillionTimes(async () => store)).toMatchObject({ bad: null, entries: 22 });
});

test("a user's sign-ins are written with method and address, five an hour, and then counted", async () => {
  const store = await inMemory();
  const { trail, counts } = trailOn(store);
  for (let n = 0; n < 8; n++) await trail.userSignedIn("user_1", n % 2 === 0 ? "code" : "oauth", "192.0.2.1");
  const entries = await all(store);
  expect(entries).toHaveLength(5);
  expect(entries.at(-1)).toMatchObject({
    action: "userSignIn",
    name: "user",
    role: "user",
    target: "user_1",
    address: "192.0.2.1",
    details: { method: "code" },
    outcome: "done",
  });
  await trail.flush();
  expect((await all(store))[0]).toMatchObject({ action: "userSignIn", target: null, details: { count: 3, users: 1 } });
  expect(counts.get("user ok")).toBe(8);
  trail.userFailed("failed");
  trail.userFailed("limited");
  expect([counts.get("user failed"), counts.get("user limited")]).toEqual([1, 1]);
  expect(await all(store), "nobody is known").toHaveLength(6);
});

test("while the store is away sign-ins are kept, said once, and written later", async () => {
  const store = await inMemory();
  let isAway = true;
  const check = (): void => {
    if (isAway) throw storeUnavailable(new Error("away"));
  };
  const { trail, log } = trailOn({
    throttle: async (...args) => (check(), store.throttle(...args)),
    writeAudit: async (entry) => (check(), store.writeAudit(entry)),
  });
  for (let n = 0; n < 4; n++) await trail.operatorsFailed([failure(n === 3 ? null : `192.0.2.${n}`)]);
  await trail.flush();
  expect(log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
  isAway = false;
  await trail.close();
  expect(await all(store)).toMatchObject([{ action: "signInFailed", details: { count: 4, addresses: 4 } }]);
});

describeRedis("on Redis", () => {
  const server = redisOfSuite();

  test("a million failed sign-ins are a few entries in all processes together", async () => {
    const prefix = `${unique("trail")}:`;
    const verdict = await failAMillionTimes(() => openAt(server.url, { prefix, clock: () => START }));
    expect(verdict).toMatchObject({ bad: null, entries: 22 });
  });
});
