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
  start: "the start",
  file: "a change of the file",
  reload: "a reload asked for",
  rollback: "a rollback",
  guard: "its guard",
} as const;

/** Every configuration that can be returned to: what each changed, and what going back would change. */
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
            <Panel flush title="The last that served, the latest first">
              <DataTable
                caption="Generations"
                columns={columns(all, generations.reload)}
                rows={all}
                rowKey={({ hash }) => hash}
                empty={
                  <Empty title="None is kept yet">
                    A configuration that has served all users is kept, so that you can return to it.
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
    { id: "since", title: "Began to serve", cell: ({ since }) => <Time at={since} both /> },
    { id: "by", title: "By", cell: ({ by }) => (by === null ? "" : (CAUSES[by] ?? by)) },
    { id: "serves", title: "State", cell: ({ serves }) => serves && <Badge tone="good">serves</Badge> },
    {
      id: "effects",
      title: "Effect",
      cell: ({ hash, effect }) => {
        const before = all[all.findIndex((one) => one.hash === hash) + 1];
        if (before === undefined) return <span class="muted">the oldest that is kept</span>;
        return (
          <span class="row">
            {effect && <SummaryBadges of={effect} />}
            <a href={linkTo("/generations", { from: before.hash, to: hash })}>Show</a>
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
                  Return to it…
                </button>
              ),
          },
        ]
      : []),
  ];
}

function askToReturn(serving: string, { hash, since }: GenerationEffect, onChanged: () => void): void {
  confirm({
    title: "Return to this configuration?",
    text: (
      <div class="stack">
        <p>
          <Hash of={hash} />, which began to serve <Time at={since} />, serves all users at once, on this gateway and
          its workers. The file stays as it is: it is read again when it changes.
        </p>
        <h3>What this changes</h3>
        <DiffOf from={serving} to={hash} />
      </div>
    ),
    action: "Return to it",
    danger: true,
    run: async () => {
      const { ok } = await changed(admin.send("POST", "/admin/rollback", { body: { to: hash } }));
      onChanged();
      if (ok) toast("The former configuration serves");
      else toast("It could not be returned to: see the configuration's findings", { bad: true });
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

/** Of any two: the URL names them. */
function Comparison({ all }: { readonly all: readonly GenerationEffect[] }) {
  const to = query("to") || (all.find(({ serves }) => serves)?.hash ?? all[0]!.hash);
  const from = query("from") || (all[all.findIndex(({ hash }) => hash === to) + 1]?.hash ?? all.at(-1)!.hash);
  const choices = all.map(({ hash, serves }) => ({
    value: hash,
    title: `${hash.slice(0, 12)}${serves ? " (serves)" : ""}`,
  }));
  return (
    <Panel title="What a change means">
      <div class="filters">
        <SelectFilter name="from" label="From" choices={[{ value: "", title: "the one before" }, ...choices]} />
        <SelectFilter name="to" label="To" choices={[{ value: "", title: "what serves" }, ...choices]} />
      </div>
      <DiffOf from={from} to={to} />
    </Panel>
  );
}
