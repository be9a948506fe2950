import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditPage } from "#schema";
import { schemas } from "../../../schemas/admin-schemas.gen.js";
import type { AdminEndpoint } from "../../../src/server/admin/endpoint.ts";
import { ADMIN_ENDPOINTS } from "../../../src/server/admin/endpoints.ts";
import type { Answer } from "../support/http.ts";
import { TestGateway } from "../support/in-process.ts";

const VIEWER = { authorization: "Bearer of-a-viewer" };

let gateway: TestGateway;
beforeAll(async () => {
  const tokens = [
    { name: "victor", token: "of-a-viewer", role: "viewer" },
    { name: "nobody", token: "${env:A_TOKEN_THAT_IS_NOT_SET:-}", role: "operator" },
  ];
  gateway = await TestGateway.start({ config: { server: { admin: { tokens } } } });
});
afterAll(() => gateway.close());

async function audit(query = ""): Promise<AuditPage> {
  return JSON.parse((await gateway.admin(`/admin/audit?${query}`)).text) as AuditPage;
}

/** Whether it can be asked without saying more. */
function needsNothing({ method, path, query }: AdminEndpoint): boolean {
  const { required = [] } = (query && schemas[query]) ?? {};
  return method === "GET" && !path.includes("{") && (required as readonly string[]).length === 0;
}

test("every GET that needs no parameters answers a viewer as its schema says", async () => {
  const paths = ADMIN_ENDPOINTS.filter(needsNothing);
  expect(paths.length).toBeGreaterThan(10);
  const answers: [path: string, status: number][] = [];
  for (const { path } of paths.filter(({ answers }) => answers[200]?.content?.["text/event-stream"] === undefined)) {
    answers.push([path, (await gateway.admin(path, { headers: VIEWER })).status]);
  }
  expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
});

test("each line of an export is an entry as its schema says", async () => {
  const user = await gateway.user();
  expect((await gateway.chat(user)).status).toBe(200);
  const { text } = await gateway.admin("/admin/ledger/export", { headers: VIEWER });
  expect(JSON.parse(text)).toMatchObject({ user_id: user.id, model: "route/one", outcome: "served" });
});

test("a viewer changes nothing, and the audit log has a viewer's exports alone", async () => {
  const refused = await gateway.admin("/admin/reload", { method: "POST", headers: VIEWER });
  expect([refused.status, refused.text]).toEqual([403, '{"message":"The token\'s role may not do this"}']);
  expect(new Set((await audit()).data.map(({ action }) => action))).toEqual(new Set(["export"]));
});

test("a token that is not set is nobody's", async () => {
  for (const authorization of ["Bearer ", "Bearer undefined", "Bearer ${env:A_TOKEN_THAT_IS_NOT_SET:-}"]) {
    expect((await gateway.admin("/admin/config", { headers: { authorization } })).status).toBe(401);
  }
});

test("a change is in the audit log, with the time of the gateway", async () => {
  const before = gateway.clock.now();
  expect((await gateway.admin("/admin/reload", { method: "POST" })).status).toBe(200);
  expect((await gateway.admin("/admin/streams/none", { method: "DELETE" })).status).toBe(404);
  const { data } = await audit("limit=2");
  expect(data).toMatchObject([
    { name: "admin", action: "endStream", target: "none", outcome: "refused", status: 404 },
    { name: "admin", action: "reload", target: null, outcome: "done", status: 200, details: { ok: true } },
  ]);
  expect(Date.parse(data[1]?.at ?? "")).toBeGreaterThanOrEqual(before);
});

test("a page signs in with a token, and reloads by its cookie", async () => {
  const json = { "content-type": "application/json", authorization: "", "sec-fetch-site": "same-origin" };
  const ask = (path: string, method: string, headers: object, body?: object): Promise<Answer> =>
    gateway.admin(path, { method, headers: { ...json, ...headers }, ...(body && { body }) });
  const signedIn = await ask("/admin/session", "POST", {}, { token: "of-a-viewer" });
  expect(signedIn.status).toBe(200);
  const [cookie = ""] = signedIn.headers["set-cookie"]?.[0]?.split(";") ?? [];
  expect(JSON.parse((await ask("/admin/session", "GET", { cookie })).text)).toMatchObject({
    name: "victor",
    role: "viewer",
  });
  expect((await ask("/admin/reload", "POST", { cookie })).status).toBe(403);
  const signedOut = await ask("/admin/session", "DELETE", { cookie });
  expect([signedOut.status, signedOut.headers["set-cookie"]?.[0]]).toEqual([
    204,
    expect.stringMatching(/^gateway_admin=; /),
  ]);
});

test("tokens stand in no answer, and a change of them is in force after a reload", async () => {
  expect((await gateway.admin("/admin/config/source")).text).not.toContain("of-a-viewer");
  await gateway.reload({ server: { admin: { tokens: [{ name: "eve", token: "of-eve", role: "operator" }] } } });
  const { pending } = JSON.parse((await gateway.admin("/admin/config")).text) as { pending: readonly string[] };
  expect(pending).toEqual([]);
  expect((await gateway.admin("/admin/config", { headers: { authorization: "Bearer of-eve" } })).status).toBe(200);
  expect((await gateway.admin("/admin/config", { headers: VIEWER })).status).toBe(401);
});
