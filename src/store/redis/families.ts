import type { NewFamily, Rotation } from "../../kit/index.ts";
import { type Connection, loadScript } from "./connection.ts";
import type { Keys } from "./keys.ts";
import { hexOf } from "./text.ts";

const ADD = loadScript("family-add", "clock");
const POINT = loadScript("family-point", "clock");
const ROTATE = loadScript("family-rotate", "clock");

/**
 * Families of refresh tokens. The family's own slot has its live token; of all others it is enough
 * that they lead to the family: they are used up. Tokens lead there until the family expires. A family that is killed
 * is gone.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function familyPart(connection: Connection, keys: Keys, now: () => number) {
  /** Before the token is one of the family's: a crash in between leaves a token that nobody has been given. */
  const point = (token: string, familyId: string, expiresAt: number) =>
    connection.run(POINT, [keys.token(token)], [now(), JSON.stringify([familyId, expiresAt]), expiresAt]);

  async function follow(token: string): Promise<readonly [familyId: string, expiresAt: number] | null> {
    const text = (await connection.call("GET", keys.token(token))) as string | null;
    return text === null ? null : (JSON.parse(text) as [string, number]);
  }

  return {
    async addFamily({ id, userId, digest, expiresAt }: NewFamily): Promise<void> {
      const exists = await connection.call("EXISTS", keys.user(userId));
      if (exists !== 1) throw new Error(`cannot sign in an unknown user: ${userId}`);
      const token = hexOf(digest);
      await point(token, id, expiresAt);
      const added = await connection.run(ADD, [keys.family(id)], [now(), userId, token, expiresAt]);
      if (added !== 1) throw new Error(`cannot sign in ${userId}: the family ${id} exists`);
    },

    async rotate({ digest, successor, grace }: Rotation) {
      const [token, next] = [hexOf(digest), hexOf(successor)];
      const pointer = await follow(token);
      if (!pointer) return null;
      const [familyId, expiresAt] = pointer;
      await point(next, familyId, expiresAt);
      const own = [keys.family(familyId)];
      const userId = (await connection.run(ROTATE, own, [now(), token, next, grace])) as string | null;
      return userId === null ? null : { userId, expiresAt };
    },

    async endFamily(digest: Uint8Array): Promise<void> {
      const pointer = await follow(hexOf(digest));
      if (pointer) await connection.call("DEL", keys.family(pointer[0]));
    },
  };
}
