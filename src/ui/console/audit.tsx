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
  begun: ["neutral", "outcome unknown"],
};

const WHO: Readonly<Record<string, string>> = {
  "cli operator": "command line",
  "user user": "a user",
  " none": "unknown",
};

/** Changes, sign-ins and exports, newest first. */
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
      <Panel flush title="Changes, sign-ins and exports">
        <PagedTable
          caption="Audit log"
          columns={COLUMNS}
          pages={pages}
          rowKey={({ id }) => id}
          empty={
            <Empty title="No entries yet">
              Changes made here or on the command line, sign-ins and exports are recorded here, including refused ones.
            </Empty>
          }
        />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: "at", title: "Time", cell: ({ at }) => <Time at={at} both /> },
  {
    id: "who",
    title: "Actor",
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
    title: "Target",
    cell: ({ target, erased }) =>
      erased ? <span class="muted">deleted account</span> : target !== null && <code>{target}</code>,
  },
  {
    id: "outcome",
    title: "Outcome",
    cell: ({ outcome, status }) => {
      const [tone, text] = OUTCOMES[outcome] ?? ["neutral", outcome];
      return (
        <span title={status === null ? "no response was recorded" : `status ${status}`}>
          <Badge tone={tone}>{text}</Badge>
        </span>
      );
    },
  },
  { id: "details", title: "Details", cell: ({ details }) => <Details of={details} /> },
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
