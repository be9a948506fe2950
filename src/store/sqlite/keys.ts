import type { DatabaseSync } from "node:sqlite";
import {
  type ApiKey,
  budgetAccount,
  budgetPeriodOf,
  budgetResetsAt,
  type KeyChange,
  type KeyLimits,
  type KeyRoll,
  type KeyRollResult,
  type NewKey,
  type Principal,
} from "../../kit/index.ts";
import { changedKey, packLimits, rolledLimits, type StoredLimits, unpackLimits } from "../key-limits.ts";
import { isBudgetUsed, type KnownBudgets } from "./budgets.ts";
import type { Transactions } from "./commits.ts";

type KeyRow = Record<"id" | "user_id" | "name" | "prefix" | "limits", string> & {
  created_at: bigint;
  last_used_at: bigint | null;
};
type PrincipalRow = Record<"key_id" | "user_id" | "tier" | "limits", string>;

const KEY_COLUMNS = "id, user_id, name, prefix, created_at, last_used_at, limits";

/** Its parameter is the time. */
const IS_LIVE = "revoked_at IS NULL AND ifnull(expires_at, 1e999) > ?";

/** API keys. Revoked and expired ones stay, unlisted: the ledger names them. */
export function keyMethods(
  db: DatabaseSync,
  { read, write, writeDurably }: Transactions,
  now: () => number,
  onChanged: (userId: string) => void,
  budgets: KnownBudgets,
) {
  const principal = db.prepare(
    `SELECT api_keys.id AS key_id, user_id, tier, limits FROM api_keys JOIN users ON users.id = user_id
     WHERE digest = ? AND disabled_at IS NULL AND ${IS_LIVE}`,
  );
  const touch = db.prepare("UPDATE api_keys SET last_used_at = max(ifnull(last_used_at, 0), ?) WHERE id = ?");
  const userExists = db.prepare("SELECT 1 FROM users WHERE id = ? AND deleted_at IS NULL");
  const live = db.prepare(`SELECT count(*) AS live FROM api_keys WHERE user_id = ? AND ${IS_LIVE}`);
  const insert = db.prepare(
    `INSERT INTO api_keys (id, user_id, digest, name, prefix, created_at, expires_at, limits, budget_of)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${KEY_COLUMNS}`,
  );
  const find = db.prepare(
    `SELECT ${KEY_COLUMNS} FROM api_keys WHERE id = ? AND user_id = ifnull(?, user_id) AND ${IS_LIVE}`,
  );
  const update = db.prepare(
    `UPDATE api_keys SET name = ?, expires_at = ?, limits = ?, budget_of = ? WHERE id = ? RETURNING ${KEY_COLUMNS}`,
  );
  const list = db.prepare(
    `SELECT ${KEY_COLUMNS} FROM api_keys WHERE user_id = ? AND ${IS_LIVE} ORDER BY created_at, id`,
  );
  const revoke = db.prepare(
    `UPDATE api_keys SET revoked_at = ? WHERE id = ? AND user_id = ifnull(?, user_id) AND ${IS_LIVE}
     RETURNING user_id, ifnull(budget_of, id) AS account`,
  );
  const forgetBudget = db.prepare(`DELETE FROM key_budgets WHERE key_id = ?1 AND NOT ${isBudgetUsed("?1")}`);

  /** @returns the user whose key it was. */
  const revoked = writeDurably((id: string, userId: string | undefined): string | null => {
    const row = revoke.get(now(), id, userId ?? null, now());
    if (row === undefined) return null;
    forgetBudget.run(String(row["account"]));
    return String(row["user_id"]);
  });

  const liveKey = (id: string, userId: string | undefined) => find.get(id, userId ?? null, now()) as KeyRow | undefined;
  const liveCount = (userId: string) => Number(live.get(userId, now())?.["live"]);

  const changed = writeDurably((id: string, change: KeyChange, userId: string | undefined): ApiKey | null => {
    const row = liveKey(id, userId);
    if (row === undefined) return null;
    const { name, limits } = changedKey(toKey(row), change);
    return withBudget(update.get(name, ...columnsOf(limits), id) as KeyRow);
  });

  /** In one transaction: nobody is without a key in between. */
  const rolled = writeDurably((id: string, roll: KeyRoll, userId: string | undefined): KeyRollResult => {
    const row = liveKey(id, userId);
    if (row === undefined) return { ok: false, reason: "unknown" };
    const key = toKey(row);
    const replacedBy = key.limits?.replacedBy;
    if (replacedBy !== undefined) return { ok: false, reason: "rolled", replacedBy };
    const limits = rolledLimits(key, roll);
    if (liveCount(key.userId) + (limits.old ? 1 : 0) > roll.maximum) return { ok: false, reason: "full" };
    const { next } = roll;
    const made = [next.id, key.userId, next.digest, key.name, next.prefix, now()] as const;
    const added = insert.get(...made, ...columnsOf(limits.next)) as KeyRow;
    if (limits.old) update.get(key.name, ...columnsOf(limits.old), id);
    else revoke.get(now(), id, null, now());
    return { ok: true, key: withBudget(added), until: limits.old ? limits.old.expiresAt : now() };
  });

  function withBudget(row: KeyRow): ApiKey {
    const key = toKey(row);
    const budget = key.limits?.budget;
    if (budget === undefined) return key;
    const { spent, held } = budgets.seen(budgetAccount(key.id, budget), budgetPeriodOf(budget.per, now()));
    return { ...key, budget: { spent, held, resetsAt: budgetResetsAt(budget.per, now()) } };
  }

  return {
    principalByDigest: read((digest: Uint8Array): Principal | null => {
      const row = principal.get(digest, now()) as PrincipalRow | undefined;
      if (row === undefined) return null;
      return { userId: row.user_id, tier: row.tier, keyId: row.key_id, ...limitsOf(row, "keyLimits") };
    }),

    touchKeys: write((used: ReadonlyMap<string, number>): void => {
      for (const [id, at] of used) touch.run(at, id);
    }),

    addKey: writeDurably(({ id, userId, digest, name, prefix, limits }: NewKey, maximum: number): ApiKey | null => {
      if (!userExists.get(userId)) throw new Error(`cannot make a key of an unknown user: ${userId}`);
      if (liveCount(userId) >= maximum) return null;
      return withBudget(insert.get(id, userId, digest, name, prefix, now(), ...columnsOf(limits)) as KeyRow);
    }),

    listKeys: read((userId: string): ApiKey[] => (list.all(userId, now()) as KeyRow[]).map(withBudget)),

    changeKey(id: string, change: KeyChange, userId?: string): ApiKey | null {
      const key = changed(id, change, userId);
      if (key !== null) onChanged(key.userId);
      return key;
    },

    rollKey(id: string, roll: KeyRoll, userId?: string): KeyRollResult {
      const result = rolled(id, roll, userId);
      if (result.ok) onChanged(result.key.userId);
      return result;
    },

    revokeKey(id: string, userId?: string): boolean {
      const owner = revoked(id, userId);
      if (owner !== null) onChanged(owner);
      return owner !== null;
    },
  };
}

function toKey(row: KeyRow): ApiKey {
  const { id, user_id, name, prefix, created_at, last_used_at } = row;
  const lastUsedAt = last_used_at === null ? null : Number(last_used_at);
  return { id, userId: user_id, name, prefix, createdAt: Number(created_at), lastUsedAt, ...limitsOf(row, "limits") };
}

function limitsOf<Name extends string>({ limits }: Pick<KeyRow, "limits">, name: Name): { [N in Name]?: KeyLimits } {
  if (limits === "") return {};
  return { [name]: unpackLimits(JSON.parse(limits) as StoredLimits) } as { [N in Name]: KeyLimits };
}

/** `expires_at`, `limits` and `budget_of`. */
function columnsOf(limits: KeyLimits | undefined) {
  const packed = limits === undefined ? "" : JSON.stringify(packLimits(limits));
  return [limits?.expiresAt ?? null, packed, limits?.budget?.account ?? null] as const;
}
