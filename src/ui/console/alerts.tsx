import type { FigureEvent } from "#schema";
import { plural } from "../shared/formats.ts";
import { Badge, type Tone } from "../shared/parts.tsx";
import { linkTo } from "../shared/router.ts";
import { router } from "./client.ts";
import { latest } from "./live.ts";

interface Alert {
  readonly text: string;
  readonly tone: Tone;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
}

/** Problems that need attention, shown on every page with a link to the page that explains them. */
export function Alerts() {
  const event = latest.value;
  if (event === null) return null;
  const alerts = alertsOf(event).filter(({ path }) => path !== router.path.value);
  if (alerts.length === 0 || router.path.value === "/") return null;
  return (
    <nav class="row" aria-label="Needs attention">
      {alerts.map(({ text, tone, path, query = {} }) => (
        <a key={text} href={linkTo(path, query)} class="alert">
          <Badge tone={tone}>{text}</Badge>
        </a>
      ))}
    </nav>
  );
}

function alertsOf({ config, instances, upstreams }: FigureEvent): readonly Alert[] {
  const states = Object.values(upstreams);
  const open = states.filter(({ state, manual }) => state === "open" && manual === null).length;
  const overridden = states.filter(({ manual }) => manual !== null).length;
  const errors = config.last_rejection?.errors ?? 0;
  const alerts: readonly (Alert | false)[] = [
    config.last_rejection !== null && {
      text: `configuration rejected: ${plural(errors, "error")}`,
      tone: "bad",
      path: "/configuration",
    },
    config.guard?.state === "running" && { text: "guard running", tone: "warn", path: "/configuration" },
    open > 0 && {
      text: plural(open, "breaker open", "breakers open"),
      tone: "bad",
      path: "/upstreams",
      query: { show: "unwell" },
    },
    overridden > 0 && {
      text: `${plural(overridden, "override")} active`,
      tone: "warn",
      path: "/upstreams",
      query: { show: "unwell" },
    },
    instances.agree === false && { text: "instances disagree", tone: "bad", path: "/instances" },
  ];
  return alerts.filter((alert) => alert !== false);
}
