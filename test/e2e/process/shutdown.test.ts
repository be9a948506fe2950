import { existsSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { poll } from "../support/child.ts";
import { ask, configuration, eventsOf } from "../support/configuration.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

let workspace: Workspace;
let sim: SimProcess;
let user: Account;

const hosts = new Workspace();

beforeAll(async () => {
  sim = await hosts.sim();
});
afterAll(() => hosts.close());

beforeEach(async () => {
  workspace = new Workspace();
  await sim.forget();
});
afterEach(() => workspace.close());

async function start(drain: { delay: string; timeout: string }): Promise<GatewayProcess> {
  const config = configuration(sim.origin);
  workspace.write("gateway.yaml", { ...config, server: { ...config.server, drain } });
  const gateway = await workspace.serve();
  user = await workspace.account();
  return gateway;
}

/** A streamed request that has begun; `text` resolves with the whole of it. */
async function stream(gateway: GatewayProcess, requestId: string, script: object) {
  const response = await gateway.chat(user.key, ask("x", { stream: true, sim: script }), { requestId });
  expect(response.status).toBe(200);
  return { text: response.text() };
}

const IDLE = { requests: 0, streams: 0, held: 0n };

describe("SIGTERM", () => {
  test("streams in flight finish, readiness goes at once, new requests are served for the delay", async () => {
    const gateway = await start({ delay: "2500ms", timeout: "20s" });
    const long = await stream(gateway, "long", { chunks: 150, chunk_delay: "20ms" });
    gateway.child.process.kill("SIGTERM");
    await poll(async () => (await gateway.ask("/readyz")).status === 503, 1_000);
    expect(await (await gateway.ask("/readyz")).json()).toMatchObject({ reasons: ["draining"] });
    expect((await gateway.ask("/livez")).status, "it lives on").toBe(200);
    const late = await gateway.chat(user.key, ask("late"), { requestId: "late" });
    expect(late.status).toBe(200);
    expect(late.headers.get("connection"), "the client looks for another instance").toBe("close");
    await late.text();

    const events = eventsOf(await long.text);
    expect(events.at(-1)).toBe("[DONE]");
    expect(events.filter((event) => event.includes('"error"'))).toEqual([]);
    expect(await gateway.child.exited).toMatchObject({ code: 0, signal: null });
    const { outcomes, drift, running } = await workspace.books(user.id);
    expect(outcomes).toEqual({ late: "served", long: "served" });
    expect({ drift, running }).toEqual({ drift: 0n, running: IDLE });
  });

  test("after the delay nobody is accepted; what outlasts the timeout is told, ended and settled", async () => {
    const gateway = await start({ delay: "0s", timeout: "700ms" });
    const stuck = await Promise.all(
      [0, 1, 2].map((index) => stream(gateway, `stuck-${index}`, { chunks: 10_000, chunk_delay: "20ms" })),
    );
    const silent = gateway.chat(user.key, ask("x", { sim: { first_byte: "60s" } }), { requestId: "silent" });
    await poll(() => sim.entry("silent"));
    gateway.child.process.kill("SIGTERM");
    await poll(() =>
      fetch(`${gateway.origin}/v1/chat/completions`).then(
        () => false,
        () => true,
      ),
    );
    for (const { text } of stuck) {
      const events = eventsOf(await text);
      expect(events.at(-1)).toBe("[DONE]");
      expect(JSON.parse(events.at(-2) ?? "")).toEqual({
        error: { message: "Server is shutting down", type: "api_error" },
      });
    }
    const refused = await silent;
    expect(refused.status).toBe(503);
    expect(refused.headers.get("x-error-code")).toBe("SHUTTING_DOWN");
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.text()).toBe("Server is shutting down");
    expect(await gateway.child.exited).toMatchObject({ code: 0, signal: null });
    const { ledger, outcomes, drift, running } = await workspace.books(user.id);
    // What never began is given back.
    expect(outcomes).toEqual({ "stuck-0": "shutdown", "stuck-1": "shutdown", "stuck-2": "shutdown" });
    for (const { charge, estimated } of ledger) {
      expect(estimated).toBe(true);
      expect(charge, "what was delivered is charged").toBeGreaterThan(0n);
    }
    expect({ drift, running }).toEqual({ drift: 0n, running: IDLE });
    const closed = await poll(async () => {
      const entries = await sim.ledger();
      return entries.every(({ closedAt }) => closedAt !== null) ? entries : null;
    });
    expect(
      closed.every(({ aborted }) => aborted),
      "the upstream is let go",
    ).toBe(true);
  });

  test("an idle gateway ends at once, keep-alive connections or not", async () => {
    const gateway = await start({ delay: "0s", timeout: "20s" });
    await (await gateway.chat(user.key, ask("x"))).text();
    const from = performance.now();
    expect(await gateway.stop()).toMatchObject({ code: 0, signal: null });
    expect(performance.now() - from).toBeLessThan(5_000);
  });
});

