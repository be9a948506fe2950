import * as fc from "fast-check";
import { expect, test } from "vitest";
import { GatewayError, type InferenceRequest, type Principal } from "../../src/kit/index.ts";
import { type ByteClaim, ByteBudget } from "../../src/server/byte-budget.ts";
import { BODY, open, send, start, waitFor } from "./support.ts";

const BUSY = { status: 503, text: "Server is busy" };
const CODE = { "x-error-code": "OVERLOADED", "retry-after": "1" };

function isHeld(claim: ByteClaim, bytes: number): boolean {
  try {
    claim.hold(bytes);
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "OVERLOADED") return false;
    throw error;
  }
}

test("whatever is held and given back, nobody has more than a quarter, nor all more than there is", () => {
  const step = fc.record({ claim: fc.nat(7), bytes: fc.nat(60) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const room = new ByteBudget(() => 100);
      const claims = Array.from({ length: 8 }, (_, index) => ({ user: `u${index % 3}`, bytes: 0 })).map((model) => ({
        model,
        claim: room.claim(model.user),
      }));
      const heldBy = (user: string | null): number =>
        claims.reduce((sum, { model }) => sum + (user === null || model.user === user ? model.bytes : 0), 0);
      for (const { claim: index, bytes } of steps) {
        const { model, claim } = claims[index]!;
        const more = bytes - model.bytes;
        const fits = more <= 0 || (heldBy(null) + more <= 100 && heldBy(model.user) + more <= 25);
        expect(isHeld(claim, bytes)).toBe(fits);
        if (fits) model.bytes = bytes;
        expect(room.taken).toBe(heldBy(null));
      }
      for (const { claim } of claims) claim.release();
      expect(room.taken).toBe(0);
    }),
  );
});

/** Reads the body for the user that the request's id names, and answers when told. */
function holding() {
  const gate = Promise.withResolvers<void>();
  let held = 0;
  return {
    identify: async ({ head }: InferenceRequest): Promise<Principal> => ({
      userId: head.requestId,
      tier: "Free",
      keyId: "k1",
    }),
    run: async ({ client }: InferenceRequest): Promise<void> => {
      held += 1;
      await gate.promise;
      client.answer(200, "text/plain", "served", {});
    },
    held: () => held,
    letGo: gate.resolve,
  };
}

const of = (user: string): Record<string, string> => ({
  "content-type": "application/json",
  authorization: "Bearer rk_good",
  "x-request-id": user,
});

test.each([false, true])("bodies share the memory there is, announced or in chunks: %s", async (chunked) => {
  const { identify, run, held, letGo } = holding();
  const { port } = await start({ identify, run, settings: { bodyMemory: 4 * BODY.length } });
  const first = ["a", "b", "c", "d"].map((user) => send(port, { headers: of(user), chunked }));
  await waitFor(() => held() === 4);
  const refused = await send(port, { headers: of("e"), chunked });
  expect(refused).toMatchObject({ ...BUSY, headers: CODE });
  letGo();
  for (const answer of await Promise.all(first)) expect(answer).toMatchObject({ status: 200, text: "served" });
  expect(await send(port, { headers: of("e"), chunked })).toMatchObject({ status: 200 });
});

test("one user gets a quarter of it", async () => {
  const { identify, run, held, letGo } = holding();
  const { port } = await start({ identify, run, settings: { bodyMemory: 8 * BODY.length } });
  const first = [1, 2].map(() => send(port, { headers: of("a") }));
  await waitFor(() => held() === 2);
  expect(await send(port, { headers: of("a") })).toMatchObject(BUSY);
  const other = send(port, { headers: of("b") });
  await waitFor(() => held() === 3);
  letGo();
  for (const answer of await Promise.all([...first, other])) expect(answer.status).toBe(200);
});

test("a client that leaves while it sends gives back what it had announced", async () => {
  const { identify, run, letGo } = holding();
  letGo();
  const { port, server } = await start({ identify, run, settings: { bodyMemory: 4 * BODY.length } });
  const leaving = await open(port);
  leaving.socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Request-Id: a\r\nContent-Length: ${BODY.length}\r\n\r\n{`,
  );
  await waitFor(() => server.inFlight() === 1);
  await waitFor(() => leaving.socket.bytesWritten > 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await send(port, { headers: of("a") })).toMatchObject(BUSY);
  leaving.socket.destroy();
  await waitFor(() => server.inFlight() === 0);
  expect(await send(port, { headers: of("a") })).toMatchObject({ status: 200 });
});
