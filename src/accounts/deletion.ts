import type { Store, User } from "../kit/index.ts";

/**
 * Deletes a user: address, identities, codes, sessions, keys and kept answers go, and what the audit log says of them. The
 * ledger stays under the id, and requests that run are settled. The audit log first: afterwards nobody knows the address.
 * @returns whether there was such a user.
 */
export async function deleteUser(store: Store, { id, email }: User): Promise<boolean> {
  const keys = (await store.listKeys(id)).map((key) => key.id);
  await store.eraseAudit([id, email, ...keys]);
  await store.endSessions(id);
  // With the answers that are kept for them.
  await store.forgetKeys(id);
  return store.deleteUser(id);
}
