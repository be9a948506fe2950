import type { KeptOutcome, KeyClaim, KeyState, OutcomeKind } from "../../kit/index.ts";
import { EXPIRED_KEYS_PER_CALL, MAX_USER_ANSWER_BYTES } from "../windows.ts";
import type { Connection } from "./connection.ts";
import { inBatches, type Keys, loadScript } from "./scripts.ts";

const CLAIM = loadScript("key-claim", "clock", "idempotency");
const RENEW = loadScript("key-renew", "clock", "idempotency");
const KEEP = loadScript("key-keep", "clock", "idempotency");
const FREE = loadScript("key-free", "clock", "idempotency");
const FORGET = loadScript("keys-forget", "idempotency");

/** The reply of key-claim.lua. */
type ClaimReply = readonly [state: KeyState["state"], requestId: string, outcome: string, answer: string | null];

/**
 * The store's role of idempotency keys. A script may run twice: a request recognises its own claim by its id.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function idempotencyMethods(connection: Connection, keys: Keys, now: () => number) {
  /** The keys of every script, in the order of idempotency.lua; they share the user's slot. */
  const ofKey = ({ userId, digest }: KeyClaim): readonly string[] => [
    ...keys.idempotency(userId),
    keys.keptAnswer(userId, digest),
  ];
  const argsOf = ({ digest, fingerprint, id, requestId }: KeyClaim, milliseconds: number) => [
    now(),
    digest,
    fingerprint,
    id,
    requestId,
    milliseconds,
    EXPIRED_KEYS_PER_CALL,
  ];

  /** Not in the script: a Cluster needs to know the names of all keys before a script runs. */
  async function deleteAnswers(userId: string, digests: readonly string[]): Promise<void> {
    await inBatches(digests, (digest) => connection.call("UNLINK", keys.keptAnswer(userId, digest)));
  }

  return {
    async claimKey(claim: KeyClaim, lease: number): Promise<KeyState> {
      const args = argsOf(claim, lease);
      return stateOf((await connection.run(CLAIM, ofKey(claim), args, () => args)) as ClaimReply);
    },

    async renewKey(claim: KeyClaim, lease: number): Promise<boolean> {
      const renewed = await connection.run(RENEW, ofKey(claim), argsOf(claim, lease));
      return renewed === 1;
    },

    async keepKey(claim: KeyClaim, { outcome, answer }: KeptOutcome, ttl: number): Promise<boolean> {
      const args = [...argsOf(claim, ttl), outcome, MAX_USER_ANSWER_BYTES, answer ?? ""];
      const beyond = (await connection.run(KEEP, ofKey(claim), args, () => args)) as 0 | readonly string[];
      if (beyond === 0) return false;
      await deleteAnswers(claim.userId, beyond);
      return true;
    },

    async freeKey(claim: KeyClaim): Promise<void> {
      await connection.run(FREE, ofKey(claim), [now(), claim.digest, claim.id]);
    },

    async forgetKeys(userId: string): Promise<void> {
      await deleteAnswers(userId, (await connection.run(FORGET, keys.idempotency(userId), [])) as readonly string[]);
    },
  };
}

function stateOf([state, requestId, outcome, answer]: ClaimReply): KeyState {
  switch (state) {
    case "claimed":
      return { state };
    case "running":
    case "mismatch":
      return { state, requestId };
    case "answered":
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `keepKey`
      return { state, requestId, outcome: outcome as OutcomeKind, answer };
  }
}
