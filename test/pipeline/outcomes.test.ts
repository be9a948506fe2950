import { describe, expect, test } from "vitest";
import { GatewayError, type Outcome } from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";
import type { TestClient } from "../support/client.ts";
import { reserving } from "../support/spy.ts";
import { connects, hangs } from "../support/upstream.ts";
import { abortedBefore, type Case, CASES } from "./outcome-cases.ts";

describe.each(CASES)("$name", ({ stream, parts, play, outcome, charge, last, refusal }) => {
  test("settles once, in reverse order, with the right outcome, charge, counters and last words", async () => {
    const journal: string[] = [];
    const outcomes: Outcome[] = [];
    const bench = await Bench.create({
      ...parts,
      plugins: [reserving("first", journal, outcomes), reserving("last", journal)],
      pipeline: ["auth", "first", "plan-check", "quota", "last", "breaker", "transform", "stream-relay", "meter"],
    });
    const before = await bench.balance();
    await play(bench);
    expect(journal).toEqual(["first admits", "last admits", "last settles", "first settles"]);
    expect(outcomes).toHaveLength(1);
    expect(outcomes[0]).toMatchObject(outcome);
    const given = outcomes[0]!.giveBack;
    expect(await bench.used()).toEqual(given ? { day: 0, hour: 0, minute: 0 } : { day: 1, hour: 1, minute: 1 });
    expect(before - (await bench.balance())).toBe(charge);
    const ledger = await bench.store.ledger("ann");
    expect(ledger.map((entry) => [entry.id, entry.requestId, entry.outcome, entry.charge])).toEqual(
      given ? [] : [["request-0", "client-request-0", outcomes[0]!.kind, charge]],
    );
    const [{ client }] = bench.requests as [(typeof bench.requests)[0]];
    checkClient(client, outcomes[0]!, { stream, last, refusal });
    await bench.audit();
  });
});

function checkClient(client: TestClient, outcome: Outcome, expected: Pick<Case, "stream" | "last" | "refusal">): void {
  const { stream, last, refusal } = expected;
  const lastWords = client.stream === null ? null : client.writes.at(-1);
  expect(stream && last !== undefined ? lastWords : last).toBe(last);
  if (refusal === undefined) return;
  expect(client.refused?.error).toBeInstanceOf(GatewayError);
  expect(client.refused?.error).toMatchObject(refusal);
  expect(client.refused?.headers["X-RateLimit-Remaining-Day"]).toBe(outcome.giveBack ? "1000" : "999");
}

test.each([
  ["given back when it was not sent", connects, "1000"],
  ["counted when it was", hangs, "999"],
] as const)("the headers of a stream killed before it began show it %s", async (_, play, remaining) => {
  const bench = await Bench.create();
  await abortedBefore(true, "killed", play)(bench);
  expect(bench.requests[0]?.client.stream?.headers).toMatchObject({ "X-RateLimit-Remaining-Day": remaining });
});
