import { plural } from "../shared/formats.ts";
import { Badge, Empty, Loaded, Panel } from "../shared/parts.tsx";
import { linkTo } from "../shared/router.ts";
import { Time, Until } from "../shared/time.tsx";
import { useConfiguration } from "./configuration.tsx";
import { BreakerBadge, Facts, Hash, HealthBadge } from "./state-parts.tsx";
import type { NamedUpstream } from "./upstream-detail.tsx";
import { isUnwell, useUpstreams } from "./upstreams.tsx";

const UPSTREAMS_EVERY_MS = 1_000;
const CONFIGURATION_EVERY_MS = 5_000;

/** Lists the upstreams that need attention. */
export function UpstreamHealth() {
  const upstreams = useUpstreams(UPSTREAMS_EVERY_MS);
  return (
    <Panel
      title="Upstreams"
      actions={
        <a class="button small" href="#/upstreams">
          View all
        </a>
      }
    >
      <Loaded resource={upstreams}>
        {(all) => {
          const unwell = all.filter(isUnwell);
          if (all.length === 0) return <Empty title="No upstreams are configured" />;
          if (unwell.length === 0) {
            return (
              <p>
                <Badge tone="good">healthy</Badge> {plural(all.length, "upstream")}, all breakers closed, no overrides.
              </p>
            );
          }
          return (
            <ul class="plain-list stack-s">
              {unwell.map((one) => (
                <Unwell key={one.name} of={one} />
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Panel>
  );
}

function Unwell({ of: { name, breaker, health, manual, history } }: { readonly of: NamedUpstream }) {
  const last = history.at(-1);
  return (
    <li class="row">
      <a href={linkTo("/upstreams", { upstream: name })}>{name}</a>
      <BreakerBadge state={breaker} />
      {health !== "unknown" && <HealthBadge state={health} />}
      {manual && (
        <span class="small">
          overridden ({manual.mode}) by {manual.by}, expires <Until at={manual.until} />
        </span>
      )}
      {last && (
        <span class="small muted">
          <Time at={last.at} />: {last.detail || last.cause.replaceAll("_", " ")}
        </span>
      )}
    </li>
  );
}

export function ConfigurationHealth() {
  const config = useConfiguration(CONFIGURATION_EVERY_MS);
  return (
    <Panel
      title="Configuration"
      actions={
        <a class="button small" href="#/configuration">
          View
        </a>
      }
    >
      <Loaded resource={config}>
        {({ hash, loaded_at, last_rejection, passed_over, guard, agree, instances }) => (
          <Facts
            rows={[
              ["Hash", <Hash key="hash" of={hash} />],
              ["Loaded", <Time key="since" at={loaded_at} />],
              [
                "Last reload",
                last_rejection ? (
                  <>
                    <Badge tone="bad">rejected</Badge> <Time at={last_rejection.at} />,{" "}
                    <a href="#/configuration">{plural(last_rejection.diagnostics.length, "finding")}</a>
                  </>
                ) : passed_over ? (
                  <>
                    <Badge tone="warn">skipped</Badge> {passed_over.reason}
                  </>
                ) : (
                  <Badge tone="good">accepted</Badge>
                ),
              ],
              guard?.state === "running"
                ? [
                    "Guard",
                    <span key="trial">
                      <Hash of={guard.candidate} />, decision <Until at={guard.ends_at} />
                    </span>,
                  ]
                : null,
              [
                "Instances",
                <span key="instances">
                  {plural(instances.length, "instance")},{" "}
                  {agree === null ? (
                    <Badge tone="warn">others unknown</Badge>
                  ) : agree ? (
                    <Badge tone="good">agree</Badge>
                  ) : (
                    <Badge tone="bad">differ</Badge>
                  )}{" "}
                  <a href="#/instances">View</a>
                </span>,
              ],
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
