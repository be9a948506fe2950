import { CommanderError } from "commander";
import { expect, test, vi } from "vitest";
import { ExitError } from "../../src/cli/options.ts";
import { createProgram } from "../../src/cli/program.ts";
import { ADMIN_TOKEN } from "../e2e/support/gateway-config.ts";
import { TestGateway } from "../e2e/support/in-process.ts";

async function run(...args: string[]): Promise<readonly [code: number, text: string]> {
  let stdout = "";
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      if (name === "stdout") stdout += String(text);
      return true;
    }),
  );
  try {
    await createProgram().parseAsync(["rollback", ...args], { from: "user" });
    return [0, stdout];
  } catch (error) {
    if (error instanceof CommanderError) return [2, error.message];
    if (error instanceof ExitError) return [error.exitCode, error.message];
    throw error;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

test("gateway rollback returns a running gateway to a former configuration", async () => {
  const gateway = await TestGateway.start();
  try {
    const first = gateway.gateway.generation.snapshot.hash;
    await gateway.reload({ tiers: { Max: { limits: { day: 1 } } } });
    const second = gateway.gateway.generation.snapshot.hash;
    const admin = ["--admin", `${gateway.adminUrl}/`, "--admin-token", ADMIN_TOKEN];
    expect(await run(...admin)).toEqual([0, `${first} serves\n`]);
    expect(gateway.gateway.generation.snapshot.hash).toBe(first);
    expect(await run(second.slice(0, 10), "--json", ...admin)).toEqual([
      0,
      `${JSON.stringify({ ok: true, hash: second })}\n`,
    ]);
    // The port that the configuration has is 0; the token is found there.
    expect(await run("1", "--config", gateway.file, "--admin", gateway.adminUrl)).toEqual([0, `${first} serves\n`]);

    const [entry] = await gateway.store.listAudit({ before: null, limit: 1 });
    const told = { action: "rollBack", name: "cli", target: "1", details: { token: "admin", ok: true } };
    expect(entry, "in the audit log as what it is").toMatchObject({ ...told, address: "127.0.0.1", outcome: "done" });

    expect(await run("5", ...admin)).toEqual([1, "there is no generation 5 back: 1 before this one are kept"]);
    expect((await run("x", ...admin))[0]).toBe(2);
    expect((await run("--admin", gateway.adminUrl, "--admin-token", "wrong"))[0]).toBe(3);
    expect((await run("--admin", "http://127.0.0.1:1", "--admin-token", "x"))[1]).toMatch(/^no gateway answers at/);
  } finally {
    await gateway.close();
  }
});
