import type { DatabaseSync } from "node:sqlite";
import {
  type ApiKey,
  budgetPeriodOf,
  budgetResetsAt,
  type Grant,
  invalidRequest,
  type KeyLimits,
  type NewGrant,
  type NewKey,
  type OnChange,
  type NewUser,
  type Principal,
  type User,
  type UserPage,
  type UserQuery,
} from "../../kit/index.ts";
import type { KnownBudgets } from "./budgets.ts";
import type { Transactions } from "./commits.ts";
import { packLimits, type StoredLimits, unpackLimits } from "../key-limits.ts";
import { isWanted, LAST_CHARACTER, pageOfUsers } from "../user-pages.ts";
import { USERS_PER_PAGE } from "../windows.ts";
import type { KnownUsers } from "./users.ts";

type UserRow = Record<"id" | "email" | "tier", string> &
  Record<"balance" | "held" | "granted" | "charged" | "created_at" | "sessions", bigint> & {
    disabled_at: bigint | null;
  };

/** What `userOf` takes. */
const USER_COLUMNS = "id, email, tier, balance, held, granted, charged, created_at, disabled_at, sessions";

/** The store's role of accounts. `now` is Unix milliseconds. */
export function accountMethods(
  db: DatabaseSync,
  transactions: Transactions,
  now: () => number,
  { users, budgets }: { readonly users: KnownUsers; readonly budgets: KnownBudgets },
) {
  const listeners = new Set<{ readonly listener: OnChange }>();
  const onChanged = (userId: string) => {
    for (const { listener } of listeners) listener(userId);
  };
  return {
    ...userMethods(db, transactions, now, onChanged, users),
    ...keyMethods(db, transactions, now, onChanged, budgets),
    ...identityMethods(db, transactions, users),

    accountsVersion: transactions.read(() => users.version()),

    /** Pushes what this process changes, not what a command changes in the file. */
    onChange(listener: OnChange) {
      const subscription = { listener };
      listeners.add(subscription);
      return () => {
        listeners.delete(subscription);
      };
    },
  };
}

/** Users: who they are and what they own. */
function userMethods(
  db: DatabaseSync,
  { read, writeDurably }: Transactions,
  now: () => number,
  onChanged: (userId: string) => void,
  users: KnownUsers,
) {
  const insert = db.prepare(
    `INSERT INTO users (id, email, tier, balance, granted, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING RETURNING ${USER_COLUMNS}`,
  );
  const find = db.prepare(`SELECT ${USER_COLUMNS} FROM users WHERE id = ? OR email = ?`);
  const tierOf = db.prepare("SELECT tier, sessions FROM users WHERE id = ? AND disabled_at IS NULL");
  const list = db.prepare(`SELECT ${USER_COLUMNS} FROM users ORDER BY created_at, id`);
  const setTier = db.prepare(`UPDATE users SET tier = ? WHERE id = ? RETURNING ${USER_COLUMNS}`);
  const grant = db.prepare(`UPDATE users SET balance = ?, granted = ? WHERE id = ? RETURNING ${USER_COLUMNS}`);

  const disable = db.prepare(
    `UPDATE users SET disabled_at = ifnull(disabled_at, ?), stop_token = stop_token + 1 WHERE id = ? RETURNING ${USER_COLUMNS}`,
  );
  const enable = db.prepare(`UPDATE users SET disabled_at = NULL WHERE id = ? RETURNING ${USER_COLUMNS}`);
  const endSessions = db.prepare(`UPDATE users SET sessions = sessions + 1 WHERE id = ? RETURNING ${USER_COLUMNS}`);
  const page = db.prepare(
    `SELECT ${USER_COLUMNS} FROM users WHERE email > ? AND email >= ? AND email < ? ORDER BY email LIMIT ?`,
  );

  const toUser = (found: unknown) => userOf(found, users);
  const userBy = (idOrEmail: string) => toUser(find.get(idOrEmail, idOrEmail));
  const updateDisabled = writeDurably((id: string, disabled: boolean) =>
    toUser(disabled ? disable.get(now(), id) : enable.get(id)),
  );
  const updateTier = writeDurably((id: string, tier: string) => toUser(setTier.get(tier, id)));
  /** In a transaction. */
  function credit(id: string, amount: bigint): User | null {
    const user = userBy(id);
    if (user?.id !== id) return null;
    return toUser(grant.get(storable(user.balance + amount), storable(user.granted + amount), id));
  }
  const addToBalance = writeDurably(credit);

  return {
    findUser: read(userBy),
    addUser: writeDurably(({ id, email, tier, credits }: NewUser) =>
      toUser(insert.get(id, email, tier, storable(credits), credits, now())),
    ),
    principalOf: read((id: string): Principal | null => {
      const row = tierOf.get(id);
      return row ? { userId: id, tier: String(row["tier"]), keyId: null, ...sessionsOf(row["sessions"]) } : null;
    }),
    listUsers: read(() => list.all().flatMap((row) => toUser(row) ?? [])),

    setTier(id: string, tier: string): User | null {
      const user = updateTier(id, tier);
      if (user) onChanged(user.id);
      return user;
    },

    findUsers: read((query: UserQuery): UserPage => {
      const { search = "", after = "" } = query;
      const found = search === "" ? null : toUser(find.get(search, ""));
      if (found !== null) return { users: after === "" && isWanted(found, query) ? [found] : [], next: null };
      const rows = page.all(after, search, `${search}${LAST_CHARACTER}`, USERS_PER_PAGE + 1);
      const looked = rows.slice(0, USERS_PER_PAGE).flatMap((row) => toUser(row) ?? []);
      return pageOfUsers(looked, rows.length > USERS_PER_PAGE ? (looked.at(-1)?.email ?? null) : null, query);
    }),

    setDisabled(id: string, disabled: boolean): User | null {
      const user = updateDisabled(id, disabled);
      users.expire(id);
      if (user) onChanged(user.id);
      return user;
    },

    endSessions: writeDurably((id: string): User | null => toUser(endSessions.get(id))),

    grant(id: string, amount: bigint): User | null {
      const user = addToBalance(id, amount);
      users.expire(id);
      return user;
    },

    ...grantMethods(db, { read, writeDurably }, now, (id, amount) => {
      const user = credit(id, amount);
      users.expire(id);
      return user;
    }),
  };
}

