import type { AdminKey, CreatedAdminKey } from "#schema";
import { useState } from "preact/hooks";
import { CodeBlock } from "../shared/copy.tsx";
import { confirm, Dialog } from "../shared/dialog.tsx";
import { errorOf, Form, otherProblem, SelectField, TextField } from "../shared/fields.tsx";
import { BUDGET_PERIODS, KEY_EXPIRIES } from "../shared/key-choices.ts";
import { formatPercent } from "../shared/formats.ts";
import type { Page } from "../shared/paging.ts";
import { Badge, Empty, Panel, ProblemNote } from "../shared/parts.tsx";
import { useAction, usePages } from "../shared/resource.ts";
import { linkTo } from "../shared/router.ts";
import { type Column, PagedTable } from "../shared/table.tsx";
import { Credits, now, Time, Until } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { admin, mayChange, part } from "./client.ts";

/** The keys of a user: made, shown once, revoked. */
export function UserKeys({ userId }: { readonly userId: string }) {
  const [making, setMaking] = useState(false);
  const pages = usePages(userId, (cursor, signal) =>
    admin.get<Page<AdminKey>>(`/admin/users/${part(userId)}/keys`, { query: { cursor }, signal }),
  );
  return (
    <Panel
      flush
      title="Keys"
      actions={
        mayChange() && (
          <button type="button" class="button small" onClick={() => setMaking(true)}>
            New key…
          </button>
        )
      }
    >
      <PagedTable
        caption="Keys"
        columns={columns(pages.reload)}
        pages={pages}
        rowKey={({ id }) => id}
        empty={<Empty title="This user has no keys">The user makes them in the dashboard, or you make one here.</Empty>}
      />
      {making && (
        <KeyDialog
          userId={userId}
          onClose={() => {
            setMaking(false);
            pages.reload();
          }}
        />
      )}
    </Panel>
  );
}

function columns(onRevoked: () => void): readonly Column<AdminKey>[] {
  return [
    { id: "name", title: "Name", cell: ({ name }) => name || "–", sortBy: ({ name }) => name },
    {
      id: "prefix",
      title: "Key",
      cell: ({ id, key_prefix }) => (
        <a href={linkTo("/ledger", { key: id })} title={`Requests of key ${id}`}>
          <code>{key_prefix}…</code>
        </a>
      ),
    },
    { id: "limits", title: "May do", cell: (key) => <KeyLimits of={key} /> },
    { id: "used", title: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { id: "created", title: "Made", cell: ({ created_at }) => <Time at={created_at} /> },
    {
      id: "expires",
      title: "Expires",
      cell: ({ expires_at }) =>
        expires_at === null ? (
          "never"
        ) : Date.parse(expires_at) <= now.value ? (
          <Badge tone="bad">expired</Badge>
        ) : (
          <Until at={expires_at} />
        ),
    },
    ...(mayChange()
      ? [
          {
            id: "revoke",
            title: "",
            cell: (key: AdminKey) => (
              <button type="button" class="button small danger" onClick={() => askToRevoke(key, onRevoked)}>
                Revoke
              </button>
            ),
          },
        ]
      : []),
  ];
}

function KeyLimits({ of: { models, budget, tags } }: { readonly of: AdminKey }) {
  const names = Object.entries(tags ?? {});
  return (
    <span class="details">
      <span>{models === null ? "every model of the plan" : models.join(", ") || "no model"}</span>
      {budget && (
        <span>
          <Credits amount={budget.spent} bare /> of <Credits amount={budget.amount} /> per {budget.per} (
          {formatPercent(Number(budget.spent) / Math.max(Number(budget.amount), Number.MIN_VALUE))})
        </span>
      )}
      {names.length > 0 && <span class="muted">{names.map(([name, value]) => `${name}: ${value}`).join(", ")}</span>}
    </span>
  );
}

function askToRevoke({ id, name, key_prefix }: AdminKey, onRevoked: () => void): void {
  confirm({
    title: `Revoke ${name || key_prefix}?`,
    text: (
      <p>
        Whoever uses <code>{key_prefix}…</code> is refused from now on. This cannot be taken back.
      </p>
    ),
    action: "Revoke the key",
    danger: true,
    run: async () => {
      await admin.send("DELETE", `/admin/keys/${part(id)}`);
      toast("The key is revoked");
      onRevoked();
    },
  });
}

function KeyDialog({ userId, onClose }: { readonly userId: string; readonly onClose: () => void }) {
  const [made, setMade] = useState<CreatedAdminKey | null>(null);
  return (
    <Dialog title={made === null ? "New key" : "The key, shown this once"} onClose={onClose}>
      {made === null ? (
        <KeyForm userId={userId} onMade={setMade} onClose={onClose} />
      ) : (
        <>
          <p>Hand it to the user over a channel that nobody else reads. It cannot be shown again.</p>
          <CodeBlock text={made.key} title="API key" />
          <div class="row end">
            <button type="button" class="button primary" onClick={onClose}>
              Done
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function KeyForm({
  userId,
  onMade,
  onClose,
}: {
  readonly userId: string;
  readonly onMade: (key: CreatedAdminKey) => void;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState("");
  const [expires, setExpires] = useState("");
  const [models, setModels] = useState("");
  const [amount, setAmount] = useState("");
  const [per, setPer] = useState("month");
  const { busy, problem, start } = useAction(async () => {
    const globs = models.split(/[\s,]+/).filter(Boolean);
    const body = {
      name: name.trim(),
      ...(expires && { expires_in: expires }),
      ...(globs.length > 0 && { models: globs }),
      ...(amount.trim() && { budget: { amount: amount.trim(), per } }),
    };
    onMade(await admin.send<CreatedAdminKey>("POST", `/admin/users/${part(userId)}/keys`, { body }));
  });
  const other = otherProblem(problem, ["/name", "/expires_in", "/models", "/budget"]);
  return (
    <Form onSubmit={start}>
      <TextField
        label="Name"
        required
        maxLength={200}
        value={name}
        onValue={setName}
        hint="What it is for: it is shown wherever the key is."
        error={errorOf(problem, "/name")}
      />
      <SelectField
        label="Expires"
        value={expires}
        choices={KEY_EXPIRIES}
        onValue={setExpires}
        error={errorOf(problem, "/expires_in")}
      />
      <TextField
        label="Models"
        value={models}
        onValue={setModels}
        placeholder="route/swift-*"
        hint="Patterns with *, between them commas. Empty: every model of the plan."
        error={errorOf(problem, "/models")}
      />
      <div class="grid">
        <TextField
          label="Budget"
          inputMode="decimal"
          value={amount}
          onValue={setAmount}
          placeholder="5.00"
          hint="In credits. Empty: what the user has."
          error={errorOf(problem, "/budget")}
        />
        <SelectField label="Budget is" value={per} choices={BUDGET_PERIODS} onValue={setPer} />
      </div>
      {other && <ProblemNote problem={other} />}
      <div class="row end">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={busy || name.trim() === ""}>
          {busy ? "Making…" : "Make the key"}
        </button>
      </div>
    </Form>
  );
}
