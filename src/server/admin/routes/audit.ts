import type { AuditPage } from "../../../../schemas/types.gen.ts";
import { json } from "../../endpoint.ts";
import { shownEntry } from "../audit.ts";
import { type AdminEndpoint, row } from "../endpoint.ts";
import { idCursor, pageOf, ENTRIES_PER_PAGE } from "../input.ts";

export const AUDIT: readonly AdminEndpoint[] = [
  row({
    method: "GET",
    path: "/admin/audit",
    role: "viewer",
    id: "listAudit",
    tag: "Audit",
    summary: "Who changed what",
    description:
      "Changes, sign-ins and exports, the newest first, for as long as the ledger is kept. Each entry names the digest of the one before; `gateway audit verify` checks all of them.",
    query: "AuditQuery",
    answers: { 200: { description: "A page of the audit log.", content: json("AuditPage") } },
    errors: [],
    route:
      ({ services }) =>
      async ({ query: { limit = ENTRIES_PER_PAGE, cursor } }): Promise<AuditPage> => {
        const entries = await services.listAudit({ before: idCursor(cursor), limit: limit + 1 });
        return pageOf(entries.map(shownEntry), limit, ({ id }) => id);
      },
  }),
];
