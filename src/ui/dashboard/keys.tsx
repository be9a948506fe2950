import { useState } from "preact/hooks";
import type { ApiKey, Budget, CreatedApiKey } from "../shared/api.ts";
import { CopyButton } from "../shared/copy.tsx";
import { confirm, Dialog } from "../shared/dialog.tsx";
import { creditsNumber, creditsText, formatCredits } from "../shared/formats.ts";
import { boundsText } from "../shared/key-form.tsx";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel } from "../shared/parts.tsx";
import { useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { now, Time, Until } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { currentKeys } from "./chat.ts";
import { allowedModels, Connect } from "./connect.tsx";
import { EditKey, MakeKey, RollKey } from "./make-key.tsx";
import { api, planOf } from "./session.ts";

export function Keys() {
  const keys = useResource("keys", currentKeys);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  const [made, setMade] = useState<CreatedApiKey | null>(null);
  const revoke = (key: ApiKey): void =>
    confirm({
      title: `Revoke “${key.name}”?`,
      text: "Requests with this key will be rejected. This cannot be undone.",
      action: "Revoke key",
      danger: true,
      run: async () => {
        await api.revokeKey(key.id);
        toast(`“${key.name}” revoked`);
        keys.reload();
      },
    });
  const show = (key: CreatedApiKey): void => {
    close();
    setMade(key);
    keys.reload();
  };
  const makeButton = (
    <button type="button" class="button primary" onClick={() => setOpen({ what: "make" })}>
      Create key
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
              columns={columns({ revoke, open: setOpen })}
              rows={data}
              rowKey={({ id }) => id}
              empty={
                <Empty title="No API keys yet">
                  <span>Programs use an API key to send requests as you. Create one for each program.</span>
                </Empty>
              }
            />
          )}
        </Loaded>
      </Panel>
      {open?.what === "make" && <MakeKey onClose={close} onMade={show} />}
      {open?.what === "roll" && <RollKey of={open.key} onClose={close} onMade={show} />}
      {open?.what === "edit" && (
        <EditKey
          of={open.key}
          onClose={close}
          onChanged={() => {
            close();
            toast("Key saved");
            keys.reload();
          }}
        />
      )}
      {made && <MadeKey made={made} onClose={() => setMade(null)} />}
    </>
  );
}

/** The dialog that is open. */
type Open = { readonly what: "make" } | { readonly what: "edit" | "roll"; readonly key: ApiKey };

interface Actions {
  readonly revoke: (key: ApiKey) => void;
  readonly open: (dialog: Open) => void;
}

function columns({ revoke, open }: Actions): readonly Column<ApiKey>[] {
  return [
    {
      id: "name",
      title: "Name",
      sortBy: ({ name }) => name,
      cell: (key) => (
        <>
          {key.name} <Expired at={key.expires_at} />
          {key.replaced_by !== null && <Badge tone="warn">rolled</Badge>}
          <Tags tags={key.tags} />
        </>
      ),
    },
    { id: "prefix", title: "Key", cell: ({ key_prefix: prefix }) => <code>{prefix}…</code> },
    { id: "created", title: "Created", sortBy: (key) => key.created_at, cell: (key) => <Time at={key.created_at} /> },
    {
      id: "used",
      title: "Last used",
      sortBy: (key) => key.last_used_at,
      cell: (key) => (key.last_used_at === null ? "never" : <Time at={key.last_used_at} />),
    },
    {
      id: "expires",
      title: "Expires",
      sortBy: (key) => key.expires_at ?? null,
      cell: (key) => (key.expires_at ? <Until at={key.expires_at} /> : "never"),
    },
    { id: "bounds", title: "Restrictions", cell: (key) => boundsText(key) || "none" },
    { id: "models", title: "Models", cell: ({ models }) => models?.join(", ") ?? "all in your plan" },
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
        <span class="row end" style={{ flexWrap: "nowrap" }}>
          <button
            type="button"
            class="button small"
            aria-label={`Edit ${key.name}`}
            onClick={() => open({ what: "edit", key })}
          >
            Edit
          </button>
          {key.replaced_by === null && (
            <button
              type="button"
              class="button small"
              aria-label={`Roll ${key.name}`}
              onClick={() => open({ what: "roll", key })}
            >
              Roll
            </button>
          )}
          <button
            type="button"
            class="button small danger"
            aria-label={`Revoke ${key.name}`}
            onClick={() => revoke(key)}
          >
            Revoke
          </button>
        </span>
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
      {isSpent && <Badge tone="bad">used up</Badge>}
      {resetsAt && (
        <span class="muted">
          , resets <Until at={resetsAt} />
        </span>
      )}
    </>
  );
}

const PER = { day: "per day", month: "per month", total: "in total" } as const;

function Expired({ at }: { readonly at: string | null | undefined }) {
  return at && Date.parse(at) <= now.value ? <Badge tone="bad">expired</Badge> : null;
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

/** Shows the new key, which cannot be shown again. */
function MadeKey({ made, onClose }: { readonly made: CreatedApiKey; readonly onClose: () => void }) {
  const models = useResource("models", (signal) => api.models(signal));
  const plan = planOf();
  return (
    <Dialog title={`“${made.name}” created`} onClose={onClose}>
      <p class="note warn">Copy this key now. You cannot see it again.</p>
      <div class="row">
        <code>{made.key}</code>
        <CopyButton text={made.key} what="the key" />
      </div>
      <Connect secret={made.key} models={allowedModels(models.data ?? [], plan)} />
      <div class="row end">
        <button type="button" class="button primary" onClick={onClose}>
          I have copied the key
        </button>
      </div>
    </Dialog>
  );
}
