import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LedgerEntry, Windows } from "../../../src/kit/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { file, formOf, text, wav } from "../support/form.ts";
import { eventually, type Exchange } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { type KindEndpoint, ENDPOINTS, KIND_CHAINS, openKind } from "../support/kinds.ts";

let folder: string;
let gateway: TestGateway;
let user: TestUser;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-stops-"));
  gateway = await TestGateway.start({
    chains: KIND_CHAINS,
    config: { store: { url: `sqlite:${join(folder, "gateway.db")}` }, server: { body_limit: "4MiB" } },
  });
  user = await gateway.user();
});
afterEach(() => rm(folder, { recursive: true }));

/** What the store of a gateway that has stopped holds of the user. */
async function kept(): Promise<{
  readonly windows: Windows;
  readonly ledger: readonly LedgerEntry[];
  readonly held: bigint;
}> {
  const store = await openStore(`sqlite:${join(folder, "gateway.db")}`, { serving: false, now: gateway.clock.now });
  try {
    const limits = { day: null, hour: null, minute: null, streams: null };
    const { held } = await store.running(user.id);
    return { windows: await store.windows(user.id, limits), ledger: await store.ledger(user.id), held };
  } finally {
    await store.close();
  }
}

/** The beginning of a request, announced as short and as long. */
function halves(endpoint: KindEndpoint): readonly Exchange[] {
  const audio = file(wav(200_000));
  const whole =
    endpoint === "transcription" ? formOf([text("model", "route/listen"), audio]) : Buffer.from('{"model":"route/x"');
  const open = (length: number, headers: Record<string, string>): Exchange =>
    openKind(
      gateway,
      user,
      endpoint,
      {},
      { body: whole.subarray(0, length), headers: { expect: "100-continue", ...headers } },
    );
  const half = endpoint === "transcription" ? 2_000_000 : 10;
  return [open(10, { "content-length": "5000" }), open(half, { "content-length": String(4 * 1024 * 1024) })];
}

describe("a stop at once", () => {
  test("cuts audio that is under way, and charges what came as billing.outcomes says", async () => {
    const call = openKind(gateway, user, "speech", { input: "word ".repeat(100), sim: "?chunks=5000&chunk_delay=5ms" });
    await call.head();
    await eventually(() => call.received > 1_000);
    await gateway.stop();
    const { status, whole } = await call.whole();
    expect([status, whole]).toEqual([200, false]);
    const { windows, ledger, held } = await kept();
    expect(ledger).toMatchObject([{ outcome: "shutdown", charge: 5_000_000n, usage: { characters: 500 } }]);
    expect([windows.day.used, windows.hour.used, held]).toEqual([5, 1, 0n]);
  });

  test.each(ENDPOINTS)(
    "%s: a client whose body is still on its way is told, and nothing was counted",
    async (endpoint) => {
      const calls = halves(endpoint);
      for (const call of calls) await call.invited();
      await gateway.stop();
      for (const call of calls) {
        const { status, headers, text } = await call.whole();
        expect([status, headers["x-error-code"], text]).toEqual([503, "SHUTTING_DOWN", "Server is shutting down"]);
        expect(headers).toMatchObject({ "retry-after": "1", connection: "close" });
      }
      const { windows, ledger } = await kept();
      expect([windows.day.used, ledger]).toEqual([0, []]);
    },
  );
});