test("a second signal does not wait, and the next start finds nothing held", async () => {
  const gateway = await start({ delay: "0s", timeout: "60s" });
  const { text } = await stream(gateway, "cut", { chunks: 10_000, chunk_delay: "20ms" });
  const cut = text.then(
    () => "whole",
    () => "cut",
  );
  await workspace.recorded(1);
  gateway.child.process.kill("SIGTERM");
  await poll(async () => (await gateway.ask("/readyz")).status === 503);
  const from = performance.now();
  const { code } = await gateway.stop("SIGINT");
  expect(performance.now() - from).toBeLessThan(10_000);
  expect(code, "not as it should have ended").toBe(3);
  expect(await cut).toBe("cut");
  await workspace.serve();
  const { running, ledger } = await workspace.books(user.id);
  expect(running).toEqual(IDLE);
  expect(ledger).toMatchObject([{ outcome: "shutdown", charge: 0n }]);
});

/** A plugin whose `dispose` writes down that it was called, and then does what `ending` says. */
function disposable(name: string, ending: string) {
  workspace.write(`${name}.schema.json`, { type: "object" });
  workspace.write(
    `${name}.ts`,
    `import { appendFileSync } from "node:fs";
     export default {
       name: "${name}", stage: "transform", schema: new URL("${name}.schema.json", import.meta.url),
       setup: (_options, host) => ({
         async dispose() {
           appendFileSync("disposed.txt", "${name} ");
           ${ending}
         },
       }),
     };`,
  );
  return { use: `./${name}.ts` };
}

const STORE = `await host.storage.get("any"); appendFileSync("disposed.txt", "with-store ");`;

function plugins(...steps: readonly object[]): void {
  const config = configuration(sim.origin);
  const pipeline = ["auth", "plan-check", "quota", "breaker", ...steps, "stream-relay", "meter"];
  workspace.write("gateway.yaml", { ...config, pipeline });
}

function disposed(): string[] {
  const path = workspace.path("disposed.txt");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split(" ").toSorted() : [];
}

describe("plugins", () => {
  test("are disposed of at a stop, by SIGINT as by SIGTERM: after the last request, before the store is closed", async () => {
    plugins(disposable("flushes", STORE));
    const gateway = await workspace.serve();
    // Set up once to see whether it can be, and disposed of at once.
    const rehearsed = disposed();
    user = await workspace.account();
    const running = await stream(gateway, "long", { chunks: 50, chunk_delay: "20ms" });
    gateway.child.process.kill("SIGINT");
    await poll(async () => (await gateway.ask("/readyz")).status === 503, 1_000);
    expect(disposed(), "while a request runs").toEqual(rehearsed);
    expect(eventsOf(await running.text).at(-1)).toBe("[DONE]");
    expect(await gateway.child.exited).toMatchObject({ code: 0, signal: null });
    expect(disposed()).toEqual([...rehearsed, "flushes", "with-store"].toSorted());
  });

  test("one that throws is named, one that does not end as well: the others are disposed of, and the stop goes on", async () => {
    plugins(
      disposable("throws", `if (host.now() > 0) throw new Error("cannot flush");`),
      disposable("hangs", "if (host.now() > 0) await new Promise(() => {});"),
      disposable("flushes", STORE),
    );
    const gateway = await workspace.serve();
    const before = performance.now();
    const { code, stderr } = await gateway.stop();
    expect(code).toBe(0);
    expect(performance.now() - before).toBeLessThan(15_000);
    expect(disposed().filter((line) => line === "with-store")).toHaveLength(1);
    const lines = stderr.split("\n").filter((line) => line.includes("dispose"));
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 50, plugin: "throws", err: { message: "cannot flush" } },
      { level: 50, plugins: ["hangs"], requests: 0 },
    ]);
  });
});
