import type { GuardState } from "#schema";
import { confirm } from "../shared/dialog.tsx";
import { formatCount, formatPercent, NONE } from "../shared/formats.ts";
import { Badge, Panel, type Tone } from "../shared/parts.tsx";
import { now, Time, Until } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { admin, changed, mayChange } from "./client.ts";
import { Facts, Hash } from "./state-parts.tsx";

const STATES: Readonly<Record<string, readonly [tone: Tone, text: string]>> = {
  running: ["warn", "running"],
  promoted: ["good", "promoted"],
  rolled_back: ["bad", "rolled back"],
  replaced: ["neutral", "replaced"],
};

/** Progress and result of a guarded configuration change. */
export function GuardPanel({ guard, onChanged }: { readonly guard: GuardState; readonly onChanged: () => void }) {
  const { state, base, candidate, share, requests, failures, ttft_ratio, reason } = guard;
  const [tone, text] = STATES[state] ?? ["neutral", state];
  const isRunning = state === "running";
  return (
    <Panel
      title={
        <>
          Guard <Badge tone={tone}>{text}</Badge>
        </>
      }
      actions={
        isRunning &&
        mayChange() && (
          <>
            <button type="button" class="button small" onClick={() => askToEnd(candidate, true, onChanged)}>
              Promote now…
            </button>
            <button type="button" class="button small danger" onClick={() => askToEnd("0", false, onChanged)}>
              Roll back now…
            </button>
          </>
        )
      }
    >
      {isRunning && <Progress guard={guard} />}
      {reason !== null && (
        <p class={`note ${tone === "bad" ? "bad" : ""}`} role="status">
          {reason}
        </p>
      )}
      <Facts
        rows={[
          [
            "Configurations",
            <>
              <Hash of={base} /> (previous), <Hash of={candidate} /> (new)
            </>,
          ],
          ["Share of users", formatPercent(share)],
          isRunning
            ? ["Decision", <Until key="ends" at={guard.ends_at} />]
            : ["Decided", <Time key="decided" at={guard.decided_at} both />],
          ["Requests", `${formatCount(requests.base)} previous, ${formatCount(requests.candidate)} new`],
          [
            "Failed",
            `${shareText(failures.base, requests.base)} previous, ${shareText(failures.candidate, requests.candidate)} new`,
          ],
          ["Time to first token", ttft_ratio === null ? "unknown" : `${formatCount(ttft_ratio)}× the previous`],
        ]}
      />
    </Panel>
  );
}

function shareText(failures: number, requests: number): string {
  return requests === 0 ? NONE : `${formatCount(failures)} (${formatPercent(failures / requests)})`;
}

function Progress({ guard: { started_at, ends_at } }: { readonly guard: GuardState }) {
  const [start, end] = [Date.parse(started_at ?? ""), Date.parse(ends_at ?? "")];
  const share = Math.min(1, Math.max(0, (now.value - start) / (end - start)));
  const value = Number.isNaN(share) ? 0 : Math.round(share * 100);
  return (
    <div
      class="meter-track"
      role="progressbar"
      aria-label="Elapsed guard time"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={value}
    >
      <div class="meter-fill" style={{ width: `${value}%` }} />
    </div>
  );
}

function askToEnd(to: string, promote: boolean, onChanged: () => void): void {
  confirm({
    title: promote ? "Promote the change now?" : "Roll back the change now?",
    text: promote ? (
      <p>The new configuration will serve all users now. The guard stops watching it.</p>
    ) : (
      <p>
        The previous configuration will serve all users. The file is not changed, and is not tried again until it
        changes.
      </p>
    ),
    action: promote ? "Promote" : "Roll back",
    danger: !promote,
    run: async () => {
      const body = { to: to === "0" ? 0 : to };
      const { ok } = await changed(admin.send("POST", "/admin/rollback", { body }));
      onChanged();
      if (ok) toast(promote ? "Change promoted" : "Change rolled back");
      else toast("The guard has already made its decision", { bad: true });
    },
  });
}
