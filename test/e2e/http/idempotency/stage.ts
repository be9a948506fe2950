import { expect } from "vitest";
import type { Endpoint, Json } from "../../../../src/kit/index.ts";
import { type Simulator, startSimulator } from "../../../../src/simulator/server.ts";
import { openAt } from "../../support/formats.ts";
import { Gate } from "../../support/gate.ts";
import type { Answer, Exchange } from "../../support/http.ts";
import { type Books, TestGateway, type TestUser } from "../../support/in-process.ts";
import { PLACES } from "../../support/kinds.ts";

/** One or two gateways on one store, in front of an upstream that can be held back. */
export interface Stage {
  /** The last one is another instance where there are two. */
  readonly gateways: readonly [TestGateway, ...TestGateway[]];
  readonly gate: Gate;
  readonly simulator: Simulator;
  close(): Promise<void>;
}

export async function startStage(count: number, store: Json | null): Promise<Stage> {
  const simulator = await startSimulator();
  const gate = await Gate.start(simulator.origin);
  const chains = Object.fromEntries(
    Object.values(PLACES).map(({ model, kind }) => [model, { kind, scripts: [gate.url], deadline: "1h" }]),
  );
  const config = { server: { body_limit: "1MiB" }, ...(store !== null && { store }) };
  const start = () => TestGateway.start({ chains, config });
  const gateways: [TestGateway, ...TestGateway[]] = [await start()];
  while (gateways.length < count) gateways.push(await start());
  return {
    gateways,
    gate,
    simulator,
    async close() {
      for (const gateway of gateways) await gateway.close();
      await gate.close();
      await simulator.close();
    },
  };
}

/** A good request to an endpoint with a key. */
export function keyed(
  gateway: TestGateway,
  user: TestUser,
  endpoint: Endpoint,
  key: string,
  { changes = {}, headers = {} }: { readonly changes?: Json; readonly headers?: Record<string, string> } = {},
): Exchange {
  return openAt(gateway, user, endpoint, changes, { headers: { "idempotency-key": key, ...headers } });
}

/** The parts of an answer that a replay repeats. */
export function sameIn({ status, headers, bytes }: Answer): object {
  const {
    "content-type": type,
    "x-request-id": id,
    "request-id": idOfMessages,
    "x-gateway-dropped": dropped,
  } = headers;
  return { status, type, id, idOfMessages, dropped, bytes };
}

/** The answer is that of an earlier request, to the letter. */
export function expectReplay(again: Answer, first: Answer): void {
  expect(again.headers).toMatchObject({ "idempotency-replayed": "true" });
  expect(sameIn(again)).toEqual(sameIn(first));
}

/** One request was served, whatever was asked again. */
export function expectOneCharge(books: Books, units: number): void {
  expect(books.ledger.map(({ outcome }) => outcome)).toEqual(["served"]);
  expect(books.used).toEqual({ day: units, hour: 1, minute: 1 });
  expect(books.running).toEqual({ requests: 0, streams: 0, held: 0n });
}
