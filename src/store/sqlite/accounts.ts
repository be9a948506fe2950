import type { DatabaseSync } from "node:sqlite";
import {
  type Grant,
  invalidRequest,
  type NewGrant,
  type OnChange,
  type NewUser,
  type Principal,
  type User,
  type UserPage,
  type UserQuery,
} from "../../kit/index.ts";
import type { KnownBudgets } from "./budgets.ts";
import type { Transactions } from "./commits.ts";
import { isWanted, LAST_CHARACTER, pageOfUsers } from "../user-pages.ts";
import { USERS_PER_PAGE } from "../windows.ts";
import { keyMethods } from "./keys.ts";
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
    ...deletionMethods(db, transactions, now, onChanged, users),

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
  const find = db.prepare(`SELECT ${USER_COLUMNS} FROM users WHERE (id = ? OR email = ?) AND deleted_at IS NULL`);
  const tierOf = db.prepare("SELECT tier, sessions FROM users WHERE id = ? AND disabled_at IS NULL");
  const list = db.prepare(`SELECT ${USER_COLUMNS} FROM users WHERE deleted_at IS NULL ORDER BY created_at, id`);
  const setTier = db.prepare(`UPDATE users SET tier = ? WHERE id = ? AND deleted_at IS NULL RETURNING ${USER_COLUMNS}`);
  const grant = db.prepare(`UPDATE users SET balance = ?, granted = ? WHERE id = ? RETURNING ${USER_COLUMNS}`);

  const disable = db.prepare(
    `UPDATE users SET disabled_at = ifnull(disabled_at, ?), stop_token = stop_token + 1
     WHERE id = ? AND deleted_at IS NULL RETURNING ${USER_COLUMNS}`,
  );
  const enable = db.prepare(
    `UPDATE users SET disabled_at = NULL WHERE id = ? AND deleted_at IS NULL RETURNING ${USER_COLUMNS}`,
  );
  const endSessions = db.prepare(
    `UPDATE users SET sessions = sessions + 1 WHERE id = ? AND deleted_at IS NULL RETURNING ${USER_COLUMNS}`,
  );
  const page = db.prepare(
    `SELECT ${USER_COLUMNS} FROM users WHERE email > ? AND email >= ? AND email < ? AND deleted_at IS NULL ORDER BY email LIMIT ?`,
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

/** Who an identity provider's subjects sign in as. */
function identityMethods(db: DatabaseSync, { read, writeDurably }: Transactions, users: KnownUsers) {
  const find = db.prepare(
    `SELECT ${USER_COLUMNS} FROM identities JOIN users ON users.id = user_id WHERE issuer = ? AND subject = ?`,
  );
  const link = db.prepare(
    "INSERT INTO identities SELECT ?, ?, id FROM users WHERE id = ? AND deleted_at IS NULL ON CONFLICT DO NOTHING",
  );

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
function deletionMethods(
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
