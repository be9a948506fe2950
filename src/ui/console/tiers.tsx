import type { AdminUser } from "#schema";
import { useState } from "preact/hooks";
import { Dialog } from "../shared/dialog.tsx";
import { errorOf, Form, otherProblem, SelectField, TextField } from "../shared/fields.tsx";
import { ProblemNote } from "../shared/parts.tsx";
import { useAction } from "../shared/resource.ts";
import { toast } from "../shared/toast.tsx";
import { admin, part } from "./client.ts";
import { useCatalogue } from "./use-catalogue.ts";

interface TierFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (tier: string) => void;
  readonly error?: string | null;
  /** Label of the empty choice. Without it a plan has to be chosen. */
  readonly none?: string;
}

/** A choice of the configured plans. A text field until they are loaded. */
export function TierField({ label, value, onValue, error, none }: TierFieldProps) {
  const { data } = useCatalogue();
  if (data === undefined) return <TextField label={label} value={value} onValue={onValue} error={error} />;
  const known = data.tiers.includes(value) || value === "" ? data.tiers : [value, ...data.tiers];
  const choices = known.map((tier) => ({ value: tier, title: tier }));
  return (
    <SelectField
      label={label}
      value={value}
      onValue={onValue}
      error={error}
      choices={none === undefined ? choices : [{ value: "", title: none }, ...choices]}
    />
  );
}

interface Props {
  readonly user: AdminUser;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function TierDialog({ user, onClose, onDone }: Props) {
  const [tier, setTier] = useState(user.plan_tier);
  const { busy, problem, start } = useAction(async () => {
    await admin.send("PATCH", `/admin/users/${part(user.id)}`, { body: { plan_tier: tier } });
    toast(`${user.email} is now on plan ${tier}`);
    onDone();
  });
  const other = otherProblem(problem, ["/plan_tier"]);
  return (
    <Dialog title={`Change plan of ${user.email}`} onClose={onClose}>
      <Form onSubmit={start}>
        <TierField label="Plan" value={tier} onValue={setTier} error={errorOf(problem, "/plan_tier")} />
        <p class="small muted">Applies from the next request. Usage so far still counts towards the new limits.</p>
        {other && <ProblemNote problem={other} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={busy || tier === user.plan_tier || tier === ""}>
            {busy ? "Changing…" : "Change plan"}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
