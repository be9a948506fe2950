import type { LedgerExportQuery, LedgerPage, UsagePage } from "../../../../schemas/types.gen.ts";
import { json, schemaRef } from "../../endpoint.ts";
import { EXPORTS } from "../../ledger-view.ts";
import { type AdminEndpoint, row } from "../endpoint.ts";
import type { AdminServices } from "../services.ts";

/** Entries asked for at once: what an export has in memory. */
const ENTRIES_PER_READ = 1_000;

const PAGES =
  "A call looks at 5,000 entries at most: a page may be short or empty, though `next_cursor` leads to another.";

export const LEDGER: readonly AdminEndpoint[] = [
  row({
    method: "GET",
    path: "/admin/ledger",
    role: "viewer",
    id: "listLedger",
    tag: "Ledger",
    summary: "What was charged",
    description: `Entries of all users, the last recorded first. ${PAGES}`,
    query: "LedgerQuery",
    answers: { 200: { description: "A page of the ledger.", content: json("LedgerPage") } },
    errors: [],
    route:
      ({ services }) =>
      ({ query }): Promise<LedgerPage> =>
        services.ledgerPage(query),
  }),
  row({
    method: "GET",
    path: "/admin/ledger/export",
    role: "viewer",
    id: "exportLedger",
    auditedAs: "export",
    tag: "Ledger",
    summary: "The ledger as NDJSON or CSV",
    description:
      "All entries of a filter, the last recorded first, as they are read; an answer that breaks off is not whole. In CSV a text that a spreadsheet could take for a formula has an apostrophe in front.",
    query: "LedgerExportQuery",
    answers: {
      200: {
        description: "The entries.",
        content: {
          "application/x-ndjson": { schema: { type: "string", contentSchema: schemaRef("LedgerEntry") } },
          "text/csv": { schema: { type: "string" } },
        },
      },
    },
    errors: [],
    route:
      ({ services }) =>
      async ({ query: { format = "ndjson", ...filter }, note }): Promise<Response> => {
        note({ details: { format, ...filter } });
        const { type, head, line } = EXPORTS[format];
        // The first page before the answer: what is wrong with the filter has its status.
        const first = await services.ledgerPage({ ...filter, limit: ENTRIES_PER_READ });
        const texts = (page: LedgerPage) => page.data.map(line).join("");
        return new Response(streamOf(head + texts(first), first.next_cursor, nextOf(services, filter, texts)), {
          headers: {
            "Content-Type": type,
            "Content-Disposition": `attachment; filename="ledger.${format}"`,
            "X-Content-Type-Options": "nosniff",
          },
        });
      },
  }),
  row({
    method: "GET",
    path: "/admin/usage",
    role: "viewer",
    id: "getUsage",
    tag: "Ledger",
    summary: "What the ledger adds up to",
    description:
      "Requests, tokens and cost by hour or day of recording, and by what is asked for, the latest day first. Over all users for 400 days, by user and key as long as the ledger is kept. A page may be short or empty, though `next_cursor` leads to another.",
    query: "UsageQuery",
    answers: { 200: { description: "A page of usage.", content: json("UsagePage") } },
    errors: [],
    route:
      ({ services }) =>
      ({ query }): Promise<UsagePage> =>
        services.usage(query),
  }),
];

type Next = (cursor: string) => Promise<{ readonly text: string; readonly cursor: string | null }>;

function nextOf(
  services: AdminServices,
  filter: Omit<LedgerExportQuery, "format">,
  texts: (page: LedgerPage) => string,
): Next {
  return async (cursor) => {
    const page = await services.ledgerPage({ ...filter, limit: ENTRIES_PER_READ, cursor });
    return { text: texts(page), cursor: page.next_cursor };
  };
}

/** Asks for the next piece when the client has taken the one before, and no more when the client has left. */
function streamOf(first: string, cursor: string | null, next: Next): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let [text, place] = [first, cursor];
  let isOver = false;
  return new ReadableStream(
    {
      async pull(controller) {
        // Of a filter that few match pages are empty.
        while (text === "" && place !== null) {
          const page = await next(place);
          // The client has left meanwhile.
          if (isOver) return;
          ({ text, cursor: place } = page);
        }
        if (text !== "") controller.enqueue(encoder.encode(text));
        text = "";
        if (place === null) controller.close();
      },
      cancel() {
        isOver = true;
      },
    },
    { highWaterMark: 0 },
  );
}
