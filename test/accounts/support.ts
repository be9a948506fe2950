import { onTestFinished } from "vitest";
import type { AuthSettings, Store, User } from "../../src/kit/index.ts";
import { Secret } from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";

export const START = Date.UTC(2027, 0, 15, 8);

/** A store in memory with one user, closed when the test ends. */
export async function storeWithUser(now: () => number = () => START): Promise<{ store: Store; user: User }> {
  const store = await openStore("memory:", { serving: true, now });
  onTestFinished(async () => store.close());
  const user = await store.addUser({ id: "user_1", email: "ada@example.com", tier: "Free", credits: 0n });
  return { store, user: user! };
}

export function tokenSettings(secrets: Readonly<Record<string, string>>): AuthSettings["tokens"] {
  return {
    issuer: "route-gateway",
    audience: "route-gateway",
    accessTtl: 900_000,
    refreshTtl: 86_400_000,
    secrets: Object.entries(secrets).map(([kid, value]) => ({ kid, value: new Secret(value) })),
  };
}
