import type { AdminUserDetail } from "#schema";
import { useState } from "preact/hooks";
import { CopyButton } from "../shared/copy.tsx";
import { confirm } from "../shared/dialog.tsx";
import { plural } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Figure, Loaded, Meter, Panel } from "../shared/parts.tsx";
import { type Resource, useResource } from "../shared/resource.ts";
import { linkTo } from "../shared/router.ts";
import { Credits, Time, Until } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { admin, mayChange, part } from "./client.ts";
import { GrantDialog } from "./grant-dialog.tsx";
import { LedgerTable } from "./ledger-table.tsx";
import { Facts } from "./state-parts.tsx";
import { TierDialog } from "./tiers.tsx";
import { UserGrants } from "./user-grants.tsx";
import { UserKeys } from "./user-keys.tsx";

const EVERY_MS = 10_000;

/** One user: credits, limits, API keys, grants and requests. */
export function UserPage({ id }: { readonly id: string }) {
  const user = useResource(id, (signal) => admin.get<AdminUserDetail>(`/admin/users/${part(id)}`, { signal }), {
    everyMs: EVERY_MS,
  });
  return (
    <>
      <PageHead
        title={user.data?.email ?? "User"}
        actions={
          <a class="button small" href="#/users">
            ← All users
          </a>
        }
      />
      {user.problem?.status === 404 ? (
        <p class="note warn">
          User <code>{id}</code> not found. <a href="#/users">Search users</a>
        </p>
      ) : (
        <Loaded resource={user}>
          {(data) => (
            <>
              <Account user={data} resource={user} />
              <Limits user={data} />
              <UserKeys userId={data.id} />
              <UserGrants userId={data.id} round={data.granted} />
              <Panel
                flush
                title="Recent requests"
                actions={
                  <>
                    <a class="button small" href={linkTo("/usage", { user: data.id })}>
                      Usage
                    </a>
                    <a class="button small" href={linkTo("/ledger", { user: data.id })}>
                      View all
                    </a>
                  </>
                }
              >
                <LedgerTable filters={{ user: data.id }} withUser={false} limit={10} />
              </Panel>
            </>
          )}
        </Loaded>
      )}
    </>
  );
}

type Open = "grant" | "tier" | null;

function Account({ user, resource }: { readonly user: AdminUserDetail; readonly resource: Resource<AdminUserDetail> }) {
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  const done = (): void => {
    close();
    resource.reload();
  };
  const { disabled_at } = user;
  return (
    <Panel
      title="Account"
      actions={
        mayChange() && (
          <>
            <button type="button" class="button small primary" onClick={() => setOpen("grant")}>
              Grant credits…
            </button>
            <button type="button" class="button small" onClick={() => setOpen("tier")}>
              Change plan…
            </button>
            <button type="button" class="button small" onClick={() => askToEndSessions(user)}>
              Sign out everywhere…
            </button>
            <button type="button" class="button small danger" onClick={() => askToDisable(user, resource.reload)}>
              {disabled_at === null ? "Disable…" : "Enable…"}
            </button>
            <button type="button" class="button small danger" onClick={() => askToDelete(user)}>
              Delete…
            </button>
          </>
        )
      }
    >
      <div class="numbers">
        <Figure label="Balance" value={<Credits amount={user.credits} bare />} />
        <Figure label="Reserved by running requests" value={<Credits amount={user.held} bare />} />
        <Figure label="Total charged" value={<Credits amount={user.charged} bare />} />
        <Figure label="Total granted" value={<Credits amount={user.granted} bare />} />
      </div>
      <Facts
        rows={[
          [
            "Id",
            <span key="id" class="row">
              <code>{user.id}</code> <CopyButton text={user.id} what="the user's id" />
            </span>,
          ],
          ["Plan", user.plan_tier],
          [
            "State",
            disabled_at === null ? (
              <Badge tone="good">enabled</Badge>
            ) : (
              <>
                <Badge tone="bad">disabled</Badge> <Time at={disabled_at} both />
              </>
            ),
          ],
          ["Created", <Time key="since" at={user.created_at} both />],
        ]}
      />
      {open === "grant" && <GrantDialog user={user} onClose={close} onDone={done} />}
      {open === "tier" && <TierDialog user={user} onClose={close} onDone={done} />}
    </Panel>
  );
}

function askToEndSessions({ id, email }: AdminUserDetail): void {
  confirm({
    title: `Sign ${email} out everywhere?`,
    text: <p>All sessions of this user end within a second. The user can sign in again, and API keys keep working.</p>,
    action: "Sign out everywhere",
    danger: true,
    run: async () => {
      await admin.send("DELETE", `/admin/users/${part(id)}/sessions`);
      toast(`${email} signed out everywhere`);
    },
  });
}

function askToDisable({ id, email, disabled_at }: AdminUserDetail, onDone: () => void): void {
  const disable = disabled_at === null;
  confirm({
    title: disable ? `Disable ${email}?` : `Enable ${email}?`,
    text: disable ? (
      <p>The user can no longer sign in or use API keys. Running requests finish. Nothing is deleted.</p>
    ) : (
      <p>The user can sign in and use API keys again.</p>
    ),
    action: disable ? "Disable" : "Enable",
    danger: disable,
    run: async () => {
      await admin.send("PATCH", `/admin/users/${part(id)}`, { body: { disabled: disable } });
      toast(disable ? `${email} disabled` : `${email} enabled`);
      onDone();
    },
  });
}

function askToDelete({ id, email }: AdminUserDetail): void {
  confirm({
    title: `Delete ${email}?`,
    text: (
      <p>
        This permanently deletes the email address, API keys, sign-in methods and their details in the audit log.
        Running requests are ended and charged. The ledger keeps its entries under the id <code>{id}</code>. To keep the
        account, disable it instead.
      </p>
    ),
    action: "Delete user",
    danger: true,
    run: async () => {
      await admin.send("DELETE", `/admin/users/${part(id)}`);
      toast("User deleted");
      window.location.hash = "#/users";
    },
  });
}

const WINDOWS = [
  ["day", "Day"],
  ["hour", "Hour"],
  ["minute", "Minute"],
] as const;

function Limits({ user }: { readonly user: AdminUserDetail }) {
  const { windows, streams, requests_running } = user;
  return (
    <Panel title="Limits">
      <div class="meters">
        {WINDOWS.map(([name, title]) => (
          <Meter
            key={name}
            label={title}
            used={windows[name].used}
            limit={windows[name].limit}
            unit="requests"
            hint={
              <>
                resets <Until at={windows[name].resets_at} />
              </>
            }
          />
        ))}
        <Meter
          label="Streams"
          used={streams.running}
          limit={streams.limit}
          unit="at once"
          hint={`${plural(requests_running, "request")} running`}
        />
      </div>
    </Panel>
  );
}
