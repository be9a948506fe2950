import type { DatabaseSync } from "node:sqlite";
import type { User } from "../../kit/index.ts";
import { toUser, USER_COLUMNS } from "./users.ts";

/** Who an identity provider's subjects sign in as. `linkIdentity` must run inside a transaction. */
export function identityTable(db: DatabaseSync) {
  const find = db.prepare(
    `SELECT ${USER_COLUMNS} FROM identities JOIN users ON users.id = user_id WHERE issuer = ? AND subject = ?`,
  );
  const link = db.prepare("INSERT INTO identities SELECT ?, ?, id FROM users WHERE id = ? ON CONFLICT DO NOTHING");

  const findIdentity = (issuer: string, subject: string) => toUser(find.get(issuer, subject));

  return {
    findIdentity,

    /** @returns null when there is no such user and the subject has none. */
    linkIdentity(issuer: string, subject: string, userId: string): User | null {
      link.run(issuer, subject, userId);
      return findIdentity(issuer, subject);
    },
  };
}
