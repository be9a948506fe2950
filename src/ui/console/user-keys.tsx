import type { AdminKey, CreatedAdminKey, RolledAdminKey } from "#schema";
import { useState } from "preact/hooks";
import { CodeBlock } from "../shared/copy.tsx";
import { confirm, Dialog } from "../shared/dialog.tsx";
import { formatPercent } from "../shared/formats.ts";
import { boundsText, keyChange, KeyForm, keyRequest, NO_WISHES, RollForm, wishesOf } from "../shared/key-form.tsx";
import type { Page } from "../shared/paging.ts";
import { Badge, Empty, Panel } from "../shared/parts.tsx";
import { usePages } from "../shared/resource.ts";
import { linkTo } from "../shared/router.ts";
import { type Column, PagedTable } from "../shared/table.tsx";
import { Credits, now, Time, Until } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { admin, mayChange, part } from "./client.ts";

/** API keys of a user. */
export function UserKeys({ userId }: { readonly userId: string }) {
  const [open, setOpen] = useState<Open | null>(null);
  const pages = usePages(userId, (cursor, signal) =>
    admin.get<Page<AdminKey>>(`/admin/users/${part(userId)}/keys`, { query: { cursor }, signal }),
  );
  return (
    <Panel
      flush
      title="API keys"
      actions={
        mayChange() && (
          <button type="button" class="button small" onClick={() => setOpen({ what: "make" })}>
            Create key…
          </button>
        )
      }
    >
      <PagedTable
        caption="API keys"
        columns={columns(pages.reload, setOpen)}
        pages={pages}
        rowKey={({ id }) => id}
        empty={<Empty title="No API keys yet">Users create keys in the dashboard. You can also create one here.</Empty>}
      />
      {open !== null && (
        <KeyDialog
          userId={userId}
          open={open}
          onClose={() => {
            setOpen(null);
            pages.reload();
          }}
        />
      )}
    </Panel>
  );
}

function columns(onRevoked: () => void, open: (dialog: Open) => void): readonly Column<AdminKey>[] {
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
    { id: "limits", title: "Access", cell: (key) => <KeyLimits of={key} /> },
    { id: "used", title: "Last used", cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { id: "created", title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
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
                <button type="button" class="button small danger" onClick={() => askToRevoke(key, onRevoked)}>
                  Revoke
                </button>
              </span>
            ),
          },
        ]
      : []),
  ];
}

function KeyLimits({ of }: { readonly of: AdminKey }) {
  const { models, budget, tags, replaced_by } = of;
  const names = Object.entries(tags ?? {});
  const bounds = boundsText(of);
  return (
    <span class="details">
      <span>{models === null ? "all models of the plan" : models.join(", ") || "no models"}</span>
      {budget && (
        <span>
          <Credits amount={budget.spent} bare /> of <Credits amount={budget.amount} /> per {budget.per} (
          {formatPercent(Number(budget.spent) / Math.max(Number(budget.amount), Number.MIN_VALUE))})
        </span>
      )}
      {bounds !== "" && <span>{bounds}</span>}
      {replaced_by !== null && <span class="muted">rolled: replaced by a new key</span>}
      {names.length > 0 && <span class="muted">{names.map(([name, value]) => `${name}: ${value}`).join(", ")}</span>}
    </span>
  );
}

function askToRevoke({ id, name, key_prefix }: AdminKey, onRevoked: () => void): void {
  confirm({
    title: `Revoke ${name || key_prefix}?`,
    text: (
      <p>
        Requests with <code>{key_prefix}…</code> will be rejected. This cannot be undone.
      </p>
    ),
    action: "Revoke key",
    danger: true,
    run: async () => {
      await admin.send("DELETE", `/admin/keys/${part(id)}`);
      toast("Key revoked");
      onRevoked();
    },
  });
}

/** The dialog that is open. */
type Open = { readonly what: "make" } | { readonly what: "edit" | "roll"; readonly key: AdminKey };

const TITLES = { make: "Create key", edit: "Edit key", roll: "Roll key?" } as const;

function KeyDialog(props: { readonly userId: string; readonly open: Open; readonly onClose: () => void }) {
  const { userId, open, onClose } = props;
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Dialog title={secret === null ? TITLES[open.what] : "Copy the new key"} onClose={onClose}>
      {secret !== null ? (
        <>
          <p>Copy the key now: you cannot see it again. Send it to the user over a secure channel.</p>
          <CodeBlock text={secret} title="API key" />
          <div class="row end">
            <button type="button" class="button primary" onClick={onClose}>
              Done
            </button>
          </div>
        </>
      ) : open.what === "roll" ? (
        <RollForm
          onSubmit={async (grace) => {
            const path = `/admin/keys/${part(open.key.id)}/roll`;
            setSecret((await admin.send<RolledAdminKey>("POST", path, { body: { grace } })).key);
          }}
          onClose={onClose}
        />
      ) : open.what === "edit" ? (
        <KeyForm
          isNew={false}
          start={wishesOf(open.key)}
          unset="Keep as is"
          action="Save"
          onSubmit={async (wishes) => {
            const body = keyChange(wishes, open.key);
            if (body !== null) await admin.send("PATCH", `/admin/keys/${part(open.key.id)}`, { body });
            toast("Key saved");
            onClose();
          }}
          onClose={onClose}
        />
      ) : (
        <KeyForm
          isNew
          start={NO_WISHES}
          unset="Never"
          action="Create key"
          onSubmit={async (wishes) => {
            const path = `/admin/users/${part(userId)}/keys`;
            setSecret((await admin.send<CreatedAdminKey>("POST", path, { body: keyRequest(wishes) })).key);
          }}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}
