import { computed, type ReadonlySignal, signal } from "@preact/signals";

/** Where a page of several views stands: the part of the URL behind its `#`, so that any path can serve it. */
export interface Route {
  /** Begins with a slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** `#/keys?name=a` → `/keys` and its parameters. */
export function parseHash(hash: string): Route {
  const text = hash.replace(/^#/, "");
  const mark = text.indexOf("?");
  const path = mark < 0 ? text : text.slice(0, mark);
  return {
    path: path.startsWith("/") ? path : "/",
    query: new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)),
  };
}

export type Changes = Readonly<Record<string, string | null | undefined>>;

/** The link to a view. Empty parameters are omitted. */
export function linkTo(path: string, query: Changes = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) parameters.set(name, value);
  const text = parameters.toString();
  return `#${path}${text === "" ? "" : `?${text}`}`;
}

/** `/users/:id` over `/users/u-1` → `{id: "u-1"}`; null when it does not match. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return null;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index]!;
    if (part.startsWith(":")) found[part.slice(1)] = decoded(value);
    else if (part !== value) return null;
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The part of `window` that a router needs. */
export interface Place {
  readonly location: { hash: string };
  readonly history: { replaceState(data: unknown, unused: string, url: string): void };
  addEventListener(type: "hashchange", listener: () => void): void;
}

export interface Router {
  readonly route: ReadonlySignal<Route>;
  /** The path alone: it does not change with the filters. */
  readonly path: ReadonlySignal<string>;
  go(path: string, query?: Changes): void;
  /** Changes parameters of the view that is shown, without a new entry in the browser's history. */
  setQuery(changes: Changes): void;
}

export function createRouter(place: Place): Router {
  const hash = signal(place.location.hash);
  const route = computed(() => parseHash(hash.value));
  place.addEventListener("hashchange", () => {
    hash.value = place.location.hash;
  });
  return {
    route,
    path: computed(() => route.value.path),
    go: (path, query) => {
      place.location.hash = linkTo(path, query);
      hash.value = place.location.hash;
    },
    setQuery: (changes) => {
      const { path, query } = parseHash(hash.value);
      const next = linkTo(path, { ...Object.fromEntries(query), ...changes });
      place.history.replaceState(null, "", next);
      hash.value = next;
    },
  };
}
