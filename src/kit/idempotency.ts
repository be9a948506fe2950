import type { Cancellation } from "./cancellation.ts";
import type { Awaitable, InferenceRequest, OutcomeKind } from "./request.ts";

/** Milliseconds for which a key is remembered, and with it what its request was answered. */
export const IDEMPOTENCY_KEY_TTL_MS = 86_400_000;

/** A larger answer is not kept. */
export const MAX_KEPT_ANSWER_BYTES = 1024 * 1024;

/** What makes two requests of a user the same one. */
export type Idempotency = NonNullable<InferenceRequest["idempotency"]>;

/** A request that was sent with an idempotency key, as the store knows it: neither key nor body are stored. */
export interface KeyClaim {
  readonly userId: string;
  /** Names the key among those of its user; hexadecimal. */
  readonly digest: string;
  /** The same for the same endpoint and body; hexadecimal. */
  readonly fingerprint: string;
  /** The exchange's: a claim that is repeated under the same id is the same one. */
  readonly id: string;
  /** `X-Request-Id`, without blanks. */
  readonly requestId: string;
}

/** What a request with a key came to. */
export interface KeptOutcome {
  readonly outcome: OutcomeKind;
  /** Sealed, as the pipeline wrote it; null: a stream, or an answer that was too long. */
  readonly answer: string | null;
}

/** What a user's idempotency key stands for; `requestId` is that of the request that has the key. */
export type KeyState =
  /** Nobody had it: it is the caller's now. */
  | { readonly state: "claimed" }
  | { readonly state: "running"; readonly requestId: string }
  | ({ readonly state: "answered"; readonly requestId: string } & KeptOutcome)
  /** It was sent with another request before. */
  | { readonly state: "mismatch"; readonly requestId: string };

/** Idempotency keys of inference requests. */
export interface IdempotencyStore {
  /**
   * Takes the key for this request, unless another one has it. @param lease milliseconds for which it is kept without a
   * renewal: the key of a process that died is free afterwards.
   */
  claimKey(claim: KeyClaim, lease: number): Awaitable<KeyState>;
  /** Prolongs the lease of a claim, also of one that was lost meanwhile. @returns false when another request has the key. */
  renewKey(claim: KeyClaim, lease: number): Awaitable<boolean>;
  /**
   * Ends a claim with what it came to, for `ttl` milliseconds; a repeated call changes nothing. Of one user 64 MiB of
   * answers are kept: beyond, the oldest go, and what they came to stays. @returns false when another request has the key.
   */
  keepKey(claim: KeyClaim, kept: KeptOutcome, ttl: number): Awaitable<boolean>;
  /** Ends a claim with nothing: the key is free. Changes nothing once it was ended, or for a claim of another request. */
  freeKey(claim: KeyClaim): Awaitable<void>;
  /** Forgets every key of a user, with the answers. */
  forgetKeys(userId: string): Awaitable<void>;
}

/** An idempotency key while its first request runs. */
export interface HeldKey {
  /** Resolves when it is kept, or, while the store is away, when this process keeps it until then. Never rejects. */
  keep(kept: KeptOutcome): Promise<void>;
  /** Frees the key unless an outcome was kept. Never rejects. */
  release(): Promise<void>;
}

/** What came of asking for a key. */
export type TakenKey = (
  | { readonly state: "first"; readonly key: HeldKey }
  | Exclude<KeyState, { readonly state: "claimed" }>
  /** Its client has left, or the gateway stops. */
  | { readonly state: "aborted" }
) & {
  /** Whether another request was waited for. */
  readonly waited: boolean;
};

/** The idempotency keys of requests that this process serves. */
export interface IdempotencyKeys {
  /**
   * Takes the key for a request; waits while another one has it. "running" when that takes longer than `maxMs`.
   * @throws GatewayError OVERLOADED when too many wait, STORE_UNAVAILABLE
   */
  take(claim: KeyClaim, patience: { readonly cancellation: Cancellation; readonly maxMs: number }): Promise<TakenKey>;
}
