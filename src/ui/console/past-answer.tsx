import type { ExplainedDifference, PastExplanation } from "#schema";
import { Badge, Panel } from "../shared/parts.tsx";
import { type Column, DataTable } from "../shared/table.tsx";
import { Explanation } from "./explanation.tsx";
import { Facts } from "./state-parts.tsx";

const COLUMNS: readonly Column<ExplainedDifference>[] = [
  { id: "what", title: "Field", cell: ({ what }) => what },
  { id: "before", title: "Then", cell: ({ before }) => before },
  { id: "now", title: "Now", cell: ({ now }) => now },
];

/** The recorded decision, and the decision under the current configuration. */
export function PastAnswer({ of }: { readonly of: PastExplanation }) {
  const { before, now, differences, notes } = of;
  return (
    <>
      <Panel title="Then">
        <Facts
          rows={[
            ["Model", before.model],
            ["Plan", before.plan],
            ["Outcome", before.outcome.replaceAll("_", " ")],
            ["Status", [before.status, before.code].filter((one) => one !== null).join(" ")],
          ]}
        />
        {notes.length > 0 && (
          <ul class="note warn">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        )}
        {differences.length === 0 ? (
          <p>
            <Badge tone="good">unchanged</Badge> The current configuration makes the same decision.
          </p>
        ) : (
          <DataTable
            caption="Differences"
            columns={COLUMNS}
            rows={differences}
            rowKey={({ what }) => what}
            empty={null}
          />
        )}
      </Panel>
      {now && <Explanation title="Now" of={now} />}
    </>
  );
}
