PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE abandoned (
     id TEXT PRIMARY KEY,
     seq INTEGER NOT NULL
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
   , expires_at INTEGER, limits TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
INSERT INTO "api_keys" VALUES('key_1','user_1',X'7692C3AD3540BB803C020B3AEE66CD8887123234EA0C6E7143C0ADD73FF431ED','laptop','rk_01234567',1800000000000,NULL,NULL,NULL,'');
INSERT INTO "api_keys" VALUES('key_2','user_1',X'3FC4CCFE745870E2C0D99F71F30FF0656C8DEDD41CC1D7D3D376B0DBE685E2F3','old','rk_89abcdef',1800000000000,NULL,1800000000000,NULL,'');
CREATE TABLE audit (
     id TEXT PRIMARY KEY,
     at INTEGER NOT NULL,
     entry TEXT NOT NULL
   , seq INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO "audit" VALUES('01a3185d-5800-7000-8000-000000000001',1800000000000,'{"id":"01a3185d-5800-7000-8000-000000000001","at":1800000000000,"name":"grace","role":"operator","action":"grantCredits","target":"user_1","details":{"amount":"5"},"outcome":"done","status":200}',0);
CREATE TABLE audit_chain (
     head_seq INTEGER NOT NULL,
     head TEXT,
     anchor_seq INTEGER NOT NULL,
     anchor TEXT
   ) STRICT;
INSERT INTO "audit_chain" VALUES(0,NULL,0,NULL);
CREATE TABLE codes (
     email TEXT NOT NULL COLLATE NOCASE,
     client TEXT NOT NULL,
     digest BLOB NOT NULL,
     expires_at INTEGER NOT NULL,
     tries INTEGER NOT NULL,
     tries_of_others INTEGER NOT NULL,
     PRIMARY KEY (email, client)
   ) STRICT, WITHOUT ROWID;
INSERT INTO "codes" VALUES('user_1@example.com','',X'8D969EEF6ECAD3C29A3A629280E686CF0C3F5D5A86AFF3CA12020C923ADC6C92',1800000600000,2,2);
CREATE TABLE counters (
     digest BLOB NOT NULL,
     length INTEGER NOT NULL,
     ends_at INTEGER NOT NULL,
     used INTEGER NOT NULL,
     PRIMARY KEY (digest, length)
   ) STRICT, WITHOUT ROWID;
CREATE TABLE families (
     id TEXT PRIMARY KEY,
     user_id TEXT NOT NULL REFERENCES users (id),
     expires_at INTEGER NOT NULL
   , sessions INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
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
CREATE TABLE idempotency_keys (
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
CREATE TABLE identities (
     issuer TEXT NOT NULL,
     subject TEXT NOT NULL,
     user_id TEXT NOT NULL REFERENCES users (id),
     PRIMARY KEY (issuer, subject)
   ) STRICT, WITHOUT ROWID;
CREATE TABLE key_budgets (
     key_id TEXT NOT NULL REFERENCES api_keys (id),
     period INTEGER NOT NULL,
     spent INTEGER NOT NULL,
     held INTEGER NOT NULL,
     PRIMARY KEY (key_id, period)
   ) STRICT, WITHOUT ROWID;
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
INSERT INTO "ledger" VALUES(1,0,'user_1','ex_12',1800000001000,'req-12','key_1','route/swift','alpha','served',1,2,0,0,0,1800000000000,1800000001000,7,0,0,0,0,0,'',NULL);
INSERT INTO "ledger" VALUES(2,1,'user_1','ex_1',1800000001500,'req-1','key_1','route/swift','alpha','served',10,20,4,3,0,1800000000000,1800000001500,25,0,0,0,0,0,'',NULL);
INSERT INTO "ledger" VALUES(3,2,'user_1','ex_9',1800000001600,'req-9','key_1','route/swift','alpha','served',100,20,30,0,0,1800000000000,1800000001600,30,0,0,0,40,0,'',NULL);
CREATE TABLE ledger_state (rolled_up INTEGER NOT NULL) STRICT;
INSERT INTO "ledger_state" VALUES(0);
CREATE TABLE plugin_values (
     space TEXT NOT NULL,
     digest BLOB NOT NULL,
     value TEXT NOT NULL,
     bytes INTEGER NOT NULL,
     expires_at INTEGER NOT NULL,
     PRIMARY KEY (space, digest)
   ) STRICT, WITHOUT ROWID;
CREATE TABLE refresh_tokens (
     digest BLOB PRIMARY KEY,
     family_id TEXT NOT NULL REFERENCES families (id),
     used_at INTEGER
   ) STRICT, WITHOUT ROWID;
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
   , stop_token INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO "reservations" VALUES('ex_2','user_1',2,1,100,20833,500000,30000000,'route/swift',1800000000000,0);
INSERT INTO "reservations" VALUES('ex_3','user_1',2,1,0,20833,500000,30000000,'route/swift',1800000000000,0);
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
CREATE TABLE users (
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
   , stop_token INTEGER NOT NULL DEFAULT 0, charged INTEGER NOT NULL DEFAULT 0, requests INTEGER NOT NULL DEFAULT 0, disabled_at INTEGER, last_entry INTEGER NOT NULL DEFAULT 0, sessions INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO "users" VALUES('user_1','user_1@example.com','Lite',975,1000,100,2,20833,6,500000,3,30000000,3,1800000000000,0,55,2,NULL,3,0);
INSERT INTO "users" VALUES('user_2','user_2@example.com','Lite',0,0,0,0,0,0,0,0,0,0,1800000000000,0,0,0,NULL,0,0);
CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at);
CREATE INDEX counters_by_end ON counters (ends_at);
CREATE INDEX families_by_expiry ON families (expires_at);
CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family_id);
CREATE UNIQUE INDEX refresh_tokens_live ON refresh_tokens (family_id) WHERE used_at IS NULL;
CREATE INDEX codes_by_expiry ON codes (expires_at);
CREATE INDEX plugin_values_by_expiry ON plugin_values (space, expires_at);
CREATE INDEX grants_by_user ON grants (user_id, seq);
CREATE UNIQUE INDEX grants_by_idempotency_key ON grants (user_id, idempotency_key)
     WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX idempotency_keys_by_digest ON idempotency_keys (user_id, digest);
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
CREATE INDEX idempotency_keys_with_answer ON idempotency_keys (user_id, total) WHERE bytes > 0;
CREATE INDEX audit_by_seq ON audit (seq, id);
COMMIT;
PRAGMA application_id = 1919383345;
PRAGMA user_version = 12;
