import { expect, test } from "vitest";
import { type AuditEntry, auditStamps, type Json, storeUnavailable } from "../../../src/kit/index.ts";
import { audited } from "../../../src/server/admin/audit.ts";
import { type AdminCall, type AdminParts, row } from "../../../src/server/admin/endpoint.ts";
import type { AdminServices } from "../../../src/server/admin/services.ts";
import { admin, AUTH, auditInMemory } from "./support.ts";

const JSON_HEADERS = { ...AUTH, "content-type": "application/json" };

function away(): Promise<never> {
  return Promise.reject(storeUnavailable(new Error("away")));
}

async function logged(options: Parameters<typeof admin>[0] = {}) {
  const services = auditInMemory();
  return { ...(await admin({ services, ...options })), entries: services.entries };
}

test("a change is in the log with who, what, about what and how it ended", async () => {
  const { ask, entries } = await logged();
  await ask("/admin/reload", AUTH, "POST");
  await ask("/admin/rollback", JSON_HEADERS, "POST", '{"to":"abc1"}');
  await ask("/admin/streams/s1", AUTH, "DELETE");
  const who = { name: "admin", role: "operator", outcome: "done", status: 200 };
  expect(entries).toMatchObject([
    { ...who, action: "reload", target: null, details: { ok: true, hash: "def" } },
    { ...who, action: "rollBack", target: "abc1", details: { ok: true, hash: "abc" } },
    { ...who, action: "endStream", target: "s1", details: {} },
  ]);
  await ask("/admin/config", AUTH);
  await ask("/admin/explain", JSON_HEADERS, "POST", '{"request":"r"}');
  expect(entries, "nothing of what changes nothing").toHaveLength(3);
});

test("what the call itself refuses is in the log, what does not get that far is not", async () => {
  const { ask, entries } = await logged({ reload: async () => ({ ok: false, diagnostics: [{}] }) });
  expect((await ask("/admin/reload", AUTH, "POST")).status).toBe(422);
  expect((await ask("/admin/streams/s2", AUTH, "DELETE")).status).toBe(404);
  expect((await ask("/admin/rollback", AUTH, "POST", '{"to":-1}')).status).toBe(400);
  expect(entries.map(({ action, outcome, status }) => [action, outcome, status])).toEqual([
    ["reload", "refused", 422],
    ["endStream", "refused", 404],
  ]);
});

test("a fault is in the log as one", async () => {
  const { ask, entries } = await logged({ reload: () => Promise.reject(new Error("secret detail")) });
  expect((await ask("/admin/reload", AUTH, "POST")).status).toBe(500);
  expect(entries).toMatchObject([{ action: "reload", outcome: "failed", status: 500 }]);
  expect(JSON.stringify(entries)).not.toContain("secret");
});

test("a change that needs no store is made while the store is away, and logged", async () => {
  const services = { writeAudit: away, listAudit: away } as unknown as AdminServices;
  const { ask, lines } = await admin({ services });
  expect((await ask("/admin/reload", AUTH, "POST")).status).toBe(200);
  const warning = { fields: { audit: { name: "admin", action: "reload", outcome: "done" } } };
  expect(lines.filter(({ level }) => level === "warn")).toMatchObject([warning]);
  expect((await ask("/admin/audit", AUTH)).status).toBe(503);
});

/** A change of the store, as it is called with this body. */
function change(services: Partial<AdminServices>, body: Json, handle: (call: AdminCall) => unknown) {
  const common = { tag: "Users", summary: "", answers: {}, errors: [], params: { user_id: "" } };
  const endpoint = row({
    ...common,
    method: "POST",
    path: "/admin/users/{user_id}/x",
    role: "operator",
    id: "change",
    route: () => handle,
  });
  const parts = { services, log: { warn() {} } } as unknown as AdminParts;
  const caller = { name: "grace", role: "operator", expiresAt: null } as const;
  const call = { caller, params: { user_id: "u1" }, query: {}, body, note() {} } as unknown as AdminCall;
  return audited(
    endpoint,
    parts,
    auditStamps(() => 1_800_000_000_000),
  )(call);
}

