import type { DatabaseSync } from "node:sqlite";
import { transaction } from "./commits.ts";

/** "rgw1": tells our files from other programs' databases. */
export const APPLICATION_ID = 0x72677731;

/**
 * Each entry brings a file from the version of its index to the next. Entries are never edited once released: files in
 * the field have run them.
 *
 * Money is in nano-units. `day`, `hour` and `minute` are window numbers since the epoch, so old windows need no cleaning.
 * `users.charged` is the sum of all charges, also of ledger entries that are no longer kept: granted = balance + charged.
 * `users.requests`, `streams` and `held` are what the user runs, as the serving process last wrote it; it writes a row of
 * `reservations` for a request that has run for a while. `reservations.stop_token` is the user's at admission. Of each family one token at most is live: `used_at` is null.
 * Of the ledger, `previous` is the `seq` of the same user's entry before, and `users.last_entry` that of the latest, or of
 * none. `abandoned` are the entries that a late settlement replaces. `usage_hours` and `usage_of_users` are sums of the
 * entries up to `ledger_state.rolled_up`; '' stands for null there.
 * `ledger.tags` and `api_keys.limits` are JSON objects, or empty. `api_keys.budget_of` is the key under whose id a rolled
 * key's budget is counted; null: its own. A deleted user stays for the ledger, with the id in place of the address. `key_budgets` are what keys with a budget have spent in
 * a period, and what their running requests hold. `grants.balance` is the user's afterwards.
 * `audit.entry` is JSON. `audit.seq` is the place in the chain (audit-chain.ts): 0 for entries without digests, the
 * largest integer for those that have begun. `audit_chain` has the ends of the chain: the newest entry, and the newest one
 * that is no longer kept.
 * `users.sessions` is raised when a user's sessions are ended: families and access tokens of a lower number are void.
 * `idempotency_keys.bytes` are those of `answer`, 0 without one; `total` is their sum up to the row, of the same user.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE users (
     id TEXT PRIMARY KEY,
     email TEXT NOT NULL COLLATE NOCASE UNIQUE,
     tier TEXT NOT NULL,
     balance INTEGER NOT NULL,
     granted INTEGER NOT NULL,
     held INTEGER NOT NULL DEFAULT 0,
     streams INTEGER NOT NULL DEFAULT 0,
     day INTEGER NOT NULL DEFAULT 0,
     day_used INTEGER NOT NULL DEFAULT 0,
     hour INTEGER NOT NULL DEFAULT 0,
     hour_used INTEGER NOT NULL DEFAULT 0,
     minute INTEGER NOT NULL DEFAULT 0,
     minute_used INTEGER NOT NULL DEFAULT 0,
     created_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE api_keys (
     id TEXT PRIMARY KEY,
     user_id TEXT NOT NULL REFERENCES users (id),
     digest BLOB NOT NULL UNIQUE,
     name TEXT NOT NULL,
     prefix TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     last_used_at INTEGER,
     revoked_at INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at);
   CREATE TABLE reservations (
     id TEXT PRIMARY KEY,
     user_id TEXT NOT NULL,
     units INTEGER NOT NULL,
     stream INTEGER NOT NULL,
     hold INTEGER NOT NULL,
     day INTEGER NOT NULL,
     hour INTEGER NOT NULL,
     minute INTEGER NOT NULL,
     model TEXT NOT NULL,
     created_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE ledger (
     user_id TEXT NOT NULL,
     id TEXT NOT NULL,
     request_id TEXT NOT NULL,
     key_id TEXT,
     model TEXT NOT NULL,
     upstream TEXT,
     outcome TEXT NOT NULL,
     prompt INTEGER NOT NULL,
     completion INTEGER NOT NULL,
     cached INTEGER NOT NULL,
     reasoning INTEGER NOT NULL,
     estimated INTEGER NOT NULL,
     received_at INTEGER NOT NULL,
     ended_at INTEGER NOT NULL,
     charge INTEGER NOT NULL,
     PRIMARY KEY (user_id, id)
   ) STRICT, WITHOUT ROWID;`,
  `ALTER TABLE users ADD COLUMN stop_token INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE reservations ADD COLUMN stop_token INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE ledger ADD COLUMN characters INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE ledger ADD COLUMN milliseconds INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE ledger ADD COLUMN images INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE ledger ADD COLUMN cache_write INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE counters (
     digest BLOB NOT NULL,
     length INTEGER NOT NULL,
     ends_at INTEGER NOT NULL,
     used INTEGER NOT NULL,
     PRIMARY KEY (digest, length)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX counters_by_end ON counters (ends_at);
   CREATE TABLE codes (
     email TEXT PRIMARY KEY COLLATE NOCASE,
     digest BLOB NOT NULL,
     expires_at INTEGER NOT NULL,
     tries INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX codes_by_expiry ON codes (expires_at);
   CREATE TABLE families (
     id TEXT PRIMARY KEY,
     user_id TEXT NOT NULL REFERENCES users (id),
     expires_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX families_by_expiry ON families (expires_at);
   CREATE TABLE refresh_tokens (
     digest BLOB PRIMARY KEY,
     family_id TEXT NOT NULL REFERENCES families (id),
     used_at INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family_id);
   CREATE UNIQUE INDEX refresh_tokens_live ON refresh_tokens (family_id) WHERE used_at IS NULL;
   CREATE TABLE identities (
     issuer TEXT NOT NULL,
     subject TEXT NOT NULL,
     user_id TEXT NOT NULL REFERENCES users (id),
     PRIMARY KEY (issuer, subject)
   ) STRICT, WITHOUT ROWID;`,
  `ALTER TABLE ledger ADD COLUMN cache_write_1h INTEGER NOT NULL DEFAULT 0;`,
  `CREATE INDEX ledger_by_end ON ledger (ended_at);
   ALTER TABLE users ADD COLUMN charged INTEGER NOT NULL DEFAULT 0;
   UPDATE users SET charged = (SELECT ifnull(sum(charge), 0) FROM ledger WHERE ledger.user_id = users.id);`,
  `ALTER TABLE codes RENAME TO codes_of_addresses;
   DROP INDEX codes_by_expiry;
   CREATE TABLE codes (
     email TEXT NOT NULL COLLATE NOCASE,
     client TEXT NOT NULL,
     digest BLOB NOT NULL,
     expires_at INTEGER NOT NULL,
     tries INTEGER NOT NULL,
     tries_of_others INTEGER NOT NULL,
     PRIMARY KEY (email, client)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO codes SELECT email, '', digest, expires_at, tries, tries FROM codes_of_addresses;
   DROP TABLE codes_of_addresses;
   CREATE INDEX codes_by_expiry ON codes (expires_at);`,
  `ALTER TABLE ledger ADD COLUMN tags TEXT NOT NULL DEFAULT '';
   CREATE TABLE plugin_values (
     space TEXT NOT NULL,
     digest BLOB NOT NULL,
     value TEXT NOT NULL,
     bytes INTEGER NOT NULL,
     expires_at INTEGER NOT NULL,
     PRIMARY KEY (space, digest)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX plugin_values_by_expiry ON plugin_values (space, expires_at);`,
  `ALTER TABLE users ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;
   UPDATE users SET requests = (SELECT count(*) FROM reservations WHERE user_id = users.id)
     WHERE id IN (SELECT user_id FROM reservations);`,
  `ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
   ALTER TABLE api_keys ADD COLUMN limits TEXT NOT NULL DEFAULT '';
   CREATE TABLE key_budgets (
     key_id TEXT NOT NULL REFERENCES api_keys (id),
     period INTEGER NOT NULL,
     spent INTEGER NOT NULL,
     held INTEGER NOT NULL,
     PRIMARY KEY (key_id, period)
   ) STRICT, WITHOUT ROWID;
   ALTER TABLE users ADD COLUMN disabled_at INTEGER;
   CREATE TABLE grants (
     seq INTEGER PRIMARY KEY,
     user_id TEXT NOT NULL REFERENCES users (id),
     id TEXT NOT NULL UNIQUE,
     amount INTEGER NOT NULL,
     balance INTEGER NOT NULL,
     reason TEXT NOT NULL,
     granted_by TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     idempotency_key TEXT
   ) STRICT;
   CREATE INDEX grants_by_user ON grants (user_id, seq);
   CREATE UNIQUE INDEX grants_by_idempotency_key ON grants (user_id, idempotency_key)
     WHERE idempotency_key IS NOT NULL;`,
  `ALTER TABLE users ADD COLUMN last_entry INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE ledger RENAME TO ledger_by_user;
   DROP INDEX ledger_by_end;
   CREATE TABLE ledger (
     seq INTEGER PRIMARY KEY,
     previous INTEGER NOT NULL,
     user_id TEXT NOT NULL,
     id TEXT NOT NULL,
     recorded_at INTEGER NOT NULL,
     request_id TEXT NOT NULL,
     key_id TEXT,
     model TEXT NOT NULL,
     upstream TEXT,
     outcome TEXT NOT NULL,
     prompt INTEGER NOT NULL,
     completion INTEGER NOT NULL,
     cached INTEGER NOT NULL,
     reasoning INTEGER NOT NULL,
     estimated INTEGER NOT NULL,
     received_at INTEGER NOT NULL,
     ended_at INTEGER NOT NULL,
     charge INTEGER NOT NULL,
     characters INTEGER NOT NULL,
     milliseconds INTEGER NOT NULL,
     images INTEGER NOT NULL,
     cache_write INTEGER NOT NULL,
     cache_write_1h INTEGER NOT NULL,
     tags TEXT NOT NULL,
     tier TEXT
   ) STRICT;
   INSERT INTO ledger
     SELECT seq, ifnull(lag(seq) OVER (PARTITION BY user_id ORDER BY seq), 0), user_id, id, ended_at, request_id, key_id,
       model, upstream, outcome, prompt, completion, cached, reasoning, estimated, received_at, ended_at, charge,
       characters, milliseconds, images, cache_write, cache_write_1h, tags, NULL
     FROM (SELECT row_number() OVER (ORDER BY ended_at, user_id, id) AS seq, * FROM ledger_by_user);
   DROP TABLE ledger_by_user;
   UPDATE users SET last_entry = latest.seq
     FROM (SELECT user_id, max(seq) AS seq FROM ledger GROUP BY user_id) AS latest WHERE latest.user_id = users.id;
   CREATE TABLE abandoned (
     id TEXT PRIMARY KEY,
     seq INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   INSERT OR IGNORE INTO abandoned
     SELECT id, seq FROM ledger WHERE request_id = id AND outcome = 'shutdown' AND charge = 0;
   CREATE TABLE usage_hours (
     hour INTEGER NOT NULL,
     model TEXT NOT NULL,
     upstream TEXT NOT NULL,
     tier TEXT NOT NULL,
     requests INTEGER NOT NULL,
     failed INTEGER NOT NULL,
     prompt INTEGER NOT NULL,
     completion INTEGER NOT NULL,
     cached INTEGER NOT NULL,
     reasoning INTEGER NOT NULL,
     charge INTEGER NOT NULL,
     PRIMARY KEY (hour, model, upstream, tier)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE usage_of_users (
     hour INTEGER NOT NULL,
     user_id TEXT NOT NULL,
     key_id TEXT NOT NULL,
     model TEXT NOT NULL,
     upstream TEXT NOT NULL,
     tier TEXT NOT NULL,
     requests INTEGER NOT NULL,
     failed INTEGER NOT NULL,
     prompt INTEGER NOT NULL,
     completion INTEGER NOT NULL,
     cached INTEGER NOT NULL,
     reasoning INTEGER NOT NULL,
     charge INTEGER NOT NULL,
     PRIMARY KEY (hour, user_id, key_id, model, upstream, tier)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE ledger_state (rolled_up INTEGER NOT NULL) STRICT;
   INSERT INTO ledger_state VALUES (0);`,
  `CREATE TABLE audit (
     id TEXT PRIMARY KEY,
     at INTEGER NOT NULL,
     entry TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE idempotency_keys (
     seq INTEGER PRIMARY KEY,
     user_id TEXT NOT NULL,
     digest TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     id TEXT NOT NULL,
     request_id TEXT NOT NULL,
     outcome TEXT NOT NULL,
     expires_at INTEGER NOT NULL,
     answer TEXT,
     bytes INTEGER NOT NULL,
     total INTEGER NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX idempotency_keys_by_digest ON idempotency_keys (user_id, digest);
   CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
   CREATE INDEX idempotency_keys_with_answer ON idempotency_keys (user_id, total) WHERE bytes > 0;`,
  `ALTER TABLE audit ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
   CREATE INDEX audit_by_seq ON audit (seq, id);
   CREATE TABLE audit_chain (
     head_seq INTEGER NOT NULL,
     head TEXT,
     anchor_seq INTEGER NOT NULL,
     anchor TEXT
   ) STRICT;
   INSERT INTO audit_chain VALUES (0, NULL, 0, NULL);
   ALTER TABLE users ADD COLUMN sessions INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE families ADD COLUMN sessions INTEGER NOT NULL DEFAULT 0;`,
  `ALTER TABLE api_keys ADD COLUMN budget_of TEXT;
   CREATE INDEX api_keys_by_budget ON api_keys (budget_of) WHERE budget_of IS NOT NULL;
   ALTER TABLE users ADD COLUMN deleted_at INTEGER;`,
];

/**
 * Brings the file to the newest version, each step whole or not at all.
 * @throws Error when the file was written by a newer version of the gateway.
 */
export function migrate(db: DatabaseSync): void {
  if (version(db) === MIGRATIONS.length) return;
  transaction(db, () => {
    // Read again: another process may have done it while this one waited for the lock.
    for (let at = version(db); at < MIGRATIONS.length; at++) db.exec(MIGRATIONS[at] ?? "");
    if (version(db) > MIGRATIONS.length)
      throw new Error("it was written by a newer version of the gateway: use that one");
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

/** Whether the file is in use and was last written by an older version of the gateway. */
export function isOlder(db: DatabaseSync): boolean {
  const at = version(db);
  return at > 0 && at < MIGRATIONS.length;
}

function version(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
}
