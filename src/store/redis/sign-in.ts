import { hash } from "node:crypto";
import type { Counter, NewCode, NewFamily, Rotated, Rotation } from "../../kit/index.ts";
import type { Connection } from "./connection.ts";
import { hexOf, type Keys, loadScript, lowerCase } from "./scripts.ts";

/**
 * The store's role of signing in.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function signInMethods(connection: Connection, keys: Keys, now: () => number) {
  return {
    ...codeMethods(connection, keys, now),
    ...familyMethods(connection, keys, now),
    ...counterMethods(connection, keys, now),
  };
}

const PUT_CODE = loadScript("code-put", "clock");
const TAKE_CODE = loadScript("code-take", "clock");

/**
 * Sign-in codes, one an address and client. Addresses are those of users: equal but for the case of ASCII letters is
 * equal.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
function codeMethods(connection: Connection, keys: Keys, now: () => number) {
  const codesKeyOf = (email: string) => keys.codes(hash("sha256", lowerCase(email)));

  return {
    async putCode({ email, client, digest, expiresAt, tries, triesOfOthers }: NewCode): Promise<void> {
      await connection.run(
        PUT_CODE,
        [codesKeyOf(email)],
        [now(), client, expiresAt, `${hexOf(digest)} ${expiresAt} ${tries} ${triesOfOthers}`],
      );
    },

    /** The same steps whether or not there is a code. */
    async takeCode(email: string, client: string, digests: readonly Uint8Array[]): Promise<boolean> {
      return (await connection.run(TAKE_CODE, [codesKeyOf(email)], [now(), client, ...digests.map(hexOf)])) === 1;
    },
  };
}

const ADD_FAMILY = loadScript("family-add", "clock");
const POINT_TOKEN = loadScript("family-point", "clock");
const ROTATE_TOKEN = loadScript("family-rotate", "clock");

/**
 * Families of refresh tokens. The family's own slot has its live token; of all others it is enough
 * that they lead to the family: they are used up. Tokens lead there until the family expires. A family that is killed
 * is gone.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
function familyMethods(connection: Connection, keys: Keys, now: () => number) {
  /** Before the token is one of the family's: a crash in between leaves a token that nobody has been given. */
  const point = (token: string, familyId: string, expiresAt: number) =>
    connection.run(POINT_TOKEN, [keys.token(token)], [now(), JSON.stringify([familyId, expiresAt]), expiresAt]);

  async function follow(token: string): Promise<readonly [familyId: string, expiresAt: number] | null> {
    const text = (await connection.call("GET", keys.token(token))) as string | null;
    return text === null ? null : (JSON.parse(text) as [string, number]);
  }

  return {
    async addFamily({ id, userId, digest, expiresAt, sessions = 0 }: NewFamily): Promise<void> {
      const exists = await connection.call("EXISTS", keys.user(userId));
      if (exists !== 1) throw new Error(`cannot sign in an unknown user: ${userId}`);
      const token = hexOf(digest);
      await point(token, id, expiresAt);
      const added = await connection.run(ADD_FAMILY, [keys.family(id)], [now(), userId, token, expiresAt, sessions]);
      if (added !== 1) throw new Error(`cannot sign in ${userId}: the family ${id} exists`);
    },

    async rotate({ digest, successor, grace }: Rotation): Promise<Rotated | null> {
      const [token, next] = [hexOf(digest), hexOf(successor)];
      const pointer = await follow(token);
      if (!pointer) return null;
      const [familyId, expiresAt] = pointer;
      await point(next, familyId, expiresAt);
      const own = [keys.family(familyId)];
      const reply = await connection.run(ROTATE_TOKEN, own, [now(), token, next, grace]);
      if (reply === null) return null;
      const [userId, sessions] = reply as readonly [string, string];
      return { userId, expiresAt, ...(Number(sessions) > 0 && { sessions: Number(sessions) }) };
    },

    async endFamily(digest: Uint8Array): Promise<void> {
      const pointer = await follow(hexOf(digest));
      if (pointer) await connection.call("DEL", keys.family(pointer[0]));
    },
  };
}

const THROTTLE = loadScript("throttle", "clock");

/**
 * Counters that limit. Names come from clients: of any length and content, so keys have their digests.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
function counterMethods(connection: Connection, keys: Keys, now: () => number) {
  return {
    async throttle(counters: readonly Counter[], window: number): Promise<number | null> {
      if (counters.length === 0) return null;
      const names = counters.map(({ name }) => keys.counter(hash("sha256", name), window));
      const limits = counters.map(({ limit }) => limit);
      return (await connection.run(THROTTLE, names, [now(), window, ...limits])) as number | null;
    },
  };
}
