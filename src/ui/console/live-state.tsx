import { Badge } from "../shared/parts.tsx";
import { now } from "../shared/time.tsx";
import { lastEventAt, liveStatus } from "./live.ts";

/** Shows whether the live data is current. */
export function LiveState() {
  const status = liveStatus.value;
  if (status === "live") return <Badge tone="good">live</Badge>;
  if (status === "connecting") return <Badge>connecting</Badge>;
  const at = lastEventAt.value;
  const since = at === null ? "" : ` for ${Math.max(0, Math.round((now.value - at) / 1000))} s`;
  return (
    <span title="The live connection was lost. Reconnecting automatically.">
      <Badge tone="warn">no live data{since}</Badge>
    </span>
  );
}
