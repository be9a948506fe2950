import { describe, expect, test } from "vitest";
import { decimal, type Usage } from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";
import { reads, testCall } from "../support/kinds.ts";
import { FakeBytes } from "../support/source.ts";
import { testModel } from "../support/snapshot.ts";
import { connects, fails, hangs, type Play } from "../support/upstream.ts";
import { refusalOf } from "./checks.ts";

const UNITS = { characters: 200 };
const USAGE: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0, ...UNITS };
/** 200 characters at 15 a million. */
const CHARGE = 3_000_000n;
const CALL = testCall("speech", { model: "route/voice", input: "x", voice: "nova" }, UNITS);

const speaks =
  (source: FakeBytes, usage: Usage | null = USAGE): Play =>
  (target) => ({ type: "bytes", target, contentType: "audio/mpeg", source, usage });

async function bench(credits?: bigint): Promise<Bench> {
  const price = { perMillionCharacters: decimal(15) };
  const voice = testModel("route/voice", { kind: "speech", voices: ["nova", "sage"], price });
  return Bench.create({ models: [voice], ...(credits !== undefined && { credits }) });
}

describe("a body relayed as bytes", () => {
  test("reaches the client as it is, under the upstream's type, and is charged by the call's units", async () => {
    const it = await bench();
    it.upstream.play(
      speaks(
        new FakeBytes()
          .read(Buffer.from("abc"))
          .read(Buffer.from([0, 255]))
          .finish(),
      ),
    );
    const client = await it.serve({ read: reads(CALL) });
    expect(client.stream?.contentType).toBe("audio/mpeg");
    expect(Buffer.concat(client.bytes)).toEqual(Buffer.from([97, 98, 99, 0, 255]));
    expect({ cut: client.wasCut, text: client.text }).toEqual({ cut: false, text: "" });
    expect(await it.store.ledger("ann")).toMatchObject([{ charge: CHARGE, outcome: "served", estimated: false }]);
    await it.audit();
  });

  test("is not asked of the user's stream slots", async () => {
    const it = await bench();
    const source = new FakeBytes().read(Buffer.from("a"));
    it.upstream.play(speaks(source));
    const { done } = it.request({ read: reads(CALL) });
    await expect.poll(() => source.opened).toBe(true);
    expect(await it.store.running("ann")).toMatchObject({ requests: 1, streams: 0 });
    expect(it.host.streamKills.watched).toBe(0);
    source.finish();
    await done;
    await it.audit();
  });

  test("waits for a client that does not read", async () => {
    const it = await bench();
    const source = new FakeBytes();
    it.upstream.play(speaks(source));
    const { client, done } = it.request({ read: reads(CALL) });
    await expect.poll(() => source.opened).toBe(true);
    client.block();
    source.read(Buffer.from("a"));
    expect(source.paused).toBe(true);
    client.drain();
    expect(source.paused).toBe(false);
    source.read(Buffer.from("b")).finish();
    await done;
    expect(Buffer.concat(client.bytes).toString()).toBe("ab");
    await it.audit();
  });

  test("cut by the upstream is broken off, never ended, and charged as billing says", async () => {
    const it = await bench();
    it.upstream.play(speaks(new FakeBytes().read(Buffer.from("a")).finish("upstream broke off")));
    const client = await it.serve({ read: reads(CALL) });
    expect(client.wasCut).toBe(true);
    expect(await it.store.ledger("ann")).toMatchObject([{ charge: CHARGE, outcome: "upstream_cut" }]);
    await it.audit();
  });

  test.each(["client_gone", "shutdown"] as const)("%s half-way ends the upstream and settles", async (reason) => {
    const it = await bench();
    const source = new FakeBytes().read(Buffer.from("a"));
    it.upstream.play(speaks(source));
    const { client, done } = it.request({ read: reads(CALL) });
    await expect.poll(() => client.bytes.length).toBe(1);
    client.abort(reason);
    await done;
    expect(source.cancelled).toBe(true);
    expect(await it.store.ledger("ann")).toMatchObject([{ charge: CHARGE, outcome: reason }]);
    await it.audit();
  });

  test.each([
    ["counts, and costs its characters, when the upstream was asked", hangs, 1],
    ["is given back when it was not", connects, 0],
  ] as const)("abandoned before it began %s", async (_, play, counts) => {
    const it = await bench();
    it.upstream.play(play);
    const { client, done } = it.request({ read: reads(CALL) });
    await expect.poll(() => it.upstream.attempts.length).toBe(1);
    client.abort("client_gone");
    await done;
    expect(await it.used()).toEqual({ day: counts, hour: counts, minute: counts });
    expect(await it.store.ledger("ann")).toMatchObject(
      counts === 0 ? [] : [{ outcome: "client_gone", charge: CHARGE }],
    );
    await it.audit();
  });

  test("that no upstream began is the verdict of any request", async () => {
    const it = await bench();
    it.upstream.play(fails("status"));
    const client = await it.serve({ read: reads(CALL) });
    expect(refusalOf(client)).toMatchObject({ code: "PROVIDER_ERROR" });
    await it.audit();
  });

  test("needs the credits of its units", async () => {
    const it = await bench(CHARGE - 1n);
    expect(refusalOf(await it.serve({ read: reads(CALL) }))).toMatchObject({ code: "INSUFFICIENT_CREDITS" });
    const enough = await bench(CHARGE);
    enough.upstream.play(speaks(new FakeBytes().read(Buffer.from("a")).finish()));
    expect((await enough.serve({ read: reads(CALL) })).refused).toBeNull();
    expect(await enough.balance()).toBe(0n);
  });
});