type GrantRow = Record<"user_id" | "id" | "reason" | "granted_by", string> &
  Record<"seq" | "amount" | "balance" | "created_at", bigint> & { idempotency_key: string | null };

/** Grants of credits, kept. @param credit adds to what a user owns, in a transaction. */
function grantMethods(
  db: DatabaseSync,
  { read, writeDurably }: Pick<Transactions, "read" | "writeDurably">,
  now: () => number,
  credit: (userId: string, amount: bigint) => User | null,
) {
  const insert = db.prepare(
    `INSERT INTO grants (user_id, id, amount, balance, reason, granted_by, created_at, idempotency_key)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
  );
  const repeated = db.prepare("SELECT * FROM grants WHERE user_id = ? AND idempotency_key = ?");
  const list = db.prepare("SELECT * FROM grants WHERE user_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?");

  return {
    addGrant: writeDurably(({ id, userId, amount, reason, by, idempotencyKey }: NewGrant): Grant | null => {
      const before = idempotencyKey === null ? undefined : repeated.get(userId, idempotencyKey);
      if (before !== undefined) return grantOf(before as GrantRow);
      const user = credit(userId, amount);
      if (user === null) return null;
      return grantOf(insert.get(userId, id, amount, user.balance, reason, by, now(), idempotencyKey) as GrantRow);
    }),

    listGrants: read((userId: string, { limit, after }: { readonly limit: number; readonly after: number | null }) => {
      const rows = list.all(userId, after ?? Number.MAX_SAFE_INTEGER, limit + 1) as GrantRow[];
      const grants = rows.slice(0, limit);
      return { grants: grants.map(grantOf), next: rows.length > limit ? Number(grants.at(-1)?.seq) : null };
    }),
  };
}

function grantOf({ user_id, id, amount, balance, reason, granted_by, created_at, idempotency_key }: GrantRow): Grant {
  const names = { id, userId: user_id, reason, by: granted_by, idempotencyKey: idempotency_key };
  return { ...names, amount, balance, createdAt: Number(created_at) };
}

/** SQLite's integers have 64 bits and turn into floats beyond; this leaves room for sums. */
function storable(amount: bigint): bigint {
  if (BigInt.asIntN(62, amount) !== amount) throw invalidRequest("/credits", "are more than an account can hold");
  return amount;
}

/** `found` is a row of USER_COLUMNS, in which what is held may be older than what `users` knows. */
function userOf(found: unknown, users: KnownUsers): User | null {
  const row = found as UserRow | undefined;
  if (!row) return null;
  const { id, email, tier, balance, granted, charged, created_at, disabled_at, sessions } = row;
  const held = users.held(id, row.held);
  const disabledAt = disabled_at === null ? {} : { disabledAt: Number(disabled_at) };
  const createdAt = Number(created_at);
  return { id, email, tier, balance, held, granted, charged, createdAt, ...disabledAt, ...sessionsOf(sessions) };
}

function sessionsOf(sessions: unknown): Pick<User, "sessions"> {
  return Number(sessions) > 0 ? { sessions: Number(sessions) } : {};
}

type KeyRow = Record<"id" | "user_id" | "name" | "prefix" | "limits", string> & {
  created_at: bigint;
  last_used_at: bigint | null;
};
type PrincipalRow = Record<"key_id" | "user_id" | "tier" | "limits", string>;

const KEY_COLUMNS = "id, user_id, name, prefix, created_at, last_used_at, limits";

/** Its parameter is the time. */
const IS_LIVE = "revoked_at IS NULL AND ifnull(expires_at, 1e999) > ?";

/** API keys. Revoked and expired ones stay, unlisted: the ledger names them. */
function keyMethods(
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
  const userExists = db.prepare("SELECT 1 FROM users WHERE id = ?");
  const live = db.prepare(`SELECT count(*) AS live FROM api_keys WHERE user_id = ? AND ${IS_LIVE}`);
  const insert = db.prepare(
    `INSERT INTO api_keys (id, user_id, digest, name, prefix, created_at, expires_at, limits)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${KEY_COLUMNS}`,
  );
  const list = db.prepare(
    `SELECT ${KEY_COLUMNS} FROM api_keys WHERE user_id = ? AND ${IS_LIVE} ORDER BY created_at, id`,
  );
  const revoke = db.prepare(
    `UPDATE api_keys SET revoked_at = ? WHERE id = ? AND user_id = ifnull(?, user_id) AND ${IS_LIVE} RETURNING user_id`,
  );

  const forgetBudget = db.prepare("DELETE FROM key_budgets WHERE key_id = ?");

  /** @returns the user whose key it was. */
  const revoked = writeDurably((id: string, userId: string | undefined): string | null => {
    const row = revoke.get(now(), id, userId ?? null, now());
    if (row === undefined) return null;
    forgetBudget.run(id);
    return String(row["user_id"]);
  });

  function withBudget(row: KeyRow): ApiKey {
    const key = toKey(row);
    const budget = key.limits?.budget;
    if (budget === undefined) return key;
    const { spent, held } = budgets.seen(key.id, budgetPeriodOf(budget.per, now()));
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
      if (Number(live.get(userId, now())?.["live"]) >= maximum) return null;
      const kept = [limits?.expiresAt ?? null, limits === undefined ? "" : JSON.stringify(packLimits(limits))] as const;
      return withBudget(insert.get(id, userId, digest, name, prefix, now(), ...kept) as KeyRow);
    }),

    listKeys: read((userId: string): ApiKey[] => (list.all(userId, now()) as KeyRow[]).map(withBudget)),

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

/** Who an identity provider's subjects sign in as. */
function identityMethods(db: DatabaseSync, { read, writeDurably }: Transactions, users: KnownUsers) {
  const find = db.prepare(
    `SELECT ${USER_COLUMNS} FROM identities JOIN users ON users.id = user_id WHERE issuer = ? AND subject = ?`,
  );
  const link = db.prepare("INSERT INTO identities SELECT ?, ?, id FROM users WHERE id = ? ON CONFLICT DO NOTHING");

  const userBy = (issuer: string, subject: string) => userOf(find.get(issuer, subject), users);

  return {
    findIdentity: read(userBy),

    /** @returns null when there is no such user and the subject has none. */
    linkIdentity: writeDurably((issuer: string, subject: string, userId: string): User | null => {
      link.run(issuer, subject, userId);
      return userBy(issuer, subject);
    }),
  };
}
