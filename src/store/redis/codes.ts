import { hash } from "node:crypto";
import type { NewCode } from "../../kit/index.ts";
import { type Connection, loadScript } from "./connection.ts";
import type { Keys } from "./keys.ts";
import { hexOf, lowerCase } from "./text.ts";

const PUT = loadScript("code-put", "clock");
const TAKE = loadScript("code-take", "clock");

/**
 * Sign-in codes, one an address and client. Addresses are those of users: equal but for the case of ASCII letters is
 * equal.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function codePart(connection: Connection, keys: Keys, now: () => number) {
  const keyOf = (email: string) => keys.codes(hash("sha256", lowerCase(email)));

  return {
    async putCode({ email, client, digest, expiresAt, tries, triesOfOthers }: NewCode): Promise<void> {
      await connection.run(
        PUT,
        [keyOf(email)],
        [now(), client, expiresAt, `${hexOf(digest)} ${expiresAt} ${tries} ${triesOfOthers}`],
      );
    },

    /** The same steps whether or not there is a code. */
    async takeCode(email: string, client: string, digests: readonly Uint8Array[]): Promise<boolean> {
      return (await connection.run(TAKE, [keyOf(email)], [now(), client, ...digests.map(hexOf)])) === 1;
    },
  };
}
