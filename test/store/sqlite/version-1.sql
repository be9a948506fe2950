-- A file of version 1, as that version left it: two users, two keys (one revoked), a settled request, two that run.
BEGIN;
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
   ) STRICT, WITHOUT ROWID;
INSERT INTO users VALUES('user_1','user_1@example.com','Lite',975,1000,100,2,20833,6,500000,3,30000000,3,1800000000000);
INSERT INTO users VALUES('user_2','user_2@example.com','Lite',0,0,0,0,0,0,0,0,0,0,1800000000000);
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
INSERT INTO api_keys VALUES('key_1','user_1',X'7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed','laptop','rk_01234567',1800000000000,NULL,NULL);
INSERT INTO api_keys VALUES('key_2','user_1',X'3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3','old','rk_89abcdef',1800000000000,NULL,1800000000000);
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
INSERT INTO reservations VALUES('ex_2','user_1',2,1,100,20833,500000,30000000,'route/swift',1800000000000);
INSERT INTO reservations VALUES('ex_3','user_1',2,1,0,20833,500000,30000000,'route/swift',1800000000000);
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
   ) STRICT, WITHOUT ROWID;
INSERT INTO ledger VALUES('user_1','ex_1','req-1','key_1','route/swift','alpha','served',10,20,4,3,0,1800000000000,1800000001500,25);
CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at);
COMMIT;
PRAGMA application_id = 1919383345;
PRAGMA user_version = 1;
