import { signal } from "@preact/signals";
import type { AdminSession } from "#schema";
import { createClient, Problem } from "../shared/http.ts";
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

/** Signs in by the code of a link. @throws Problem */
export function signInBy(code: string): Promise<AdminSession> {
  // Not by the client above: that a link is refused says nothing of a session that this browser has.
  const bare = createClient({ fetch: window.fetch.bind(window) });
  return bare.send<AdminSession>("POST", "/admin/session", { body: { token: code } });
}

/** Whether what changes something is offered; that the server refuses it to viewers is another matter. */
export function mayChange(): boolean {
  return session.value?.role === "operator";
}

/** A part of a path: an id or a name may hold anything. */
export function part(text: string): string {
  return encodeURIComponent(text);
}

/** What came of a reload or a rollback. */
export interface Changed {
  readonly ok: boolean;
  readonly guarded?: boolean;
  readonly hash?: string;
}

/** A change that was refused with findings is an answer too. @throws Problem for every other failure */
export async function changed(call: Promise<unknown>): Promise<Changed> {
  try {
    return (await call) as Changed;
  } catch (error) {
    if (error instanceof Problem && error.status === 422) return { ok: false };
    throw error;
  }
}
