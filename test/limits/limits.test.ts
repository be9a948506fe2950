import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const ROOT = new URL("../..", import.meta.url).pathname;
/** The bound is 100 ms of a processor that has nothing else to do; before bodies were cut, each of these took 350 to 850. */
const MAX_TURN_MS = 300;

/** A row of the table that `run.ts` writes. */
async function row(
  shape: string,
  model: string,
  ...more: readonly string[]
): Promise<{ readonly status: number; readonly turnMs: number }> {
  const args = ["--expose-gc", "test/limits/run.ts", "--shape", shape, "--model", model, ...more];
  const { stdout } = await run(process.execPath, args, { cwd: ROOT });
  const [, , , status, turnMs] = stdout.trim().split("\n").at(-1)!.split(" | ");
  return { status: Number(status), turnMs: Number(turnMs) };
}

/** A turn's CPU time also has whatever the garbage collector and a busy processor add: the best of three counts. */
async function bestRow(...args: Parameters<typeof row>): ReturnType<typeof row> {
  let best = await row(...args);
  for (let again = 0; again < 2 && best.turnMs >= MAX_TURN_MS; again++) {
    const next = await row(...args);
    if (next.turnMs < best.turnMs) best = next;
  }
  return best;
}

test.each([
  ["chat: unknown texts", "openai"],
  ["chat: unknown objects of many keys", "openai"],
  ["messages: one text", "anthropic"],
])("%s (%s): the loop is not held", { timeout: 120_000 }, async (shape, model) => {
  const { status, turnMs } = await bestRow(shape, model);
  expect(status).toBe(200);
  expect(turnMs).toBeGreaterThan(0);
  expect(turnMs).toBeLessThan(MAX_TURN_MS);
});

test("a conversation of more values than are read in one turn is refused in time", { timeout: 120_000 }, async () => {
  const { status, turnMs } = await bestRow("chat: messages of one letter", "bedrock", "--values", "900000");
  expect(status).toBe(400);
  expect(turnMs).toBeLessThan(MAX_TURN_MS);
});
