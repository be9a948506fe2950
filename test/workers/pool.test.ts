import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Backoff } from "../../src/workers/pool.ts";
import { Workspace } from "../e2e/support/process.ts";

const PROGRAM = fileURLToPath(new URL("pool-child.ts", import.meta.url));

/** Runs a scenario of the program in a process of its own. */
async function scenario(name: string): Promise<Record<string, unknown>> {
  const workspace = new Workspace();
  onTestFinished(() => workspace.close());
  const child = workspace.spawn(process.execPath, [PROGRAM, name]);
  const late = setTimeout(() => child.process.kill("SIGKILL"), 25_000);
  const { code, stdout, stderr } = await child.exited;
  clearTimeout(late);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, unknown>;
}

const LATE = "worker did not serve within 1.5 s; stopping it";

test.each(["first start", "blocked start"])(
  "%s: a worker that never serves is ended, and so the start",
  async (name) => {
    expect(await scenario(name)).toMatchObject({
      failure: "WorkerFailed: worker exited before it served: signal SIGKILL",
      lines: [LATE],
    });
  },
);

test("a replacement that never serves is ended and replaced in its turn", async () => {
  const { workers, lines } = await scenario("replacement");
  expect(workers).toBe(4);
  expect(lines).toContain(LATE);
});

test("all workers killed at once, three times: clients wait, none is refused", async () => {
  const { outcomes, after } = (await scenario("all at once")) as { outcomes: Record<string, number>; after: string };
  const { "HTTP/1.1 200": served = 0, ...others } = outcomes;
  expect(served).toBeGreaterThan(50);
  // What a worker had taken, or was being given, when it was killed.
  const { ECONNRESET: reset = 0, closed = 0, ...rest } = others;
  expect(rest).toEqual({});
  expect(reset + closed).toBeLessThan(3 * 8 + 1);
  expect(after, "nobody listens after the end").toBe("ECONNREFUSED");
});

test("nobody listens for workers that have ended, though their channels are still open", async () => {
  expect(await scenario("a channel that closes late")).toMatchObject({ after: "ECONNREFUSED" });
});

test("a stop does not wait for a replacement, and none starts after it", async () => {
  expect(await scenario("stop while one waits to be replaced")).toMatchObject({ workers: 2 });
});

test("a worker that served for a while is replaced at once; ones that die young wait, longer each time", () => {
  const backoff = new Backoff();
  expect(backoff.after(60_000)).toBe(0);
  expect([0, 0, 500, 0, 0, 0, 0, 0].map((lived) => backoff.after(lived))).toEqual([
    100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000,
  ]);
  expect(backoff.after(3_600_000)).toBe(0);
  expect(backoff.after(0), "and begins anew").toBe(100);
});
