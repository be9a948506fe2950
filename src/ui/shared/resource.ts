import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "./http.ts";
import { FIRST_PAGE, nextPage, type Page, pageWithRows, previousPage, type Trail } from "./paging.ts";

export interface Resource<T> {
  /** The last that came: it stays while a newer one is loaded, or cannot be. */
  readonly data: T | undefined;
  readonly problem: Problem | null;
  readonly loading: boolean;
  readonly reload: () => void;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;
const MAX_EMPTY_PAGES = 40;

export function retryDelayMs(problem: Problem, failures: number): number {
  const { retryAfterSeconds } = problem.about;
  if (retryAfterSeconds !== null) return Math.min(Math.max(retryAfterSeconds, 1) * 1000, 60_000);
  return Math.min(FIRST_RETRY_MS * 2 ** Math.max(0, failures - 1), MAX_RETRY_MS);
}

/** Any error as one that can be shown. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Problem(message, { status: 0, code: null, requestId: null, retryAfterSeconds: null });
}

/**
 * Loads what `key` stands for; again when it changes, when asked to, every `everyMs`, and after a failure that may pass.
 * null for a key: nothing is loaded.
 */
export function useResource<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  { everyMs }: { readonly everyMs?: number } = {},
): Resource<T> {
  const [state, setState] = useState<{ key: string | null; data?: T; problem: Problem | null; loading: boolean }>({
    key,
    problem: null,
    loading: key !== null,
  });
  const [round, setRound] = useState(0);
  const failures = useRef(0);
  const latest = useRef(load);
  latest.current = load;

  useEffect(() => {
    if (key === null) return undefined;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = (delayMs: number) => {
      timer = setTimeout(() => setRound((count) => count + 1), delayMs);
    };
    setState((before) => (before.key === key ? { ...before, loading: true } : { key, problem: null, loading: true }));
    const run = async (): Promise<void> => {
      try {
        const data = await latest.current(abort.signal);
        if (abort.signal.aborted) return;
        failures.current = 0;
        setState({ key, data, problem: null, loading: false });
        if (everyMs !== undefined) again(everyMs);
      } catch (error) {
        if (abort.signal.aborted) return;
        const problem = asProblem(error);
        failures.current += 1;
        setState((before) => ({ ...before, problem, loading: false }));
        if (problem.isTemporary) again(retryDelayMs(problem, failures.current));
      }
    };
    run().catch(reportError);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, round, everyMs]);

  const reload = useCallback(() => setRound((count) => count + 1), []);
  const current = state.key === key ? state : { problem: null, loading: key !== null };
  return {
    data: "data" in current ? current.data : undefined,
    problem: current.problem,
    loading: current.loading,
    reload,
  };
}

export interface PagedResource<T> extends Resource<Page<T>> {
  readonly trail: Trail;
  readonly next: () => void;
  readonly previous: () => void;
}

/** A list of pages: `key` names the filter, and a new one begins at the first page. */
export function usePages<T>(
  key: string | null,
  load: (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>,
  options: { readonly everyMs?: number } = {},
): PagedResource<T> {
  const [state, setState] = useState<{ key: string | null; trail: Trail }>({ key, trail: FIRST_PAGE });
  const trail = state.key === key ? state.trail : FIRST_PAGE;
  const cursor = trail.at(-1)!;
  const resource = useResource(
    key === null ? null : `${key}\n${cursor ?? ""}`,
    (signal) => pageWithRows((at) => load(at, signal), cursor, MAX_EMPTY_PAGES),
    options,
  );
  return {
    ...resource,
    trail,
    next: () => setState({ key, trail: nextPage(trail, resource.data?.next_cursor ?? null) }),
    previous: () => setState({ key, trail: previousPage(trail) }),
  };
}

export interface Action<A extends unknown[]> {
  readonly busy: boolean;
  readonly problem: Problem | null;
  readonly start: (...args: A) => void;
  readonly clear: () => void;
}

/** Runs one call at a time, for a button or a form. */
export function useAction<A extends unknown[]>(run: (...args: A) => Promise<void>): Action<A> {
  const [state, setState] = useState<{ busy: boolean; problem: Problem | null }>({ busy: false, problem: null });
  const busy = useRef(false);
  const once = async (args: A): Promise<void> => {
    busy.current = true;
    setState({ busy: true, problem: null });
    let problem: Problem | null = null;
    try {
      await run(...args);
    } catch (error) {
      problem = asProblem(error);
    }
    busy.current = false;
    setState({ busy: false, problem });
  };
  return {
    ...state,
    clear: () => setState({ busy: busy.current, problem: null }),
    start: (...args) => {
      if (!busy.current) once(args).catch(reportError);
    },
  };
}
