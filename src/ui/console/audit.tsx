import type { AuditEntry, AuditPage as Page } from "#schema";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Panel, type Tone } from "../shared/parts.tsx";
import { usePages } from "../shared/resource.ts";
import { type Column, PagedTable } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { admin } from "./client.ts";

const OUTCOMES: Readonly<Record<string, readonly [tone: Tone, text: string]>> = {
  done: ["good", "done"],
  refused: ["warn", "refused"],
  failed: ["bad", "failed"],
  begun: ["neutral", "end not known"],
};

const WHO: Readonly<Record<string, string>> = {
  "cli operator": "command line",
  "user user": "a user",
  " none": "nobody known",
};

/** Who changed what, who signed in, and when. */
export function AuditPage() {
  const pages = usePages("audit", (cursor, signal) => admin.get<Page>("/admin/audit", { query: { cursor }, signal }));
  return (
    <>
      <PageHead
        title="Audit log"
        actions={
          <button type="button" class="button small" onClick={pages.reload}>
            Refresh
          </button>
        }
      />
      <Panel flush title="Changes, sign-ins and exports, the newest first">
        <PagedTable
          caption="Audit log"
          columns={COLUMNS}
          pages={pages}
          rowKey={({ id }) => id}
          empty={
            <Empty title="Nothing has been changed yet">
              Changes by operators and by the command line are listed here, also refused ones, and so are sign-ins and
              exports.
            </Empty>
          }
        />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: "at", title: "When", cell: ({ at }) => <Time at={at} both /> },
  {
    id: "who",
    title: "Who",
    cell: ({ name, role }) =>
      WHO[`${name} ${role}`] ?? (
        <>
          {name} <span class="muted small">({role})</span>
        </>
      ),
  },
  { id: "address", title: "From", cell: ({ address }) => (address === null ? "" : <code>{address}</code>) },
  { id: "action", title: "Action", cell: ({ action }) => <code>{action}</code> },
  {
    id: "target",
    title: "On",
    cell: ({ target, erased }) =>
      erased ? <span class="muted">a deleted account</span> : target !== null && <code>{target}</code>,
  },
  {
    id: "outcome",
    title: "Outcome",
    cell: ({ outcome, status }) => {
      const [tone, text] = OUTCOMES[outcome] ?? ["neutral", outcome];
      return (
        <span title={status === null ? "no answer was written" : `status ${status}`}>
          <Badge tone={tone}>{text}</Badge>
        </span>
      );
    },
  },
  { id: "details", title: "With", cell: ({ details }) => <Details of={details} /> },
];

function Details({ of }: { readonly of: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(of);
  if (entries.length === 0) return null;
  return (
    <span class="details">
      {entries.map(([name, value]) => (
        <span key={name}>
          <span class="muted">{name}:</span> {typeof value === "string" ? value : JSON.stringify(value)}
        </span>
      ))}
    </span>
  );
}
