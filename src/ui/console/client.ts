import { signal } from "@preact/signals";
import type { AdminSession } from "#schema";
import { createClient } from "../shared/http.ts";
import { createRouter } from "../shared/router.ts";

export const router = createRouter(window);

/** Who is signed in; null: nobody; undefined: it is not known yet. */
export const session = signal<AdminSession | null | undefined>(undefined);

/** The admin listener. An answer that asks for credentials leads to the sign-in. */
export const admin = createClient({
  fetch: window.fetch.bind(window),
  onUnauthorized: async () => {
    session.value = null;
    return false;
  },
});

/** Whether what changes something is offered; that the server refuses it to viewers is another matter. */
export function mayChange(): boolean {
  return session.value?.role === "operator";
}

/** A part of a path: an id or a name may hold anything. */
export function part(text: string): string {
  return encodeURIComponent(text);
}
