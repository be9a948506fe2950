import type { DatabaseSync } from "node:sqlite";
import { invalidRequest } from "../../kit/index.ts";
import type { NewUser, Principal, User } from "../../kit/index.ts";

type UserRow = Record<"id" | "email" | "tier", string> &
  Record<"balance" | "held" | "granted" | "charged" | "created_at", bigint>;

/** What `toUser` takes. */
export const USER_COLUMNS = "id, email, tier, balance, held, granted, charged, created_at";

/** Users: who they are and what they own. Methods that write must run inside a transaction. */
export function userTable(db: DatabaseSync, now: () => number) {
  const insert = db.prepare(
    `INSERT INTO users (id, email, tier, balance, granted, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING RETURNING ${USER_COLUMNS}`,
  );
  const find = db.prepare(`SELECT ${USER_COLUMNS} FROM users WHERE id = ? OR email = ?`);
  const tierOf = db.prepare("SELECT tier FROM users WHERE id = ?");
  const list = db.prepare(`SELECT ${USER_COLUMNS} FROM users ORDER BY created_at, id`);
  const setTier = db.prepare(`UPDATE users SET tier = ? WHERE id = ? RETURNING ${USER_COLUMNS}`);
  const grant = db.prepare(`UPDATE users SET balance = ?, granted = ? WHERE id = ? RETURNING ${USER_COLUMNS}`);

  const findUser = (idOrEmail: string) => toUser(find.get(idOrEmail, idOrEmail));

  return {
    findUser,
    addUser: ({ id, email, tier, credits }: NewUser) =>
      toUser(insert.get(id, email, tier, storable(credits), credits, now())),
    principalOf(id: string): Principal | null {
      const row = tierOf.get(id);
      return row ? { userId: id, tier: String(row["tier"]), keyId: null } : null;
    },
    listUsers: () => list.all().flatMap((row) => toUser(row) ?? []),
    setTier: (id: string, tier: string) => toUser(setTier.get(tier, id)),

    grant(id: string, amount: bigint): User | null {
      const user = findUser(id);
      if (user?.id !== id) return null;
      return toUser(grant.get(storable(user.balance + amount), storable(user.granted + amount), id));
    },
  };
}

/** SQLite's integers have 64 bits and turn into floats beyond; this leaves room for sums. */
function storable(amount: bigint): bigint {
  if (BigInt.asIntN(62, amount) !== amount) throw invalidRequest("/credits", "are more than an account can hold");
  return amount;
}

/** `found` is a row of USER_COLUMNS. */
export function toUser(found: unknown): User | null {
  const row = found as UserRow | undefined;
  if (!row) return null;
  const { id, email, tier, balance, held, granted, charged, created_at } = row;
  return { id, email, tier, balance, held, granted, charged, createdAt: Number(created_at) };
}
