import { onTestFinished } from "vitest";
import type { ExplainAnswer } from "#schema";
import { type AdminToken, type AuditEntry, type NewAuditEntry, Secret } from "../../../src/kit/index.ts";
import { ADMIN_ENDPOINTS } from "../../../src/server/admin/endpoints.ts";
import { type AdminOptions, createAdminHandler } from "../../../src/server/admin/handler.ts";
import type { AdminServices } from "../../../src/server/admin/services.ts";
import { listenOn } from "../../../src/server/listen.ts";
import { LOOPBACK, type LogLine, memoryLog, send } from "../support.ts";

export const TOKEN = "an-admin-token";
export const VIEWER_TOKEN = "a-viewer-s-token";
export const AUTH = { authorization: `Bearer ${TOKEN}` };
export const VIEWER = { authorization: `Bearer ${VIEWER_TOKEN}` };

/** A path that belongs to a template. */
export function pathOf(template: string): string {
  return template.replaceAll(/\{\w+\}/g, "some-id");
}

/** Every row that asks for a token. */
export const GUARDED = ADMIN_ENDPOINTS.filter(({ role }) => role !== "none");

interface AuditInMemory {
  readonly entries: AuditEntry[];
  readonly failures: readonly Parameters<AdminServices["noteFailedSignIns"]>[0][number][];
}

/** Services that keep what they are told. */
export function auditInMemory(): AdminServices & AuditInMemory {
  const entries: AuditEntry[] = [];
  const failures: Parameters<AdminServices["noteFailedSignIns"]>[0][number][] = [];
  const ended = new Set<string>();
  // Methods of other rows are not asked here.
  return Object.assign(Object.create(null) as AdminServices, {
    entries,
    failures,
    async writeAudit(written: NewAuditEntry) {
      const entry = { ...written, digest: null, previous: null };
      const at = entries.findIndex(({ id }) => id === entry.id);
      if (at < 0) entries.push(entry);
      else entries[at] = entry;
      return null;
    },
    async noteFailedSignIns(more: readonly (typeof failures)[number][]) {
      failures.push(...more);
      return null;
    },
    async endSession(id: string) {
      ended.add(id);
      return null;
    },
    isSessionEnded: async (id: string) => ended.has(id),
    async listAudit({ before, limit }: { readonly before: string | null; readonly limit: number }) {
      const all = entries.toSorted((a, b) => (a.id < b.id ? 1 : -1));
      return all.filter(({ id }) => before === null || id < before).slice(0, limit);
    },
  });
}

interface Options extends Partial<AdminOptions> {
  readonly token?: string;
  readonly tokens?: readonly AdminToken[];
  readonly host?: string;
}

/** An admin listener with answers of its own. */
export async function admin(options: Options = {}) {
  const { token = TOKEN, host = LOOPBACK } = options;
  const lines: LogLine[] = [];
  const named = [
    { name: "admin", role: "operator", token: new Secret(token) },
    { name: "victor", role: "viewer", token: new Secret(token === "" ? "" : VIEWER_TOKEN) },
  ] as const;
  const tokens = options.tokens ?? named;
  const handler = createAdminHandler({
    settings: () => ({ host, tokens }),
    notReady: () => [],
    metrics: async () => ({ contentType: "text/plain; version=0.0.4", body: "gateway_up 1\n" }),
    config: () => ({ generation: 3, hash: "abc" }),
    source: () => ({ hash: "abc", files: [] }),
    upstreams: async () => [{ name: "alpha", state: "closed" }],
    streams: () => [],
    endStream: (id) => ({ ended: id === "s1", complete: id !== "s3" }),
    settlements: () => ({ pending: 0, rejected: [] }),
    models: () => ({}),
    plugins: () => ({}),
    instances: () => ({}),
    figures: () => ({}),
    events: () => new ReadableStream({ start: (controller) => controller.close() }),
    reload: async () => ({ ok: true, hash: "def" }),
    rollback: async () => ({ ok: true, hash: "abc" }),
    explain: async () => ({ ok: true, explanation: {} as ExplainAnswer }),
    services: auditInMemory(),
    log: memoryLog(lines),
    ...options,
  });
  const listening = await listenOn([{ host: LOOPBACK, port: 0 }], handler);
  onTestFinished(async () => {
    listening.closeAll();
    await listening.close();
  });
  const { port } = listening.addresses[0]!;
  return {
    port,
    lines,
    ask: (path: string, headers: Record<string, string> = {}, method = "GET", body = "") =>
      send(port, { method, path, headers, body }),
  };
}
