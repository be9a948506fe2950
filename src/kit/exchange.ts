import type { Call, CallFacts, Endpoint, Principal, Usage } from "./call.ts";
import type { ErrorCode } from "./errors.ts";
import type { Model, Target, Tier } from "./snapshot.ts";

/**
 * One admitted request on its way; complete and frozen from `admit` on. Once an answer streams, no upstream will be asked
 * any more and what the request said is let go of: `body` and `native` of its `call` throw from then on.
 */
export interface Exchange {
  /** The gateway's own id: what makes a charge unique. */
  readonly id: string;
  /** `X-Request-Id`: the client's, or made. Never a key of anything. */
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** Unix milliseconds at which the whole request was there: the model's deadline counts from here. */
  readonly readAt: number;
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  readonly tier: Tier;
  readonly model: Model;
  readonly call: Call;
  /** Aborted when nobody waits any more; `reason` is an AbortReason. */
  readonly signal: AbortSignal;
}

/** An exchange of which only facts may be left. */
export interface BegunExchange extends Omit<Exchange, "call"> {
  readonly call: CallFacts;
}

export type AbortReason = "client_gone" | "killed" | "shutdown";

export type OutcomeKind =
  | "served"
  /** By the gateway: before any upstream, or its answer by a plugin (`begun`). */
  | "refused"
  /** No upstream produced anything. */
  | "failed"
  /** The upstream refused the request as wrong. */
  | "client_fault"
  /** The upstream broke off. */
  | "upstream_cut"
  /** A plugin or the gateway itself failed after an upstream had served: free. */
  | "gateway_error"
  | AbortReason;

/** How an exchange ended, before it is priced. */
export interface Ending {
  readonly kind: OutcomeKind;
  /** Whether an upstream had been sent the request: it may bill it, answered or not. */
  readonly sent: boolean;
  /** Whether an upstream had produced anything. */
  readonly begun: boolean;
  /** Whether a stream's finish reason was seen: its answer is whole, whatever ended the stream. */
  readonly finished: boolean;
  readonly status: number;
  readonly code: ErrorCode | null;
  /** The upstream's own count, as far as it told one; null when it gave none. */
  readonly usage: Usage | null;
  /** Whether `usage` counts all that was produced; else its `completion` is the least it can be. False without `usage`. */
  readonly usageComplete: boolean;
  readonly target: Target | null;
  /** What the upstream that answered was not asked, as JSON pointers into the client's body. */
  readonly dropped: readonly string[];
  readonly attempts: number;
  /** Unix milliseconds; null when nothing came. */
  readonly firstEventAt: number | null;
  readonly endedAt: number;
  /**
   * What must have been used up to the end. What `usage` tells stays; tokens that it does not tell are counted by
   * tokenizer in the prompt and the produced text, units are those of the call.
   */
  estimate(): Promise<Usage>;
}

/** What the account stage makes of an ending. */
export interface Bill {
  readonly usage: Usage;
  readonly estimated: boolean;
  /** Nano-units. */
  readonly charge: bigint;
}

export interface Outcome extends Ending {
  readonly bill: Bill;
  /** Counters are returned, too, as if the request had never been; slot and hold always are. */
  readonly giveBack: boolean;
}
