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
      <Panel title="Profile">
        <dl class="facts">
          <dt>Email</dt>
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
          You are signed in on this browser. The session token is kept in memory only, and renewed with a cookie that
          scripts cannot read.
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
      <Panel title="API keys" actions={<a href="#/keys">Manage keys</a>}>
        <Loaded resource={keys}>
          {(data) =>
            data.length === 0 ? (
              <p class="muted">No API keys yet.</p>
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
      <Panel title="Gateway">
        <Loaded resource={settings}>
          {(data) => (
            <dl class="facts">
              <dt>Price multiplier</dt>
              <dd>×{data.cost_multiplier}</dd>
              <dt>Credit currency</dt>
              <dd>{data.currency ?? "–"}</dd>
              <dt>OpenAPI document</dt>
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
    text: "This ends your session on this browser. Your API keys keep working.",
    action: "Sign out",
    run: signOut,
  });
}

function askToLeaveEverywhere(): void {
  confirm({
    title: "Sign out everywhere?",
    text: "This ends all your sessions within a second, including this one. Your API keys keep working: revoke any that you no longer trust.",
    action: "Sign out everywhere",
    danger: true,
    run: signOutEverywhere,
  });
}
