import { PageHead } from "../shared/layout.tsx";
import { now, Time } from "../shared/time.tsx";

export function Overview() {
  return (
    <>
      <PageHead title="Overview" />
      <p class="muted">
        <Time at={new Date(now.value).toISOString()} both />
      </p>
    </>
  );
}
