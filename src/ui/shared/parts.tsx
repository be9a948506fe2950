import type { ComponentChildren, JSX } from "preact";
import { useId, useRef } from "preact/hooks";
import { formatCount, formatDuration } from "./formats.ts";
import type { Problem } from "./http.ts";
import type { Resource } from "./resource.ts";

export type Tone = "good" | "warn" | "bad" | "plain" | "neutral";

/** Its form says the same as its colour. */
export function Badge({ tone = "neutral", children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function Panel(props: {
  readonly title: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** Without the space around, for a table. */
  readonly flush?: boolean;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{props.title}</h2>
        {props.actions && <div class="row">{props.actions}</div>}
      </header>
      {props.flush ? props.children : <div class="panel-body">{props.children}</div>}
    </section>
  );
}

/** A key figure with its label. */
export function Figure(props: {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly hint?: ComponentChildren;
}) {
  return (
    <div class="figure-number">
      <span class="muted small">{props.label}</span>
      <span class="value">{props.value}</span>
      {props.hint && <span class="muted small">{props.hint}</span>}
    </div>
  );
}

const WARN_SHARE = 0.8;

/** How much of a limit is used; without a limit only the number. */
export function Meter(props: {
  readonly label: string;
  readonly used: number;
  readonly limit: number | null;
  readonly unit: string;
  readonly hint?: ComponentChildren;
}) {
  const { label, used, limit, unit } = props;
  const share = limit === null ? 0 : limit === 0 ? 1 : Math.min(1, used / limit);
  const tone = share >= 1 ? "bad" : share >= WARN_SHARE ? "warn" : "";
  const left = limit === null ? null : Math.max(0, limit - used);
  const text =
    limit === null
      ? `${formatCount(used)} ${unit}, no limit`
      : `${formatCount(used)} of ${formatCount(limit)} ${unit}, ${formatCount(left!)} left`;
  return (
    <div class="meter">
      <div class="row apart">
        <strong>{label}</strong>
        <span class="muted small">{props.hint}</span>
      </div>
      {limit !== null && (
        <div
          class="meter-track"
          role="meter"
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={Math.max(limit, used, 1)}
          aria-valuenow={used}
          aria-valuetext={text}
        >
          <div class={`meter-fill ${tone}`} style={{ width: `${share * 100}%` }} />
        </div>
      )}
      <span class="small">
        {text}
        {share >= 1 && limit !== null && <strong class="error"> · limit reached</strong>}
      </span>
    </div>
  );
}

export function Loading({ what = "Loading" }: { readonly what?: string }) {
  return (
    <p class="empty muted" role="status">
      <span class="loading">{what}…</span>
    </p>
  );
}

/** Placeholder of an empty list: why it is empty, and what to do next. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children && <div class="muted stack-s">{children}</div>}
    </div>
  );
}

/**
 * An error with advice and the request id.
 *
 * @param retry for a resource that also reloads by itself; without it the note does not promise a retry
 */
export function ProblemNote({ problem, retry }: { readonly problem: Problem; readonly retry?: () => void }) {
  const { requestId, code } = problem.about;
  if (problem.isMissingEndpoint) {
    return (
      <div class="note plain stack-s" role="status">
        <p>This gateway does not have this feature.</p>
        <p class="small muted">It may be turned off, or the gateway may be older than this page.</p>
      </div>
    );
  }
  return (
    <div class="note bad stack-s" role="alert">
      <p>{problem.message}</p>
      <p class="small">{adviceOn(problem, retry !== undefined)}</p>
      {(requestId !== null || code !== null) && (
        <p class="small muted">
          {code !== null && <code>{code}</code>}
          {code !== null && requestId !== null && " · "}
          {requestId !== null && (
            <>
              request <code>{requestId}</code>
            </>
          )}
        </p>
      )}
      {retry && (
        <p>
          <button type="button" class="button small" onClick={retry}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}

function adviceOn(problem: Problem, retries: boolean): string {
  const { status, retryAfterSeconds } = problem.about;
  if (status === null && retries) return "Check that it is running and reachable. Retrying automatically.";
  if (status === null) return "Check that it is running and reachable, then try again.";
  if (status === 429 && retryAfterSeconds !== null) return `Try again in ${formatDuration(retryAfterSeconds * 1000)}.`;
  if (problem.isTemporary && retries) return "This may be temporary. Retrying automatically.";
  if (problem.isTemporary) return "This may be temporary. Try again later.";
  if (status === 401) return "Sign in again.";
  if (status === 402) return "Ask the operator of this gateway for credits, or raise the budget of the key.";
  if (status === 403) return "Your plan, role or key does not allow it.";
  if (status === 404) return "It may have been removed.";
  if (status >= 500) return "Contact the operator of this gateway and include the request id.";
  return "Correct the problem and try again.";
}

/** Loading, failed, or there. What came before stays on the page while newer data cannot be had. */
export function Loaded<T>(props: {
  readonly resource: Resource<T>;
  readonly what?: string;
  readonly children: (data: T) => ComponentChildren;
}): JSX.Element {
  const { data, problem, reload } = props.resource;
  return (
    <>
      {problem && <ProblemNote problem={problem} retry={reload} />}
      {data === undefined ? problem === null && <Loading what={props.what} /> : props.children(data)}
    </>
  );
}

export interface Tab {
  readonly id: string;
  readonly title: string;
}

/** The panel beneath belongs to the caller: `id` of it is `${idPrefix}-panel`. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly selected: string;
  readonly onSelect: (id: string) => void;
  readonly children: ComponentChildren;
}) {
  const prefix = useId();
  const list = useRef<HTMLDivElement>(null);
  const { tabs, selected, onSelect } = props;
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const index = (tabs.findIndex(({ id }) => id === selected) + step + tabs.length) % tabs.length;
    onSelect(tabs[index]!.id);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[index]?.focus();
  };
  return (
    <div class="stack-s">
      <div class="tabs" role="tablist" aria-label={props.label} ref={list} onKeyDown={move}>
        {tabs.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${prefix}-${id}`}
            aria-selected={id === selected}
            aria-controls={`${prefix}-panel`}
            tabIndex={id === selected ? 0 : -1}
            onClick={() => onSelect(id)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${prefix}-panel`} aria-labelledby={`${prefix}-${selected}`}>
        {props.children}
      </div>
    </div>
  );
}
