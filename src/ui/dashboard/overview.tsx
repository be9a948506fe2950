import { useState } from "preact/hooks";
import type { Account, ApiKey, CreatedApiKey, RunningStream } from "../shared/api.ts";
import { Chart } from "../shared/chart.tsx";
import { CopyButton } from "../shared/copy.tsx";
import { confirm } from "../shared/dialog.tsx";
import { creditsNumber, formatCount, formatCredits, plural } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Figure, Loaded, Meter, Panel, ProblemNote } from "../shared/parts.tsx";
import { useAction, useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { Credits, Time, Until } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { currentKeys } from "./chat.ts";
import { allowedModels, Connect } from "./connect.tsx";
import { api, planOf } from "./session.ts";
import { addAmounts, DAY_MS, spread } from "./spending.ts";
import { TestRequest } from "./test-request.tsx";

const DAYS = 30;
const SERIES_COUNT = 8;
const ACCOUNT_EVERY_MS = 15_000;
const USAGE_EVERY_MS = 60_000;
const STREAMS_EVERY_MS = 5_000;

export function Overview() {
  const account = useResource("account", (signal) => api.account(signal), { everyMs: ACCOUNT_EVERY_MS });
  const keys = useResource("keys", currentKeys);
  return (
    <>
      <PageHead title="Overview" actions={account.data && <Badge tone="plain">{account.data.plan_tier} plan</Badge>} />
      {keys.data && <FirstRun keys={keys.data} plan={planOf()} />}
      <Loaded resource={account} what="Loading your account">
        {(data) => <Limits account={data} />}
      </Loaded>
      <Spending />
      <Streams />
    </>
  );
}

function Limits({ account }: { readonly account: Account }) {
  const { day, hour, minute } = account.windows;
  const isEmpty = creditsNumber(account.credits) <= 0;
  return (
    <div class="grid-2">
      <Panel title="Limits">
        <Meter
          label="Today"
          {...day}
          unit="requests"
          hint={
            <>
              resets <Until at={day.resets_at} />
            </>
          }
        />
        <Meter
          label="This hour"
          {...hour}
          unit="requests"
          hint={
            <>
              resets <Until at={hour.resets_at} />
            </>
          }
        />
        <Meter
          label="This minute"
          {...minute}
          unit="requests"
          hint={
            <>
              resets <Until at={minute.resets_at} />
            </>
          }
        />
        <Meter label="Streams" used={account.streams.running} limit={account.streams.limit} unit="at once" />
      </Panel>
      <Panel title="Credits">
        <div class="figures">
          <Figure
            label="Balance"
            value={<Credits amount={account.credits} />}
            hint={isEmpty ? undefined : "includes reserved"}
          />
          <Figure label="Reserved" value={<Credits amount={account.held} />} hint="by running requests" />
        </div>
        {isEmpty && (
          <p class="note warn">
            You have no credits left, so requests are rejected. Ask the operator of this gateway for more.
          </p>
        )}
      </Panel>
    </div>
  );
}

/** First steps for users without a key. A key created here stays in the snippets until the user leaves the page. */
function FirstRun({ keys, plan }: { readonly keys: readonly ApiKey[]; readonly plan: string }) {
  const [made, setMade] = useState<CreatedApiKey | null>(null);
  const models = useResource("models", (signal) => api.models(signal));
  const make = useAction(async () => {
    setMade(await api.createKey({ name: "First key" }));
  });
  const usable = allowedModels(models.data ?? [], plan);
  if (keys.some(({ tags }) => tags?.["source"] !== "playground") && made === null) return null;
  return (
    <Panel title="Get started">
      <ol class="steps">
        <li>
          <div class="stack-s">
            <span>Use this base URL:</span>
            <span class="row">
              <code>{`${window.location.origin}/v1`}</code>
              <CopyButton text={`${window.location.origin}/v1`} what="the base URL" />
            </span>
          </div>
        </li>
        <li>
          <div class="stack-s">
            <span>Create an API key. It is shown only once.</span>
            {make.problem && <ProblemNote problem={make.problem} />}
            {made === null ? (
              <span>
                <button type="button" class="button primary" disabled={make.busy} onClick={() => make.start()}>
                  {make.busy ? "Creating…" : "Create key"}
                </button>
              </span>
            ) : (
              <span class="row">
                <code>{made.key}</code>
                <CopyButton text={made.key} what="the key" />
              </span>
            )}
          </div>
        </li>
        <li>
          <div class="stack-s">
            <span>Set up your client:</span>
            <Connect secret={made?.key ?? null} models={usable} />
          </div>
        </li>
        <li>
          <div class="stack-s">
            <span>Send a request:</span>
            <TestRequest secret={made?.key ?? null} models={usable} />
          </div>
        </li>
      </ol>
    </Panel>
  );
}

function Spending() {
  const to = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  const from = to - DAYS * DAY_MS;
  const usage = useResource(
    `usage ${from}`,
    (signal) => api.usage({ per: "day", by: "model", from: new Date(from).toISOString() }, signal),
    { everyMs: USAGE_EVERY_MS },
  );
  return (
    <Panel title={`Spending, last ${DAYS} days`} actions={<a href="#/usage">View usage</a>}>
      <Loaded resource={usage} what="Loading usage">
        {(rows) => {
          if (rows.length === 0) {
            return (
              <Empty title="No spending yet">
                <span>
                  Send a request from the <a href="#/playground">playground</a> or with an API key.
                </span>
              </Empty>
            );
          }
          const shown = spread(rows, ({ cost }) => creditsNumber(cost), {
            from,
            to,
            stepMs: DAY_MS,
            maxSeries: SERIES_COUNT,
          });
          const requests = rows.reduce((sum, row) => sum + row.requests, 0);
          return (
            <>
              <div class="figures">
                <Figure label="Spent" value={<Credits amount={addAmounts(rows.map(({ cost }) => cost))} />} />
                <Figure label="Requests" value={formatCount(requests)} />
              </div>
              <Chart
                caption="Credits per day, by model"
                kind="stacked-bars"
                times={shown.times}
                series={shown.series}
                format={(value) => formatCredits(value.toFixed(9))}
                formatTime={dayText}
              />
            </>
          );
        }}
      </Loaded>
    </Panel>
  );
}

const DAY = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

function dayText(at: number): string {
  return `${DAY.format(at)} (UTC)`;
}

function Streams() {
  const streams = useResource("streams", (signal) => api.streams(signal), { everyMs: STREAMS_EVERY_MS });
  const running = streams.data ?? [];
  const one = useAction(async (id: string) => {
    await api.stopStream(id);
    toast("Stream stopped");
    streams.reload();
  });
  const stop = (): void =>
    confirm({
      title: "Stop all streams?",
      text: "This stops all your running streams, for every API key, within about a second. You are charged for what was generated.",
      action: "Stop all",
      danger: true,
      run: async () => {
        const { killed_streams: count } = await api.stopStreams();
        toast(`${plural(count, "stream")} stopped`);
        streams.reload();
      },
    });
  const columns: readonly Column<RunningStream>[] = [
    { id: "model", title: "Model", cell: ({ model }) => <code>{model}</code> },
    { id: "state", title: "State", cell: ({ state }) => state },
    { id: "since", title: "Started", cell: (stream) => <Time at={stream.started_at} /> },
    {
      id: "stop",
      title: "",
      end: true,
      cell: ({ id, model }) => (
        <button
          type="button"
          class="button small danger"
          aria-label={`Stop the stream of ${model}`}
          disabled={one.busy}
          onClick={() => one.start(id)}
        >
          Stop
        </button>
      ),
    },
  ];
  return (
    <Panel
      title="Running streams"
      flush
      actions={
        <button type="button" class="button small danger" disabled={running.length === 0} onClick={stop}>
          Stop all
        </button>
      }
    >
      {one.problem && <ProblemNote problem={one.problem} />}
      <Loaded resource={streams}>
        {(data) => (
          <DataTable
            caption="Running streams"
            columns={columns}
            rows={data}
            rowKey={({ id }) => id}
            empty={<p class="empty muted">No running streams.</p>}
          />
        )}
      </Loaded>
    </Panel>
  );
}
