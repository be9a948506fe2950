import { expect, onTestFinished, test } from "vitest";
import { unanswered } from "../../../src/store/redis/client.ts";
import type { RedisStore } from "../../../src/store/redis/store.ts";
import { Journal } from "../../../src/store/resilient/journal.ts";
import { withResilience } from "../../../src/store/resilient/store.ts";
import { poll } from "../../e2e/support/child.ts";
import { describeRedis, redisOfSuite } from "../../support/redis.ts";
import { openAt, recordingLog, UNAVAILABLE } from "./support.ts";
import { temporaryJournal } from "../resilient/support.ts";
import { addUser, admission, charged, givenBack, OPEN, unique } from "../support.ts";

describeRedis("a settlement that could not be sent", () => {
  const server = redisOfSuite(["--appendonly", "yes", "--appendfsync", "always"]);

  test.each([
    ["charged", charged],
    ["given back", givenBack],
  ])("and was %s by another process of the journal is not brought back by a renewal", async (_, settled) => {
    const prefix = `${unique("p")}:`;
    const [a, b] = await Promise.all(["a", "b"].map((instance) => openAt(server.url, { prefix, instance })));
    const user = await addUser(a!, 1_000n);
    const request = admission(user.id, { stream: true, hold: 300n, limits: { ...OPEN, streams: 1 } });
    expect(await a!.admit(request)).toMatchObject({ ok: true });
    await server.kill();
    // Until it is known that there is no connection, what is sent may have been executed.
    await poll(() =>
      a!.ping().then(
        () => false,
        (error: unknown) => unanswered(error) === null,
      ),
    );
    await expect(a!.settle(settled(request, 100n))).rejects.toMatchObject(UNAVAILABLE);
    await server.restart();
    await Promise.all([a!, b!].map((store) => answers(store)));
    await b!.settle(settled(request, 100n));
    await a!.renew();
    expect(await b!.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
    expect(await b!.findUser(user.id)).toMatchObject({ held: 0n });
  });

  test("and was brought by another process, which shares the journal, is not brought back by a renewal", async () => {
    const prefix = `${unique("p")}:`;
    const [a, b] = await Promise.all(["a", "b"].map((instance) => openAt(server.url, { prefix, instance })));
    const user = await addUser(a!, 1_000n);
    const request = admission(user.id, { stream: true, hold: 300n, limits: { ...OPEN, streams: 1 } });
    const shared = { onFailure: () => "closed" as const, journal: temporaryJournal(), now: Date.now };
    // Another process brings what is in the journal: this one must not, and tries again much later.
    const journal = new Journal(shared.journal);
    onTestFinished(() => journal.close());
    const busy = Promise.withResolvers<void>();
    const bringing = journal.alone(() => busy.promise);
    const waits = withResilience(a!, { ...shared, log: recordingLog(), sleep: () => new Promise(() => {}) });
    onTestFinished(() => waits.close());
    expect(await waits.admit(request)).toMatchObject({ ok: true });
    await server.kill();
    // Until the store is not even asked any more.
    for (let failures = 0; failures < 5; failures++)
      await expect(Promise.try(() => waits.ping())).rejects.toMatchObject(UNAVAILABLE);
    await waits.settle(givenBack(request));
    await server.restart();
    await Promise.all([a!, b!].map((store) => answers(store)));
    busy.resolve();
    await bringing;
    const brings = withResilience(b!, { ...shared, log: recordingLog() });
    onTestFinished(() => brings.close());
    await poll(async () => (await b!.running(user.id)).requests === 0);
    await a!.renew();
    expect(await b!.running(user.id)).toEqual({ requests: 0, streams: 0, held: 0n });
  });
});

const answers = (store: RedisStore) =>
  poll(() =>
    store.ping().then(
      () => true,
      () => false,
    ),
  );
