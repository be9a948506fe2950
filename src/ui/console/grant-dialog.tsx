import type { AdminUser } from "#schema";
import { useMemo, useState } from "preact/hooks";
import { Dialog } from "../shared/dialog.tsx";
import { errorOf, Form, otherProblem, TextField } from "../shared/fields.tsx";
import { creditsText } from "../shared/formats.ts";
import { ProblemNote } from "../shared/parts.tsx";
import { useAction } from "../shared/resource.ts";
import { toast } from "../shared/toast.tsx";
import { admin, part } from "./client.ts";

const AMOUNT = /^-?\d{1,12}(?:\.\d{1,9})?$/;

interface Props {
  readonly user: AdminUser;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Grants credits with a reason. A repeated submit after a lost response grants them once. */
export function GrantDialog({ user, onClose, onDone }: Props) {
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState("");
  // One for what is to be granted: another amount or reason is another grant.
  const idempotencyKey = useMemo(() => randomKey(), [amount, reason]);
  const { busy, problem, start } = useAction(async () => {
    await admin.send("POST", `/admin/users/${part(user.id)}/credits`, {
      body: { amount: amount.trim(), reason: reason.trim() },
      headers: { "idempotency-key": idempotencyKey },
    });
    toast(`${creditsText(amount.trim())} granted to ${user.email}`);
    onDone();
  });
  const isWrong = amount.trim() !== "" && !AMOUNT.test(amount.trim());
  const other = otherProblem(problem, ["/amount", "/reason"]);
  return (
    <Dialog title={`Grant credits to ${user.email}`} onClose={onClose}>
      <Form onSubmit={start}>
        <TextField
          label="Amount"
          inputMode="decimal"
          required
          placeholder="10.00"
          value={amount}
          onValue={setAmount}
          hint={`Current balance: ${creditsText(user.credits)}. A negative amount takes credits away.`}
          error={isWrong ? "Enter a number such as 10 or 2.50, with up to nine decimals." : errorOf(problem, "/amount")}
        />
        <TextField
          label="Reason"
          required
          maxLength={200}
          value={reason}
          onValue={setReason}
          hint="For example an invoice or a ticket. It is recorded in the audit log."
          error={errorOf(problem, "/reason")}
        />
        {other && <ProblemNote problem={other} />}
        {problem?.isTemporary && (
          <p class="small muted">You can safely try again: the same grant is never made twice.</p>
        )}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class="button primary"
            disabled={busy || isWrong || amount.trim() === "" || reason.trim() === ""}
          >
            {busy ? "Granting…" : "Grant credits"}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

/** `crypto.randomUUID` is there on loopback and over TLS alone. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
