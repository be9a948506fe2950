import type { Cancellation } from "./cancellation.ts";
import type { Awaitable, InferenceRequest, OutcomeKind } from "./request.ts";

/** How long the store remembers a key and its answer, in milliseconds. */
export const IDEMPOTENCY_KEY_TTL_MS = 86_400_000;

/** A larger answer is not kept. */
export const MAX_KEPT_ANSWER_BYTES = 1024 * 1024;

/** Identifies a request among those of its user. */
export type Idempotency = NonNullable<InferenceRequest["idempotency"]>;

/** A request with an idempotency key, as the store sees it. The store gets neither the key nor the body. */
export interface KeyClaim {
  readonly userId: string;
  /** Digest of the key; hexadecimal. */
  readonly digest: string;
  /** Equal for the same endpoint and body; hexadecimal. */
  readonly fingerprint: string;
  /** The id of the exchange. A claim that is repeated with the same id is the same claim. */
  readonly id: string;
  /** `X-Request-Id`, without blanks. */
  readonly requestId: string;
}

/** The end of a request with a key. */
export interface KeptOutcome {
  readonly outcome: OutcomeKind;
  /** Encrypted by the pipeline; null for a stream, and for an answer that was too long. */
  readonly answer: string | null;
}

/** The state of a user's idempotency key. `requestId` belongs to the request that has the key. */
export type KeyState =
  /** The key was free and belongs to the caller now. */
  | { readonly state: "claimed" }
  | { readonly state: "running"; readonly requestId: string }
  | ({ readonly state: "answered"; readonly requestId: string } & KeptOutcome)
  /** The key was sent with another request before. */
  | { readonly state: "mismatch"; readonly requestId: string };

/** Idempotency keys of inference requests. */
export interface IdempotencyStore {
  /**
   * Takes the key for this request, unless another request has it.
   * @param lease milliseconds until the key is free again if nobody renews the claim, because its process has died.
   */
  claimKey(claim: KeyClaim, lease: number): Awaitable<KeyState>;
  /** Prolongs the lease of a claim, and restores a lost one. @returns false if another request has the key. */
  renewKey(claim: KeyClaim, lease: number): Awaitable<boolean>;
  /**
   * Ends a claim and keeps its outcome for `ttl` milliseconds. A repeated call changes nothing. The store keeps 64 MiB of
   * answers for each user; it drops the oldest answers first and keeps their outcomes.
   * @returns false if another request has the key.
   */
  keepKey(claim: KeyClaim, kept: KeptOutcome, ttl: number): Awaitable<boolean>;
  /** Ends a claim and frees the key. Changes nothing if the claim has ended, or another request has the key. */
  freeKey(claim: KeyClaim): Awaitable<void>;
  /** Deletes all keys and answers of a user. */
  forgetKeys(userId: string): Awaitable<void>;
}

/** An idempotency key while its first request runs. */
export interface HeldKey {
  /** Resolves once the outcome is stored, or, while the store is away, held in memory. Never rejects. */
  keep(kept: KeptOutcome): Promise<void>;
  /** Frees the key if no outcome was kept. Never rejects. */
  release(): Promise<void>;
}

/** The result of asking for a key. */
export type TakenKey = (
  | { readonly state: "first"; readonly key: HeldKey }
  | Exclude<KeyState, { readonly state: "claimed" }>
  /** The client has left, or the gateway stops. */
  | { readonly state: "aborted" }
) & {
  /** True if the request waited for another one. */
  readonly waited: boolean;
};

/** The idempotency keys of requests that this process serves. */
export interface IdempotencyKeys {
  /**
   * Takes the key for a request, or waits while another request has it. Returns "running" after `maxMs`.
   * @throws GatewayError OVERLOADED if too many requests wait, STORE_UNAVAILABLE
   */
  take(claim: KeyClaim, patience: { readonly cancellation: Cancellation; readonly maxMs: number }): Promise<TakenKey>;
}
