import type { UpstreamManual } from "#schema";
import { useState } from "preact/hooks";
import { Dialog } from "../shared/dialog.tsx";
import { errorOf, Form, otherProblem, SelectField, TextField } from "../shared/fields.tsx";
import { ProblemNote } from "../shared/parts.tsx";
import { useAction } from "../shared/resource.ts";
import { toast } from "../shared/toast.tsx";
import { admin, part } from "./client.ts";

const MODES: readonly { readonly value: UpstreamManual["mode"]; readonly title: string; readonly means: string }[] = [
  {
    value: "drain",
    title: "Drain",
    means: "It gets no new requests; those under way finish. For maintenance of the provider.",
  },
  {
    value: "open",
    title: "Open its breaker",
    means: "It is left alone as after failures: each chain goes on with its next step.",
  },
  {
    value: "close",
    title: "Close its breaker",
    means: "It is tried whatever its breaker says. For when the breaker is wrong.",
  },
];

const EXPIRIES = [
  { value: "300", title: "5 minutes" },
  { value: "900", title: "15 minutes" },
  { value: "3600", title: "1 hour" },
  { value: "14400", title: "4 hours" },
  { value: "86400", title: "1 day" },
  { value: "604800", title: "7 days" },
];

interface Props {
  readonly upstream: string;
  /** What is set at this moment: it is replaced. */
  readonly now: UpstreamManual | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Takes an upstream out of its breaker's hands for a while. */
export function ManualDialog({ upstream, now, onClose, onDone }: Props) {
  const [mode, setMode] = useState<string>(now?.mode ?? "drain");
  const [expires, setExpires] = useState("3600");
  const [reason, setReason] = useState("");
  const { busy, problem, start } = useAction(async () => {
    const body = { mode, expires_in_seconds: Number(expires), reason: reason.trim() };
    await admin.send("POST", `/admin/upstreams/${part(upstream)}/manual`, { body });
    toast(`${upstream} is set by hand on every instance`);
    onDone();
  });
  const other = otherProblem(problem, ["/mode", "/expires_in_seconds", "/reason"]);
  return (
    <Dialog title={`Set ${upstream} by hand`} onClose={onClose}>
      <Form onSubmit={start}>
        {now && (
          <p class="note warn">
            {now.by} has set it to {now.mode}: {now.reason}. This replaces it.
          </p>
        )}
        <SelectField
          label="What"
          value={mode}
          choices={MODES}
          onValue={setMode}
          hint={MODES.find(({ value }) => value === mode)?.means}
          error={errorOf(problem, "/mode")}
        />
        <SelectField
          label="Ends by itself after"
          value={expires}
          choices={EXPIRIES}
          onValue={setExpires}
          error={errorOf(problem, "/expires_in_seconds")}
        />
        <TextField
          label="Reason"
          required
          maxLength={500}
          value={reason}
          onValue={setReason}
          hint="For your colleagues: it is shown beside the upstream and in the audit log."
          error={errorOf(problem, "/reason")}
        />
        {other && <ProblemNote problem={other} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={busy || reason.trim() === ""}>
            {busy ? "Setting…" : "Set"}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
