import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { AuditPage } from "#schema";
import { describeRedis } from "../../support/redis.ts";
import { poll } from "../support/child.ts";
import { ADMIN_TOKEN } from "../support/configuration.ts";
import { instancesOf, pidOf, SharedWorkspace } from "../support/instances.ts";
import { type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

const hosts = new Workspace();
let sim: SimProcess;
let workspace: SharedWorkspace;

beforeAll(async () => {
  sim = await hosts.sim();
});
afterAll(() => hosts.close());

async function audit(gateway: GatewayProcess): Promise<AuditPage["data"]> {
  const response = await gateway.ask("/admin/audit");
  expect(response.status).toBe(200);
  return ((await response.json()) as AuditPage).data;
}

describeRedis("the admin listener of several workers", () => {
  beforeEach(async () => {
    workspace = await SharedWorkspace.open();
  });
  afterEach(() => workspace.close());

  test("its supervisor has no store, and a worker writes and reads the audit log, also after another one was killed", async () => {
    workspace.write("gateway.yaml", workspace.configuration(sim.origin, { workers: 2 }));
    const gateway = await workspace.serve();
    expect((await gateway.ask("/admin/reload", "POST")).status).toBe(200);
    expect(await audit(gateway)).toMatchObject([{ name: "admin", action: "reload", outcome: "done", status: 200 }]);
    const [victim] = await poll(async () => {
      const { instances } = await instancesOf(gateway);
      return instances.length === 2 ? instances.map(pidOf) : null;
    });
    process.kill(victim!, "SIGKILL");
    expect((await gateway.ask("/admin/streams/none", "DELETE")).status).toBe(404);
    expect(await audit(gateway)).toMatchObject([{ action: "endStream", outcome: "refused" }, { action: "reload" }]);
  });

  test("a refusal of the store's worker is answered as such, and a cookie is good whichever worker is asked", async () => {
    workspace.write("gateway.yaml", workspace.configuration(sim.origin, { workers: 2 }));
    const gateway = await workspace.serve();
    const signedIn = await fetch(`${gateway.admin}/admin/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: ADMIN_TOKEN }),
    });
    const [cookie = ""] = signedIn.headers.get("set-cookie")?.split(";") ?? [];
    const bad = await fetch(`${gateway.admin}/admin/audit?cursor=x`, { headers: { cookie } });
    expect([bad.status, await bad.text()]).toEqual([400, "Invalid request: /cursor is none that a page has given"]);
    await workspace.redis.stop();
    const away = await poll(async () => {
      const response = await gateway.ask("/admin/audit");
      return response.status === 503 ? response : null;
    });
    expect([away.headers.get("x-error-code"), await away.text()]).toEqual(["STORE_UNAVAILABLE", "Store unavailable"]);
    expect((await gateway.ask("/admin/streams/none", "DELETE")).status, "needs no store").toBe(404);
  });
});
