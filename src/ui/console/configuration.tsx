import type { ConfigurationSource, ConfigurationState } from "#schema";
import { confirm } from "../shared/dialog.tsx";
import { plural } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Loaded, Panel } from "../shared/parts.tsx";
import { useResource } from "../shared/resource.ts";
import { Time } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { admin, changed, mayChange } from "./client.ts";
import { ConfigurationText } from "./configuration-text.tsx";
import { Diagnostics } from "./diagnostics.tsx";
import { GuardPanel } from "./guard.tsx";
import { Facts, Hash } from "./state-parts.tsx";

const EVERY_MS = 2_000;

export function useConfiguration(everyMs: number) {
  return useResource("configuration", (signal) => admin.get<ConfigurationState>("/admin/config", { signal }), {
    everyMs,
  });
}

/** The current configuration, findings of a rejected one, and the state of the guard. */
export function ConfigurationPage() {
  const state = useConfiguration(EVERY_MS);
  const known = state.data;
  // The texts are read again when others serve, or others were refused.
  const source = useResource(known === undefined ? null : `${known.hash} ${known.last_rejection?.at ?? ""}`, (signal) =>
    admin.get<ConfigurationSource>("/admin/config/source", { signal }),
  );
  return (
    <>
      <PageHead
        title="Current configuration"
        actions={
          mayChange() && (
            <button type="button" class="button" onClick={() => askToReload(state.reload)}>
              Reload…
            </button>
          )
        }
      />
      <Loaded resource={state}>
        {(config) => (
          <>
            <InForce config={config} />
            {config.guard && <GuardPanel guard={config.guard} onChanged={state.reload} />}
            <Loaded resource={source} what="Loading the files">
              {(texts) => (
                <ConfigurationText source={texts} rejection={config.last_rejection} warnings={config.warnings} />
              )}
            </Loaded>
          </>
        )}
      </Loaded>
    </>
  );
}

function InForce({ config }: { readonly config: ConfigurationState }) {
  const { hash, file, loaded_at, generation, warnings, pending, last_rejection, passed_over, agree } = config;
  return (
    <Panel title="State">
      {last_rejection && (
        <div class="note bad stack-s" role="alert">
          <p>
            <strong>The configuration file was rejected</strong> <Time at={last_rejection.at} />, with{" "}
            {plural(last_rejection.diagnostics.length, "finding")}. The previous configuration is still serving. Fix the
            file: it is read again when you save it.
          </p>
          <Diagnostics of={last_rejection.diagnostics} />
        </div>
      )}
      {passed_over && (
        <p class="note warn">
          The file (<Hash of={passed_over.hash} />) is not serving: {passed_over.reason} (
          <Time at={passed_over.at} />
          ). It is read again when it changes.
        </p>
      )}
      {warnings.length > 0 && (
        <div class="note warn stack-s">
          <p>
            <strong>{plural(warnings.length, "warning")}</strong> in the current configuration.
          </p>
          <Diagnostics of={warnings} text="force" />
        </div>
      )}
      {pending.length > 0 && (
        <p class="note warn">
          Restart the gateway to apply changes to{" "}
          {pending.map((section) => `server.${section}`.replace("server.", "")).join(", ")}. Until then the old settings
          stay in use.
        </p>
      )}
      <Facts
        rows={[
          ["File", <code key="file">{file}</code>],
          ["Hash", <Hash key="hash" of={hash} />],
          ["Loaded", <Time key="since" at={loaded_at} both />],
          ["Generation", String(generation)],
          ["Last reload", last_rejection ? <Badge tone="bad">rejected</Badge> : <Badge tone="good">accepted</Badge>],
          [
            "Instances",
            agree === null ? (
              <Badge tone="warn">unknown: the store is not responding</Badge>
            ) : agree ? (
              <Badge tone="good">all agree</Badge>
            ) : (
              <>
                <Badge tone="bad">disagree</Badge> <a href="#/instances">Show instances</a>
              </>
            ),
          ],
        ]}
      />
    </Panel>
  );
}

function askToReload(onDone: () => void): void {
  confirm({
    title: "Reload the configuration?",
    text: (
      <p>
        The gateway reads its files again. If they have errors, nothing changes. If the guard is on, a change is tested
        with a share of the users first.
      </p>
    ),
    action: "Reload",
    run: async () => {
      const result = await changed(admin.send("POST", "/admin/reload"));
      onDone();
      if (result.ok) toast(result.guarded ? "The guard is testing the change" : "Configuration reloaded");
      else toast("The configuration file was rejected: see its findings", { bad: true });
    },
  });
}
