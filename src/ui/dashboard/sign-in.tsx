import { useEffect, useState } from "preact/hooks";
import { errorOf, Form, otherProblem, TextField } from "../shared/fields.tsx";
import { PageHead } from "../shared/layout.tsx";
import { Panel, ProblemNote } from "../shared/parts.tsx";
import { useAction, useResource } from "../shared/resource.ts";
import { failedLink } from "../shared/sign-in-link.ts";
import { filter, router } from "./place.ts";
import { askForCode, providerLink, publicApi, signInWith } from "./session.ts";

const CODE_DIGITS = 6;
/** Set by the gateway when it sends a browser back from an identity provider. */
const FAILED_AT = "sign_in_failed";
const CLOSED_AT = "sign_up_closed";

/** By a code that comes by mail, or at an identity provider. */
export function SignIn() {
  const [email, setEmail] = useState(failedLink.value?.email ?? "");
  const [sent, setSent] = useState(false);
  const settings = useResource("settings", (signal) => publicApi.settings(signal));
  const providers = settings.data?.sign_in?.providers ?? [];
  return (
    <div class="narrow stack">
      <PageHead title="Sign in" />
      <Failed providers={providers} />
      <FailedLink />
      <Panel title={sent ? "Enter the code" : "With your mail address"}>
        {sent ? (
          <CodeForm email={email} onBack={() => setSent(false)} />
        ) : (
          <AddressForm email={email} onEmail={setEmail} onSent={() => setSent(true)} />
        )}
      </Panel>
      {providers.length > 0 && !sent && (
        <Panel title="Or with">
          <div class="row">
            {providers.map((name) => (
              <a key={name} class="button" href={providerLink(name)}>
                {name}
              </a>
            ))}
          </div>
        </Panel>
      )}
    </div>
  );
}

/** What to do after a link of `gateway dev` that was used, has expired, or is of an earlier start. */
function FailedLink() {
  const link = failedLink.value;
  if (link === null) return null;
  return (
    <div class="note bad stack-s" role="alert">
      <p>This sign-in link does not work any longer. A link works once, for 10 minutes.</p>
      <p class="small">
        Start <code>gateway dev</code> again for a new link. Or have a code sent below: without a mail server it appears
        in the log of <code>gateway dev</code>.
      </p>
    </div>
  );
}

function Closed({ name }: { readonly name: string }) {
  return (
    <div class="note bad stack-s" role="alert">
      <p>
        Your account at <strong>{name}</strong> has no account here.
      </p>
      <p class="small">Sign-up is not open for your address. Ask whoever runs this gateway to add you.</p>
    </div>
  );
}

/** Said once: who loads the page again begins anew. A link may name anything, so only providers that exist are named. */
function Failed({ providers }: { readonly providers: readonly string[] }) {
  const [closed] = useState(() => filter(CLOSED_AT));
  const [failed] = useState(() => filter(FAILED_AT));
  useEffect(() => router.setQuery({ [FAILED_AT]: null, [CLOSED_AT]: null }), []);
  if (providers.includes(closed)) return <Closed name={closed} />;
  const name = failed;
  if (!providers.includes(name)) return null;
  return (
    <div class="note bad stack-s" role="alert">
      <p>
        You could not be signed in with <strong>{name}</strong>.
      </p>
      <p class="small">
        Perhaps it was cancelled, took too long, or your mail address is not verified there. If it fails again, take a
        code by mail, or ask whoever runs this gateway.
      </p>
      <p>
        <a class="button small" href={providerLink(name)}>
          Try again
        </a>
      </p>
    </div>
  );
}

function AddressForm(props: {
  readonly email: string;
  readonly onEmail: (email: string) => void;
  readonly onSent: () => void;
}) {
  const { busy, problem, start } = useAction(async () => {
    await askForCode(props.email.trim());
    props.onSent();
  });
  const other = otherProblem(problem, ["/email"]);
  return (
    <Form onSubmit={start}>
      <TextField
        label="Mail address"
        type="email"
        name="email"
        autoComplete="email"
        required
        autofocus
        value={props.email}
        onValue={props.onEmail}
        hint="You get a code by mail. Who signs in for the first time gets an account."
        error={errorOf(problem, "/email")}
      />
      {other && <ProblemNote problem={other} />}
      <button type="submit" class="button primary" disabled={busy}>
        {busy ? "Sending…" : "Send me a code"}
      </button>
    </Form>
  );
}

function CodeForm({ email, onBack }: { readonly email: string; readonly onBack: () => void }) {
  const [code, setCode] = useState("");
  const { busy, problem, start } = useAction(() => signInWith(email.trim(), code.trim()));
  const again = useAction(() => askForCode(email.trim()));
  const isWrong = problem?.status === 401;
  return (
    <Form onSubmit={start}>
      <p>
        A code was sent to <strong>{email.trim()}</strong>. It is valid for 10 minutes.
      </p>
      <TextField
        label={`Code of ${CODE_DIGITS} digits`}
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        pattern="\s*[0-9]{6}\s*"
        required
        autofocus
        value={code}
        onValue={setCode}
        error={isWrong ? `${problem.message}. Look at the last mail, or have another code sent.` : null}
      />
      {problem && !isWrong && <ProblemNote problem={problem} />}
      {again.problem && <ProblemNote problem={again.problem} />}
      <button type="submit" class="button primary" disabled={busy}>
        {busy ? "Signing in…" : "Sign in"}
      </button>
      <div class="row apart">
        <button type="button" class="button small" onClick={onBack}>
          Another address
        </button>
        <button type="button" class="button small" disabled={again.busy} onClick={() => again.start()}>
          {again.busy ? "Sending…" : "Send another code"}
        </button>
      </div>
    </Form>
  );
}
