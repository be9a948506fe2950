import type { DatabaseSync } from "node:sqlite";

/** Stop tokens: what ends a user's streams. `stopStreams` must run inside a transaction. */
export function stopTokens(db: DatabaseSync) {
  const raise = db.prepare("UPDATE users SET stop_token = stop_token + 1 WHERE id = ? RETURNING stop_token");
  // Tokens rise by 1: streams under still lower ones have been told by an earlier stop.
  const told = db.prepare(
    "SELECT count(*) AS streams FROM reservations WHERE user_id = ? AND stream = 1 AND stop_token = ? - 1",
  );
  const select = db.prepare("SELECT id, stop_token FROM users WHERE id IN (SELECT value FROM json_each(?))");

  return {
    /** Counts each stream once, however often it is told to stop. A user who is not there has none. */
    stopStreams(userId: string) {
      const token = Number(raise.get(userId)?.["stop_token"] ?? 0);
      return { token, streams: Number(told.get(userId, token)?.["streams"]) };
    },

    stopTokens(userIds: readonly string[]): Map<string, number> {
      const tokens = new Map(userIds.map((id) => [id, 0]));
      for (const row of select.all(JSON.stringify(userIds))) tokens.set(String(row["id"]), Number(row["stop_token"]));
      return tokens;
    },
  };
}
