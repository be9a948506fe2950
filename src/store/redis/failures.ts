import { storeUnavailable } from "../../kit/index.ts";

/** First words of error replies with which the server cannot be used for now. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  "LOADING",
  "BUSY",
  "MASTERDOWN",
  "CLUSTERDOWN",
  "READONLY",
  "NOREPLICAS",
  "OOM",
  "MISCONF",
  "NOAUTH",
  "WRONGPASS",
  "NOPERM",
  "EXECABORT",
  "MOVED",
  "ASK",
  "TRYAGAIN",
  "UNKILLABLE",
]);

/** The first word of an error reply, such as `NOSCRIPT`, "" when it has none; null of an error that is no reply. */
export function replyCode(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== "ReplyError") return null;
  return /^[A-Z]*/.exec(error.message)?.[0] ?? "";
}

/** The cause of a failure after which the server may have executed the call all the same. */
export class Unanswered extends Error {
  /** Whether its connection still stands: what is sent on it from now on is executed after the call, or neither is. */
  readonly stands: boolean;

  constructor(message: string, stands = false) {
    super(message);
    this.stands = stands;
  }
}

/** Of a call that the server may have executed without an answer; null of any other error. */
export function unanswered(error: unknown): Unanswered | null {
  return error instanceof Error && error.cause instanceof Unanswered ? error.cause : null;
}

/** How the client says that it has sent nothing. */
const UNSENT = /^(?:Stream isn't writeable|Cluster isn't ready)/;

/**
 * What callers of the store are told: STORE_UNAVAILABLE when the server cannot answer for now, else a plain error. Only
 * the message is kept: the client's errors carry the command, which may hold a password.
 */
export function storeError(error: unknown): Error {
  const message = `redis: ${error instanceof Error ? error.message || error.name : String(error)}`;
  const code = replyCode(error);
  if (code !== null) return UNAVAILABLE.has(code) ? storeUnavailable(new Error(message)) : new Error(message);
  return storeUnavailable(UNSENT.test(message.slice("redis: ".length)) ? new Error(message) : new Unanswered(message));
}
