import { useState } from "preact/hooks";
import type { ApiKey, Budget, CreatedApiKey } from "../shared/api.ts";
import { CopyButton } from "../shared/copy.tsx";
import { confirm, Dialog } from "../shared/dialog.tsx";
import { creditsNumber, creditsText, formatCredits } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel } from "../shared/parts.tsx";
import { useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { now, Time, Until } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { currentKeys } from "./chat.ts";
import { allowedModels, Connect } from "./connect.tsx";
import { MakeKey } from "./make-key.tsx";
import { api, planOf } from "./session.ts";

export function Keys() {
  const keys = useResource("keys", currentKeys);
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<CreatedApiKey | null>(null);
  const revoke = (key: ApiKey): void =>
    confirm({
      title: `Revoke “${key.name}”?`,
      text: "Whatever uses this key is refused from now on. This cannot be undone.",
      action: "Revoke key",
      danger: true,
      run: async () => {
        await api.revokeKey(key.id);
        toast(`“${key.name}” is revoked`);
        keys.reload();
      },
    });
  const makeButton = (
    <button type="button" class="button primary" onClick={() => setMaking(true)}>
      Make a key
    </button>
  );
  return (
    <>
      <PageHead title="API keys" actions={makeButton} />
      <Panel title="Your keys" flush>
        <Loaded resource={keys}>
          {(data) => (
            <DataTable
              caption="Your API keys"
              columns={columns(revoke)}
              rows={data}
              rowKey={({ id }) => id}
              empty={
                <Empty title="No keys yet">
                  <span>A key lets a program send requests in your name. Use one for each place that sends them.</span>
                </Empty>
              }
            />
          )}
        </Loaded>
      </Panel>
      {making && (
        <MakeKey
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            setMade(key);
            keys.reload();
          }}
        />
      )}
      {made && <MadeKey made={made} onClose={() => setMade(null)} />}
    </>
  );
}

function columns(revoke: (key: ApiKey) => void): readonly Column<ApiKey>[] {
  return [
    {
      id: "name",
      title: "Name",
      sortBy: ({ name }) => name,
      cell: (key) => (
        <>
          {key.name} <Expired at={key.expires_at} />
          <Tags tags={key.tags} />
        </>
      ),
    },
    { id: "prefix", title: "Key", cell: ({ key_prefix: prefix }) => <code>{prefix}…</code> },
    { id: "created", title: "Made", sortBy: (key) => key.created_at, cell: (key) => <Time at={key.created_at} /> },
    {
      id: "used",
      title: "Last used",
      sortBy: (key) => key.last_used_at,
      cell: (key) => (key.last_used_at === null ? "never" : <Time at={key.last_used_at} />),
    },
    {
      id: "expires",
      title: "Ends",
      sortBy: (key) => key.expires_at ?? null,
      cell: (key) => (key.expires_at ? <Until at={key.expires_at} /> : "never"),
    },
    { id: "models", title: "Models", cell: ({ models }) => models?.join(", ") ?? "all of the plan" },
    {
      id: "budget",
      title: "Budget",
      sortBy: ({ budget }) => (budget ? creditsNumber(budget.amount) : null),
      cell: ({ budget }) => (budget ? <BudgetCell budget={budget} /> : "none"),
    },
    {
      id: "actions",
      title: "",
      end: true,
      cell: (key) => (
        <button type="button" class="button small danger" aria-label={`Revoke ${key.name}`} onClick={() => revoke(key)}>
          Revoke
        </button>
      ),
    },
  ];
}

function BudgetCell({ budget }: { readonly budget: Budget }) {
  const { amount, per, spent, resets_at: resetsAt } = budget;
  const isSpent = creditsNumber(spent) >= creditsNumber(amount);
  return (
    <>
      <span title={`${spent} of ${amount} credits`}>
        {formatCredits(spent)} of {creditsText(amount)} {PER[per]}
      </span>
      {isSpent && <Badge tone="bad">spent</Badge>}
      {resetsAt && (
        <span class="muted">
          , resets <Until at={resetsAt} />
        </span>
      )}
    </>
  );
}

const PER = { day: "a day", month: "a month", total: "in total" } as const;

function Expired({ at }: { readonly at: string | null | undefined }) {
  return at && Date.parse(at) <= now.value ? <Badge tone="bad">ended</Badge> : null;
}

function Tags({ tags }: { readonly tags: ApiKey["tags"] }) {
  return (
    <>
      {Object.entries(tags ?? {}).map(([name, value]) => (
        <span key={name}>
          {" "}
          <Badge tone="plain">{`${name}: ${value}`}</Badge>
        </span>
      ))}
    </>
  );
}

/** Closed by its button alone: what is shown here cannot be had again. */
function MadeKey({ made, onClose }: { readonly made: CreatedApiKey; readonly onClose: () => void }) {
  const models = useResource("models", (signal) => api.models(signal));
  const plan = planOf();
  return (
    <Dialog title={`“${made.name}” is made`} onClose={onClose}>
      <p class="note warn">Copy the key now. It is not shown again.</p>
      <div class="row">
        <code>{made.key}</code>
        <CopyButton text={made.key} what="the key" />
      </div>
      <Connect secret={made.key} models={allowedModels(models.data ?? [], plan)} />
      <div class="row end">
        <button type="button" class="button primary" onClick={onClose}>
          I have copied it
        </button>
      </div>
    </Dialog>
  );
}
