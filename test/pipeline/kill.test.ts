import { describe, expect, test } from "vitest";
import { Bench } from "../support/bench.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { connects, hangs, streamsFrom } from "../support/upstream.ts";
import { DONE, PROMPT } from "./outcome-cases.ts";

describe("a stream whose user's stop token is raised", () => {
  test("ends with its ending, is charged for what came, and its upstream hears of it", async () => {
    const bench = await Bench.create();
    const source = new FakeSource().emit(chunk({ content: "Hello " }));
    bench.upstream.play(streamsFrom(source));
    const { client, done } = bench.stream();
    await expect.poll(() => client.writes.length).toBe(1);
    bench.host.streamKills.raise("ann", 1);
    await done;
    expect(source.cancelled).toBe(true);
    expect(client.text.endsWith(DONE)).toBe(true);
    expect(await bench.store.ledger("ann")).toMatchObject([{ outcome: "killed", charge: PROMPT + 4_000n }]);
    await bench.audit();
  });

  test.each([
    ["has been sent counts", hangs, { day: 1, hour: 1, minute: 1 }],
    ["waits for a connection is given back", connects, { day: 0, hour: 0, minute: 0 }],
  ] as const)("that has not begun answers with the ending alone; one that %s", async (_, play, used) => {
    const bench = await Bench.create();
    bench.upstream.play(play);
    const { client, done } = bench.stream();
    await expect.poll(() => bench.upstream.attempts.length).toBe(1);
    bench.host.streamKills.raise("ann", 1);
    await done;
    expect(client.text).toBe(DONE);
    expect(await bench.used()).toEqual(used);
    await bench.audit();
  });

  test("of another user, or raised before its admission, runs on", async () => {
    const bench = await Bench.create();
    await bench.store.stopStreams("ann");
    const source = new FakeSource().emit(chunk({ content: "Hello " }));
    bench.upstream.play(streamsFrom(source));
    const { client, done } = bench.stream();
    await expect.poll(() => client.writes.length).toBe(1);
    bench.host.streamKills.raise("ben", 9);
    bench.host.streamKills.raise("ann", 1);
    source.emit(chunk({}, { finish: "stop" })).finish();
    await done;
    expect(bench.observer.finishes[0]?.outcome.kind).toBe("served");
    await bench.audit();
  });

  test("an answer that does not stream is not watched", async () => {
    const bench = await Bench.create();
    bench.upstream.play(hangs);
    const { client, done } = bench.request();
    await expect.poll(() => bench.upstream.attempts.length).toBe(1);
    expect(bench.host.streamKills.watched).toBe(0);
    client.abort("client_gone");
    await done;
    await bench.audit();
  });
});
