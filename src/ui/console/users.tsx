import type { AdminUser } from "#schema";
import { useState } from "preact/hooks";
import { Dialog } from "../shared/dialog.tsx";
import { errorOf, Form, otherProblem, TextField } from "../shared/fields.tsx";
import { PageHead } from "../shared/layout.tsx";
import type { Page } from "../shared/paging.ts";
import { Badge, Empty, Panel, ProblemNote } from "../shared/parts.tsx";
import { useAction, usePages } from "../shared/resource.ts";
import { linkTo } from "../shared/router.ts";
import { type Column, PagedTable } from "../shared/table.tsx";
import { Credits, Time } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { admin, mayChange, part, router } from "./client.ts";
import { ClearFilters, queries, SelectFilter, TextFilter } from "./filters.tsx";
import { Id } from "./state-parts.tsx";
import { TierField } from "./tiers.tsx";
import { useCatalogue } from "./use-catalogue.ts";

const FILTERS = ["search", "tier", "disabled"] as const;
const DISABLED = [
  { value: "", title: "All" },
  { value: "false", title: "Enabled" },
  { value: "true", title: "Disabled" },
];

/** All users with plan, state and credits. */
export function UsersPage() {
  const filters = queries(FILTERS);
  const [creating, setCreating] = useState(false);
  const { data: catalogue } = useCatalogue();
  const plans = ["", ...(catalogue?.tiers ?? [])].map((value) => ({ value, title: value || "All" }));
  const pages = usePages(JSON.stringify(filters), (cursor, signal) =>
    admin.get<Page<AdminUser>>("/admin/users", { query: { ...filters, cursor }, signal }),
  );
  const isFiltered = Object.values(filters).some((value) => value !== "");
  return (
    <>
      <PageHead
        title="Users"
        actions={
          mayChange() && (
            <button type="button" class="button primary" onClick={() => setCreating(true)}>
              Create user
            </button>
          )
        }
      />
      <div class="filters">
        <TextFilter name="search" label="Id, or start of the email" placeholder="ada@" />
        <SelectFilter name="tier" label="Plan" choices={plans} />
        <SelectFilter name="disabled" label="State" choices={DISABLED} />
        <ClearFilters names={FILTERS} />
      </div>
      <Panel flush title="Users">
        <PagedTable
          caption="Users"
          columns={COLUMNS}
          pages={pages}
          rowKey={({ id }) => id}
          empty={
            isFiltered ? (
              <Empty title="No matching users">
                Search by full id or by the start of an email. Clear a filter to see more.
              </Empty>
            ) : (
              <Empty title="No users yet">
                <span>
                  Users appear when they sign in. You can also create them here or with <code>gateway users add</code>.
                </span>
              </Empty>
            )
          }
        />
      </Panel>
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
    </>
  );
}

const COLUMNS: readonly Column<AdminUser>[] = [
  {
    id: "email",
    title: "Email",
    cell: ({ id, email }) => <a href={linkTo(`/users/${part(id)}`)}>{email}</a>,
    sortBy: ({ email }) => email,
  },
  { id: "id", title: "Id", cell: ({ id }) => <Id of={id} /> },
  { id: "tier", title: "Plan", cell: ({ plan_tier }) => plan_tier, sortBy: ({ plan_tier }) => plan_tier },
  {
    id: "state",
    title: "State",
    cell: ({ disabled_at }) =>
      disabled_at === null ? <Badge tone="good">enabled</Badge> : <Badge tone="bad">disabled</Badge>,
  },
  {
    id: "credits",
    title: "Balance",
    end: true,
    cell: ({ credits }) => <Credits amount={credits} bare />,
    sortBy: ({ credits }) => Number(credits),
  },
  {
    id: "charged",
    title: "Total charged",
    end: true,
    cell: ({ charged }) => <Credits amount={charged} bare />,
    sortBy: ({ charged }) => Number(charged),
  },
  {
    id: "created",
    title: "Created",
    cell: ({ created_at }) => <Time at={created_at} />,
    sortBy: ({ created_at }) => created_at,
  },
];

function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState("");
  const [tier, setTier] = useState("");
  const [credits, setCredits] = useState("");
  const { busy, problem, start } = useAction(async () => {
    const body = { email: email.trim(), ...(tier && { plan_tier: tier }), ...(credits && { credits: credits.trim() }) };
    const made = await admin.send<AdminUser>("POST", "/admin/users", { body });
    toast(`${made.email} created`);
    onClose();
    router.go(`/users/${part(made.id)}`);
  });
  const other = otherProblem(problem, ["/email", "/plan_tier", "/credits"]);
  return (
    <Dialog title="Create user" onClose={onClose}>
      <Form onSubmit={start}>
        <TextField
          label="Email"
          type="email"
          required
          value={email}
          onValue={setEmail}
          error={errorOf(problem, "/email")}
        />
        <TierField
          label="Plan"
          none="Default plan"
          value={tier}
          onValue={setTier}
          error={errorOf(problem, "/plan_tier")}
        />
        <TextField
          label="Starting credits"
          inputMode="decimal"
          placeholder="10.00"
          hint="Leave empty for the default."
          value={credits}
          onValue={setCredits}
          error={errorOf(problem, "/credits")}
        />
        {other && <ProblemNote problem={other} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={busy || email.trim() === ""}>
            {busy ? "Creating…" : "Create user"}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
