import type { DatabaseSync } from "node:sqlite";
import type { Transactions } from "./commits.ts";
import type { KnownUsers } from "./users.ts";

/**
 * What goes with a user; `:id` is the id, `:email` the address, `:now` the time. Rows that the ledger names stay, without what
 * their user has written. Statements that change `users` come last: others find the user by it.
 */
const STEPS = [
  "DELETE FROM codes WHERE email = :email",
  "DELETE FROM identities WHERE user_id = :id",
  "DELETE FROM refresh_tokens WHERE family_id IN (SELECT id FROM families WHERE user_id = :id)",
  "DELETE FROM families WHERE user_id = :id",
  "DELETE FROM key_budgets WHERE key_id IN (SELECT id FROM api_keys WHERE user_id = :id)",
  `UPDATE api_keys SET name = '', prefix = '', limits = '', budget_of = NULL, last_used_at = NULL,
     revoked_at = ifnull(revoked_at, :now) WHERE user_id = :id`,
  `UPDATE users SET email = id, deleted_at = :now, disabled_at = ifnull(disabled_at, :now), stop_token = stop_token + 1
     WHERE id = :id`,
] as const;

/** Deletion of a user, in one transaction. `now` is Unix milliseconds. */
export function deletionMethods(
  db: DatabaseSync,
  { writeDurably }: Transactions,
  now: () => number,
  onChanged: (userId: string) => void,
  users: Pick<KnownUsers, "expire">,
) {
  const find = db.prepare("SELECT email FROM users WHERE id = ? AND deleted_at IS NULL");
  const steps = STEPS.map((sql) => ({ sql, statement: db.prepare(sql) }));

  const removed = writeDurably((id: string): boolean => {
    const row = find.get(id);
    if (row === undefined) return false;
    const values = { id, email: String(row["email"]), now: now() };
    for (const { sql, statement } of steps) {
      statement.run(Object.fromEntries(Object.entries(values).filter(([name]) => sql.includes(`:${name}`))));
    }
    return true;
  });

  return {
    deleteUser(id: string): boolean {
      const isRemoved = removed(id);
      users.expire(id);
      if (isRemoved) onChanged(id);
      return isRemoved;
    },
  };
}
