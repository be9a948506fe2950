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
    means: "Sends no new requests to it; running requests finish. Use it for provider maintenance.",
  },
  {
    value: "open",
    title: "Force open",
    means: "Skips it as if its breaker had opened after failures. Chains continue with the next step.",
  },
  {
    value: "close",
    title: "Force closed",
    means: "Sends requests to it even if its breaker would block them. Use it when the breaker is wrong.",
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
  /** The active override, which the new one replaces. */
  readonly now: UpstreamManual | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Overrides an upstream's breaker for a limited time. */
export function ManualDialog({ upstream, now, onClose, onDone }: Props) {
  const [mode, setMode] = useState<string>(now?.mode ?? "drain");
  const [expires, setExpires] = useState("3600");
  const [reason, setReason] = useState("");
  const { busy, problem, start } = useAction(async () => {
    const body = { mode, expires_in_seconds: Number(expires), reason: reason.trim() };
    await admin.send("POST", `/admin/upstreams/${part(upstream)}/manual`, { body });
    toast(`${upstream} is overridden on every instance`);
    onDone();
  });
  const other = otherProblem(problem, ["/mode", "/expires_in_seconds", "/reason"]);
  return (
    <Dialog title={`Override ${upstream}`} onClose={onClose}>
      <Form onSubmit={start}>
        {now && (
          <p class="note warn">
            This replaces the override “{now.mode}” by {now.by}: {now.reason}
          </p>
        )}
        <SelectField
          label="Override"
          value={mode}
          choices={MODES}
          onValue={setMode}
          hint={MODES.find(({ value }) => value === mode)?.means}
          error={errorOf(problem, "/mode")}
        />
        <SelectField
          label="Expires after"
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
          hint="Shown to other operators beside the upstream, and in the audit log."
          error={errorOf(problem, "/reason")}
        />
        {other && <ProblemNote problem={other} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={busy || reason.trim() === ""}>
            {busy ? "Applying…" : "Apply override"}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