test("a change of the store is refused before it is made while its entry cannot be written", async () => {
  let made = 0;
  await expect(change({ writeAudit: away }, {}, () => (made += 1))).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
  });
  expect(made).toBe(0);
});

test("the entry is there before the change is made, and small whatever the body was", async () => {
  const services = auditInMemory();
  const body = {
    amount: "5",
    reason: "x".repeat(60_000),
    ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`field${index}`, 1])),
  };
  let before: readonly AuditEntry[] = [];
  await change(services, body, ({ note }) => {
    before = [...services.entries];
    note({ target: "u2" });
    return {};
  });
  expect(before).toMatchObject([{ action: "change", target: "u1", outcome: "begun", status: null }]);
  expect(services.entries).toMatchObject([{ id: before[0]?.id, target: "u2", outcome: "done", status: 200 }]);
  expect(services.entries[0]?.details).toMatchObject({ amount: "5", reason: "…" });
  expect(JSON.stringify(services.entries).length).toBeLessThan(1_000);
});

test("a target and its details are short, whatever was sent", async () => {
  const { ask, entries } = await logged({ endStream: () => ({ ended: true, complete: true }) });
  await ask(`/admin/streams/${"%C3%BC".repeat(1_000)}`, AUTH, "DELETE");
  expect(entries[0]?.target).toBe("ü".repeat(256));
  expect((await ask("/admin/streams/%FF", AUTH, "DELETE")).status).toBe(400);
  expect((await ask("/admin/streams/a%2Fb%00", AUTH, "DELETE")).status).toBe(200);
  expect(entries.at(-1)?.target).toBe("a/b\u0000");
});

test("is read in pages, the newest first", async () => {
  const { ask } = await logged({ now: () => 1_800_000_000_000 });
  for (let turn = 0; turn < 5; turn++) await ask(`/admin/streams/s${turn}`, AUTH, "DELETE");
  const read = async (query: string) => {
    const { status, text } = await ask(`/admin/audit?${query}`, AUTH);
    expect(status).toBe(200);
    return JSON.parse(text) as { data: { target: string; at: string }[]; next_cursor: string | null };
  };
  const first = await read("limit=2");
  expect(first.data.map(({ target }) => target)).toEqual(["s4", "s3"]);
  expect(Date.parse(first.data[0]?.at ?? "")).toBeGreaterThan(1e12);
  const second = await read(`limit=3&cursor=${first.next_cursor}`);
  expect(second).toMatchObject({ data: [{ target: "s2" }, { target: "s1" }, { target: "s0" }], next_cursor: null });
  expect((await read("")).data).toHaveLength(5);
});

test.each([
  ["limit=0", "/limit must be at least 1"],
  ["limit=201", "/limit must be at most 200"],
  ["limit=two", "/limit must be an integer"],
  ["limit=1e2", "/limit must be an integer"],
  ["limit=1&limit=2", "/limit stands twice"],
  ["cursor=", "/cursor must not be empty"],
  ["cursor=!!", "/cursor is none that a page has given"],
  ["cursor=YSBi", "/cursor is none that a page has given"],
  ["cursor=YQ==", "/cursor is none that a page has given"],
  ["before=1", "/before is no parameter of this path"],
  ["__proto__=1", "/__proto__ is no parameter of this path"],
  ["a~/b=1", "/a~0~1b is no parameter of this path"],
])("a query that is none is a 400: %s", async (query, what) => {
  const { ask } = await logged();
  expect(await ask(`/admin/audit?${query}`, AUTH)).toMatchObject({ status: 400, text: `Invalid request: ${what}` });
});

test("a path without parameters takes none, and probes overlook them", async () => {
  const { ask } = await logged();
  expect((await ask("/admin/config?x=1", AUTH)).text).toBe("Invalid request: /x is no parameter of this path");
  expect((await ask("/metrics?x=1")).status).toBe(200);
});
