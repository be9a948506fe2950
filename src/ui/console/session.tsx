import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { AdminSession } from "#schema";
import { Form, TextField } from "../shared/fields.tsx";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Loading, Panel, ProblemNote } from "../shared/parts.tsx";
import { asProblem, useAction, useResource } from "../shared/resource.ts";
import { failedLink, type SignInLink, takeLink } from "../shared/sign-in-link.ts";
import { toast } from "../shared/toast.tsx";
import { admin, router, session, signInBy } from "./client.ts";

/** What is behind it is shown to who is signed in. */
export function SignedIn({ children }: { readonly children: ComponentChildren }) {
  const asked = useResource(session.value === undefined ? "session" : null, whoIsIt);
  if (session.value === undefined) {
    if (asked.problem?.status === 404) return <NoTokens />;
    if (asked.problem) return <ProblemNote problem={asked.problem} retry={asked.reload} />;
    return <Loading what="Looking who is signed in" />;
  }
  return session.value === null ? <SignIn /> : <>{children}</>;
}

/** Without a token nothing under /admin exists. */
function NoTokens() {
  return (
    <>
      <PageHead title="The admin API is off" />
      <p class="note warn">
        This gateway has no admin token, and without one there is nothing to sign in to. Set{" "}
        <code>server.admin.token</code> or <code>server.admin.tokens</code> in its configuration. Then load this page
        again.
      </p>
    </>
  );
}

async function whoIsIt(signal: AbortSignal): Promise<void> {
  const link = takeLink(router);
  if (link !== null && (await enteredBy(link))) return;
  try {
    session.value = await admin.get<AdminSession>("/admin/session", { signal });
  } catch (error) {
    if (asProblem(error).status !== 401) throw error;
    session.value = null;
  }
}

/** @returns false for a link that is no longer good. @throws Problem when that cannot be found out */
async function enteredBy(link: SignInLink): Promise<boolean> {
  try {
    session.value = await signInBy(link.code);
    return true;
  } catch (error) {
    const { status } = asProblem(error);
    if (status !== 401 && status !== 429) throw error;
    failedLink.value = link;
    return false;
  }
}

function SignIn() {
  const [token, setToken] = useState("");
  const { busy, problem, start } = useAction(async () => {
    session.value = await admin.send<AdminSession>("POST", "/admin/session", { body: { token } });
  });
  return (
    <div class="sign-in stack">
      <PageHead title="Sign in" />
      {failedLink.value !== null && (
        <div class="note bad stack-s" role="alert">
          <p>This sign-in link does not work any longer. A link works once, for 10 minutes.</p>
          <p class="small">
            Start <code>gateway dev</code> again for a new link. Or sign in with the admin token: the output of{" "}
            <code>gateway dev</code> names the file that has it.
          </p>
        </div>
      )}
      <Panel title="Operators of this gateway">
        <Form onSubmit={start}>
          <TextField
            label="Admin token"
            type="password"
            name="token"
            autoComplete="current-password"
            required
            autofocus
            value={token}
            onValue={setToken}
            error={problem?.status === 401 ? "No token of this gateway is like this." : null}
            hint="One of server.admin.tokens in the gateway's configuration, or server.admin.token."
          />
          {problem && problem.status !== 401 && <ProblemNote problem={problem} />}
          <div class="row end">
            <button type="submit" class="button primary" disabled={busy || token === ""}>
              {busy ? "Signing in…" : "Sign in"}
            </button>
          </div>
        </Form>
      </Panel>
      <p class="muted small">
        The token is sent once and not kept here: the browser keeps a cookie that no script can read. It ends after 12
        hours, when you sign out, or when the token is taken out of the configuration.
      </p>
    </div>
  );
}

const ROLE_TEXT = { viewer: "Viewer: looks, changes nothing", operator: "Operator: may change what is shown" } as const;

/** Who is signed in, and the way out. */
export function SessionBar() {
  const known = session.value;
  const leave = useAction(async () => {
    await admin.send("DELETE", "/admin/session");
    session.value = null;
  });
  useEffect(() => {
    if (leave.problem) toast(leave.problem.message, { bad: true });
  }, [leave.problem]);
  if (!known) return null;
  return (
    <div class="row session">
      <span class="small session-name">{known.name}</span>
      <span title={ROLE_TEXT[known.role]}>
        <Badge tone="plain">{known.role}</Badge>
      </span>
      <button type="button" class="button small" disabled={leave.busy} onClick={() => leave.start()}>
        Sign out
      </button>
    </div>
  );
}
