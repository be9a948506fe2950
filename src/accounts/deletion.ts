import type { AuditEntry, Store, User } from "../kit/index.ts";

const ENTRIES_PER_PAGE = 200;

/**
 * Deletes a user: address, identities, codes, sessions, keys and kept answers go, and what the audit log says of them. The ledger stays
 * under the id, and requests that run are settled. The audit log first: afterwards nobody knows the address.
 * @returns whether there was such a user.
 */
export async function deleteUser(store: Store, { id, email }: User): Promise<boolean> {
  const keys = (await store.listKeys(id)).map((key) => key.id);
  await eraseAudit(store, [id, email, ...keys]);
  // With the answers that are kept for them.
  await store.forgetKeys(id);
  return store.deleteUser(id);
}

/** Removes target and details of every entry that names one of these ids or addresses. */
async function eraseAudit(store: Store, names: readonly string[]): Promise<void> {
  const lower = names.map((name) => name.toLowerCase());
  const isNamed = (entry: AuditEntry) => {
    const text = JSON.stringify([entry.target, entry.details]).toLowerCase();
    return lower.some((name) => text.includes(name));
  };
  for (let before: string | null = null; ;) {
    const entries: readonly AuditEntry[] = await store.listAudit({ before, limit: ENTRIES_PER_PAGE });
    for (const entry of entries.filter(isNamed)) await store.writeAudit({ ...entry, target: null, details: {} });
    before = entries.at(-1)?.id ?? null;
    if (entries.length < ENTRIES_PER_PAGE) return;
  }
}
