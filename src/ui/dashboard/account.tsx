import { confirm } from "../shared/dialog.tsx";
import { PageHead } from "../shared/layout.tsx";
import { Loaded, Panel } from "../shared/parts.tsx";
import { useResource } from "../shared/resource.ts";
import { Time } from "../shared/time.tsx";
import { currentKeys } from "./chat.ts";
import { api, session, signOut, signOutEverywhere } from "./session.ts";

export function AccountView() {
  const settings = useResource("settings", (signal) => api.settings(signal));
  const keys = useResource("keys", currentKeys);
  const user = session.value;
  if (typeof user !== "object") return null;
  return (
    <>
      <PageHead title="Account" />
      <Panel title="You">
        <dl class="facts">
          <dt>Mail address</dt>
          <dd>{user.email}</dd>
          <dt>User id</dt>
          <dd>
            <code>{user.id}</code>
          </dd>
          <dt>Plan</dt>
          <dd>{user.plan_tier}</dd>
        </dl>
      </Panel>
      <Panel title="This session">
        <p>
          You are signed in with a session of this browser. The page keeps its token in memory and renews it with a
          cookie that scripts cannot read.
        </p>
        <div class="row">
          <button type="button" class="button" onClick={askToLeave}>
            Sign out
          </button>
          <button type="button" class="button danger" onClick={askToLeaveEverywhere}>
            Sign out everywhere
          </button>
        </div>
      </Panel>
      <Panel title="Keys that act for you" actions={<a href="#/keys">Manage</a>}>
        <Loaded resource={keys}>
          {(data) =>
            data.length === 0 ? (
              <p class="muted">None.</p>
            ) : (
              <ul>
                {data.map(({ id, name, last_used_at: usedAt }) => (
                  <li key={id}>
                    {name},{" "}
                    {usedAt === null ? (
                      "never used"
                    ) : (
                      <>
                        last used <Time at={usedAt} />
                      </>
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Panel>
      <Panel title="This gateway">
        <Loaded resource={settings}>
          {(data) => (
            <dl class="facts">
              <dt>Charges</dt>
              <dd>prices times {data.cost_multiplier}</dd>
              <dt>Currency of credits</dt>
              <dd>{data.currency ?? "–"}</dd>
              <dt>API description</dt>
              <dd>
                <a href="/openapi.json">/openapi.json</a>
              </dd>
              <dt>Status</dt>
              <dd>
                <a href="/status">/status</a>
              </dd>
            </dl>
          )}
        </Loaded>
      </Panel>
    </>
  );
}

function askToLeave(): void {
  confirm({
    title: "Sign out?",
    text: "This browser's session ends. Your API keys go on working.",
    action: "Sign out",
    run: signOut,
  });
}

function askToLeaveEverywhere(): void {
  confirm({
    title: "Sign out everywhere?",
    text: "All your sessions end within a second, in every browser and program, this one too. Your API keys go on working: revoke those that you no longer trust.",
    action: "Sign out everywhere",
    danger: true,
    run: signOutEverywhere,
  });
}
