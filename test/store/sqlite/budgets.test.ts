import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openFile } from "../../../src/store/sqlite/database.ts";
import { sqliteStore } from "../../../src/store/sqlite/store.ts";
import { addUser, admission, digest, RECORD, START, temporaryFolder, unique } from "../support.ts";

const MAX_KNOWN = 100;
/** More than are kept in memory. */
const MANY = 110;

test(
  "a free request that outlasts what is known of its key's budget leaves it as it is",
  { timeout: 60_000 },
  async () => {
    const file = join(temporaryFolder(), "gateway.db");
    const open = () => sqliteStore(openFile(file, true), () => START, MAX_KNOWN);
    const store = open();
    store.recover();
    const { id: userId } = await addUser(store, 10n ** 12n);
    const keyId = unique("key");
    const limits = { budget: { amount: 1_000n, per: "total" } } as const;
    store.addKey({ id: keyId, userId, name: "n", prefix: "rk_01234567", digest: digest(keyId), limits }, 50);
    const budget = { keyId, ...limits.budget };
    const serve = async (hold: bigint, of = budget) => {
      const request = admission(userId, { hold, budget: of });
      await store.admit(request);
      return (charge: bigint) =>
        store.settle({ id: request.id, userId, giveBack: false, charge, record: RECORD, budget: of });
    };
    const endFree = await serve(0n);
    // Until it is saved it is kept.
    await pause(300);
    for (let index = 0; index < MANY; index++) await (await serve(1n, { ...budget, keyId: `other-${index}` }))(0n);
    await (
      await serve(600n)
    )(600n);
    await endFree(0n);
    store.close();
    const again = open();
    onTestFinished(() => again.close());
    again.recover();
    expect(again.listKeys(userId)[0]?.budget).toMatchObject({ spent: 600n, held: 0n });
  },
);
