import { expect, test } from "vitest";
import { createRouter, linkTo, matchPath, parseHash, type Place } from "../../src/ui/shared/router.ts";

/** A window's address, which tells of its changes as a browser does. */
function place(hash: string) {
  const listeners: (() => void)[] = [];
  const entries = [hash];
  const made: Place & { entries: string[]; back(): void } = {
    entries,
    location: {
      get hash() {
        return entries.at(-1)!;
      },
      set hash(next) {
        entries.push(next);
      },
    },
    history: {
      replaceState: (_data, _unused, url) => {
        entries[entries.length - 1] = url;
      },
    },
    addEventListener: (_type, listener) => {
      listeners.push(listener);
    },
    back: () => {
      entries.pop();
      for (const listener of listeners) listener();
    },
  };
  return made;
}

test("the part behind # is a path and its parameters", () => {
  const { path, query } = parseHash("#/models?plan=Free&search=a%20b");
  expect([path, query.get("plan"), query.get("search")]).toEqual(["/models", "Free", "a b"]);
  expect(["", "#", "#main", "#/"].map((hash) => parseHash(hash).path)).toEqual(["/", "/", "/", "/"]);
  expect(linkTo("/models", { search: "a&b", plan: "", tier: null })).toBe("#/models?search=a%26b");
});

test("a pattern names the parts of a path", () => {
  expect(matchPath("/users/:id", "/users/u%2F1")).toEqual({ id: "u/1" });
  expect(matchPath("/users/:id", "/users/%zz")).toEqual({ id: "%zz" });
  expect(matchPath("/users/:id", "/users")).toBeNull();
  expect(matchPath("/users/:id", "/keys/1")).toBeNull();
});

test("a view is a new entry of the history, a filter is not", () => {
  const window = place("#/");
  const router = createRouter(window);
  router.go("/activity", { model: "route/a" });
  router.setQuery({ outcome: "failed" });
  router.setQuery({ model: null });
  expect(router.route.value.path).toBe("/activity");
  expect(Object.fromEntries(router.route.value.query)).toEqual({ outcome: "failed" });
  expect(window.entries).toEqual(["#/", "#/activity?outcome=failed"]);
  window.back();
  expect(router.path.value).toBe("/");
});
