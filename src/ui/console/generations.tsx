import type { GenerationEffect, GenerationList } from "#schema";
import { useEffect } from "preact/hooks";
import { confirm } from "../shared/dialog.tsx";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel } from "../shared/parts.tsx";
import { useResource } from "../shared/resource.ts";
import { linkTo } from "../shared/router.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { admin, changed, mayChange } from "./client.ts";
import { Effects, SummaryBadges, useDiff } from "./effects.tsx";
import { query, SelectFilter } from "./filters.tsx";
import { latest } from "./live.ts";
import { Hash } from "./state-parts.tsx";

const EVERY_MS = 10_000;

const CAUSES = {
  start: "start",
  file: "file change",
  reload: "reload",
  rollback: "rollback",
  guard: "guard",
} as const;

/** Past configurations: what each one changed, and what a rollback to it would change. */
export function GenerationsPage() {
  const generations = useResource(
    "generations",
    async (signal) => {
      const { data } = await admin.get<GenerationList>("/admin/generations", { signal });
      return data;
    },
    { everyMs: EVERY_MS },
  );
  // Seen with the next second, where figures come in.
  const hash = latest.value?.config.hash;
  const { reload } = generations;
  useEffect(reload, [hash, reload]);
  return (
    <>
      <PageHead title="Generations" />
      <Loaded resource={generations}>
        {(all) => (
          <>
            <Panel flush title="Recent configurations">
              <DataTable
                caption="Generations"
                columns={columns(all, generations.reload)}
                rows={all}
                rowKey={({ hash }) => hash}
                empty={
                  <Empty title="No generations yet">
                    Each configuration that has served all users is kept, so that you can roll back to it.
                  </Empty>
                }
              />
            </Panel>
            {all.length > 1 && <Comparison all={all} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function columns(all: readonly GenerationEffect[], onChanged: () => void): readonly Column<GenerationEffect>[] {
  const serving = all.find(({ serves }) => serves);
  return [
    { id: "hash", title: "Hash", cell: ({ hash }) => <Hash of={hash} /> },
    { id: "since", title: "Activated", cell: ({ since }) => <Time at={since} both /> },
    { id: "by", title: "Cause", cell: ({ by }) => (by === null ? "" : (CAUSES[by] ?? by)) },
    { id: "serves", title: "State", cell: ({ serves }) => serves && <Badge tone="good">current</Badge> },
    {
      id: "effects",
      title: "Effect",
      cell: ({ hash, effect }) => {
        const before = all[all.findIndex((one) => one.hash === hash) + 1];
        if (before === undefined) return <span class="muted">oldest kept</span>;
        return (
          <span class="row">
            {effect && <SummaryBadges of={effect} />}
            <a href={linkTo("/generations", { from: before.hash, to: hash })}>Show changes</a>
          </span>
        );
      },
    },
    ...(mayChange()
      ? [
          {
            id: "rollback",
            title: "",
            cell: (row: GenerationEffect) =>
              !row.serves &&
              serving && (
                <button
                  type="button"
                  class="button small danger"
                  onClick={() => askToReturn(serving.hash, row, onChanged)}
                >
                  Roll back…
                </button>
              ),
          },
        ]
      : []),
  ];
}

function askToReturn(serving: string, { hash, since }: GenerationEffect, onChanged: () => void): void {
  confirm({
    title: "Roll back to this configuration?",
    text: (
      <div class="stack">
        <p>
          Configuration <Hash of={hash} />, activated <Time at={since} />, will serve all users at once, on this gateway
          and its workers. The file is not changed. It is read again when it changes.
        </p>
        <h3>Effects</h3>
        <DiffOf from={serving} to={hash} />
      </div>
    ),
    action: "Roll back",
    danger: true,
    run: async () => {
      const { ok } = await changed(admin.send("POST", "/admin/rollback", { body: { to: hash } }));
      onChanged();
      if (ok) toast("Rolled back");
      else toast("Rollback failed: see the findings on the configuration page", { bad: true });
    },
  });
}

function DiffOf({ from, to }: { readonly from: string; readonly to: string }) {
  const diff = useDiff(from, to);
  return (
    <Loaded resource={diff} what="Comparing">
      {(report) => <Effects of={report} />}
    </Loaded>
  );
}

/** Compares any two configurations. The URL names them. */
function Comparison({ all }: { readonly all: readonly GenerationEffect[] }) {
  const to = query("to") || (all.find(({ serves }) => serves)?.hash ?? all[0]!.hash);
  const from = query("from") || (all[all.findIndex(({ hash }) => hash === to) + 1]?.hash ?? all.at(-1)!.hash);
  const choices = all.map(({ hash, serves }) => ({
    value: hash,
    title: `${hash.slice(0, 12)}${serves ? " (current)" : ""}`,
  }));
  return (
    <Panel title="Comparison">
      <div class="filters">
        <SelectFilter name="from" label="From" choices={[{ value: "", title: "previous" }, ...choices]} />
        <SelectFilter name="to" label="To" choices={[{ value: "", title: "current" }, ...choices]} />
      </div>
      <DiffOf from={from} to={to} />
    </Panel>
  );
}
