import { expect, test } from "vitest";
import { answerCall } from "../../src/gateway/admin-services.ts";
import { GatewayError, invalidRequest, Uuids } from "../../src/kit/index.ts";
import type { AdminServices } from "../../src/server/admin/services.ts";
import { poolServices } from "../../src/workers/supervisor.ts";
import type { WorkerHandle } from "../../src/workers/worker-handle.ts";

const ENTRY = {
  id: new Uuids().timed(1_800_000_000_000),
  at: 1_800_000_000_000,
  name: "grace",
  role: "operator",
  action: "reload",
  target: null,
  details: {},
  outcome: "done",
  status: 200,
  address: "192.0.2.1",
  digest: null,
  previous: null,
} as const;

/** A worker on the other end of a channel that takes JSON alone. */
class FakeWorker {
  readonly serving = true;
  readonly missedHeartbeats = 0;
  ended = false;
  asked: string[] = [];
  readonly #services: Partial<AdminServices>;
  readonly #fault: "ends" | "is slow" | null;

  constructor(services: Partial<AdminServices>, fault: "ends" | "is slow" | null = null) {
    this.#services = services;
    this.#fault = fault;
  }

  async ask(question: string, { about = "" } = {}): Promise<unknown> {
    this.asked.push(`${question} ${(JSON.parse(about) as { method: string }).method}`);
    this.ended = this.#fault === "ends";
    if (this.#fault !== null) throw new Error("does not answer");
    return JSON.parse(JSON.stringify(await answerCall(this.#services as AdminServices, about))) as unknown;
  }
}

function poolOf(...workers: FakeWorker[]): AdminServices {
  return poolServices({ workers: workers as unknown as WorkerHandle[] });
}

test("a worker does what is asked, with the arguments as they were, and its answer comes back", async () => {
  const seen: unknown[] = [];
  const services = poolOf(
    new FakeWorker({
      listAudit: async (query) => {
        seen.push(query);
        return [ENTRY];
      },
    }),
  );
  expect(await services.listAudit({ before: null, limit: 3 })).toEqual([ENTRY]);
  expect(seen).toEqual([{ before: null, limit: 3 }]);
});

test("a refusal crosses the channel with its code, text, pointer and further fields", async () => {
  const refusals = [
    invalidRequest("/cursor", "is none"),
    new GatewayError("TOO_MANY_REQUESTS", "Wait", { retryAfter: 7, fields: { retry_after: 7 }, headers: { A: "b" } }),
  ];
  for (const { code, message, details } of refusals) {
    const listAudit = (): Promise<never> => Promise.reject(new GatewayError(code, message, details));
    const asked = poolOf(new FakeWorker({ listAudit })).listAudit({ before: null, limit: 1 });
    await expect(asked).rejects.toMatchObject({ code, message, details });
  }
});

test("a fault of a worker says nothing to whoever asked, and another worker is not asked for it", async () => {
  const broken = new FakeWorker({ listAudit: () => Promise.reject(new Error("secret")) });
  const other = new FakeWorker({ listAudit: async () => [] });
  const asked = poolOf(broken, other).listAudit({ before: null, limit: 1 });
  await expect(asked).rejects.not.toBeInstanceOf(GatewayError);
  expect(other.asked).toEqual([]);
});

test("of a worker that ended another is asked, where that does nothing twice", async () => {
  const working = { listAudit: async () => [ENTRY], writeAudit: async () => null };
  expect(
    await poolOf(new FakeWorker({}, "ends"), new FakeWorker(working)).listAudit({ before: null, limit: 1 }),
  ).toEqual([ENTRY]);
  expect(await poolOf(new FakeWorker({}, "ends"), new FakeWorker(working)).writeAudit(ENTRY)).toBeNull();
});

test("one that is slow is not asked a second time elsewhere, and where none answers it is said", async () => {
  const other = new FakeWorker({ listAudit: async () => [] });
  await expect(poolOf(new FakeWorker({}, "is slow"), other).listAudit({ before: null, limit: 1 })).rejects.toThrow(
    "does not answer",
  );
  expect(other.asked).toEqual([]);
  await expect(poolOf().listAudit({ before: null, limit: 1 })).rejects.toMatchObject({ code: "OVERLOADED" });
});

test("a method that there is not is asked of nothing", async () => {
  const about = JSON.stringify({ method: "constructor", args: [] });
  await expect(answerCall({} as AdminServices, about)).rejects.toThrow("no such service: constructor");
});
