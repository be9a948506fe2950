import { expect, test } from "vitest";
import { openStore } from "../../../src/store/open.ts";
import { START } from "../support.ts";
import { storeSuite } from "../contract/suite.ts";

storeSuite("memory", (options) => openStore("memory:", { serving: true, ...options }));

test("two stores in memory are two", async () => {
  const [a, b] = await Promise.all([1, 2].map(() => openStore("memory:", { serving: true, now: () => START })));
  await a!.addUser({ id: "user_1", email: "a@example.com", tier: "Free", credits: 0n });
  expect(await b!.listUsers()).toEqual([]);
  await Promise.all([a!.close(), b!.close()]);
});
