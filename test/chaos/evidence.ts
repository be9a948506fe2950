import type { LedgerEntry, Limits } from "../../src/kit/index.ts";
import type { Fault, RequestPlan, UserKind } from "./plan.ts";

/** How an exchange ended for the client. */
export type Ending =
  /** All of the answer that was asked for. */
  | "whole"
  /** A stream with an error event. */
  | "failed"
  /** A stream that came to its end before the answer did: its user has stopped it. */
  | "stopped"
  /** An answer with another status than 200. */
  | "refused"
  /** The client itself went. */
  | "left"
  /** The connection broke. */
  | "broken"
  /** Nobody took the connection. */
  | "unreached"
  /** None of these, or not the answer to this request. */
  | "wrong";

/** One request as its client saw it. Times are Unix milliseconds. */
export interface Seen {
  readonly id: string;
  readonly user: number;
  readonly key: number;
  /** Of `Evidence.lives`. */
  readonly life: number;
  readonly stream: boolean;
  readonly sentAt: number;
  readonly endedAt: number;
  readonly ending: Ending;
  /** 0 without an answer. */
  readonly status: number;
  readonly code: string;
  /** What is wrong with an answer that is, what a refusal says, else "". */
  readonly fault: string;
}

/** One attempt as the upstream served it: the truth. */
export interface Served {
  readonly fault: Fault;
  /** Written to its very end. */
  readonly whole: boolean;
  /** Anything was written that a client could be shown. */
  readonly begun: boolean;
  /** Claimed to the gateway; null when it was not. */
  readonly usage: { readonly prompt: number; readonly cached: number; readonly completion: number } | null;
  /** Characters of text written. */
  readonly characters: number;
}

/** More streams of one user at the upstream than its plan allows. */
export interface Excess {
  readonly user: number;
  readonly at: number;
  readonly streams: number;
  readonly limit: number;
}

export interface UserEvidence {
  readonly kind: UserKind;
  readonly id: string;
  readonly limits: Limits;
  /** Nano-units, at the end. */
  readonly balance: bigint;
  readonly granted: bigint;
  readonly held: bigint;
  /** Nano-units that were surely granted, and those that may have been. */
  readonly gifts: { readonly least: bigint; readonly most: bigint };
  readonly running: { readonly requests: number; readonly streams: number; readonly held: bigint };
  readonly ledger: readonly LedgerEntry[];
  /** By key: when its revocation was asked for, and when it was acknowledged; Unix milliseconds. */
  readonly revoked: readonly ({ readonly from: number; readonly until: number } | null)[];
  /** When the user had its streams stopped. */
  readonly stops: readonly Period[];
}

/** Unix milliseconds. */
export interface Period {
  readonly from: number;
  readonly until: number;
}

/** A gateway from its start to its end: one process, or a supervisor and its workers. */
export interface Life {
  readonly slot: number;
  readonly startedAt: number;
  /** Of our signal; null of a process that was never sent one. */
  readonly signalledAt: number | null;
  /** When single workers of it were killed -9; Unix milliseconds. */
  readonly killings: readonly number[];
  /** Milliseconds after our signal for which anything of it still ran. */
  readonly outlived: number;
  readonly end: "killed" | "stopped" | null;
  readonly exit: { readonly code: number | null; readonly signal: string | null };
  readonly log: string;
}

/** While a multiplier of all prices may have been in force; hundredths. */
export interface Pricing extends Period {
  readonly multiplier: number;
}

/** How the gateways of a run were set up. */
export interface Setup {
  /** Of each gateway; 0: it is one process. */
  readonly workers: number;
  /** `store.on_failure`. */
  readonly onFailure: "closed" | "open";
  /** Milliseconds by which each answer of the store is late. */
  readonly slowStore: number;
}

/** All that a run leaves behind. */
export interface Evidence {
  readonly setup: Setup;
  readonly plan: readonly RequestPlan[];
  readonly users: readonly UserEvidence[];
  readonly seen: readonly Seen[];
  readonly served: ReadonlyMap<string, readonly Served[]>;
  readonly excesses: readonly Excess[];
  readonly lives: readonly Life[];
  readonly pricings: readonly Pricing[];
  /** While the store was disturbed. */
  readonly disturbed: readonly Period[];
  /** While the store's own server was slow to answer, though nobody had disturbed it. */
  readonly stalls: readonly Period[];
  /** Settlements that were left outside the store. */
  readonly journal: { readonly pending: number; readonly rejected: number };
  /** What must never be shown: name to text. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Names of secrets that clients were shown, with the request. */
  readonly shown: readonly string[];
}
