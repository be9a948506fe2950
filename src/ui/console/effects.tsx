import { formatCount, plural } from "../shared/formats.ts";
import { Badge, type Tone } from "../shared/parts.tsx";
import { type Resource, useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { admin } from "./client.ts";

type Value = string | number | boolean | null | readonly string[];

export interface Effect {
  readonly kind: string;
  readonly class: "breaking" | "risky" | "safe";
  readonly subject: Readonly<Record<string, string>>;
  readonly before: Value;
  readonly after: Value;
  readonly percent: number | null;
  readonly plans: readonly string[];
  readonly users?: number;
  readonly keys?: number;
}

export interface EffectReport {
  readonly summary: Readonly<Record<Effect["class"], number>>;
  readonly changes: readonly Effect[];
}

export function useDiff(from: string, to: string): Resource<EffectReport> {
  return useResource(`${from} ${to}`, (signal) =>
    admin.get<EffectReport>("/admin/config/diff", { query: { from, to }, signal }),
  );
}

const TONES: Readonly<Record<Effect["class"], Tone>> = { breaking: "bad", risky: "warn", safe: "good" };
const CLASSES = ["breaking", "risky", "safe"] as const;

export function SummaryBadges({ of: { summary } }: { readonly of: Pick<EffectReport, "summary"> }) {
  const some = CLASSES.filter((one) => summary[one] > 0);
  if (some.length === 0) return <Badge>no effect</Badge>;
  return (
    <>
      {some.map((one) => (
        <Badge key={one} tone={TONES[one]}>
          {formatCount(summary[one])} {one}
        </Badge>
      ))}
    </>
  );
}

/** How a configuration change affects users, most severe first. */
export function Effects({ of }: { readonly of: EffectReport }) {
  if (of.changes.length === 0) return <p class="muted">The text changed, but the gateway behaves the same.</p>;
  return (
    <div class="stack-s">
      <div class="row">
        <SummaryBadges of={of} />
      </div>
      <DataTable
        caption="Effects of the change"
        columns={of.changes.some(({ users }) => users !== undefined) ? [...COLUMNS, TOUCHED] : COLUMNS}
        rows={of.changes}
        rowKey={(effect) => JSON.stringify([effect.kind, effect.subject, effect.before, effect.after])}
        empty={null}
      />
    </div>
  );
}

const COLUMNS: readonly Column<Effect>[] = [
  { id: "class", title: "Severity", cell: (effect) => <Badge tone={TONES[effect.class]}>{effect.class}</Badge> },
  { id: "kind", title: "Change", cell: ({ kind }) => kind.replaceAll("-", " ") },
  {
    id: "subject",
    title: "Applies to",
    cell: ({ subject }) => (
      <span class="details">
        {Object.entries(subject).map(([what, name]) => (
          <span key={what}>
            <span class="muted">{what}</span> {name}
          </span>
        ))}
      </span>
    ),
  },
  { id: "values", title: "Before → after", cell: (effect) => <Values of={effect} /> },
  { id: "plans", title: "Plans", cell: ({ plans }) => plans.join(", ") },
];

const TOUCHED: Column<Effect> = {
  id: "touched",
  title: "Affected",
  cell: ({ users = 0, keys = 0 }) => `${plural(users, "user")}, ${plural(keys, "key")}`,
};

function Values({ of: { before, after, percent } }: { readonly of: Effect }) {
  if (before === null && after === null) return null;
  return (
    <span>
      {valueText(before)} → {valueText(after)}
      {percent !== null && (
        <span class="muted">
          {" "}
          ({percent > 0 ? "+" : ""}
          {formatCount(percent)} %)
        </span>
      )}
    </span>
  );
}

function valueText(value: Value): string {
  if (value === null) return "none";
  return Array.isArray(value) ? (value.length === 0 ? "none" : value.join(", ")) : String(value);
}
