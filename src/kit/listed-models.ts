import type { Kind } from "./snapshot.ts";

/** A model as its provider lists it. Everything but the id is there only if the provider says it. */
export interface ListedModel {
  /** The provider's own name: what a chain's target calls `model`. */
  readonly id: string;
  /** `other`: it is served by no endpoint of the gateway, such as moderation or realtime audio. */
  readonly kind: Kind | "other";
  readonly displayName?: string;
  readonly ownedBy?: string;
  /** Tokens. */
  readonly contextWindow?: number;
  /** Tokens of an answer at most. */
  readonly maxOutput?: number;
  /** Unix seconds. */
  readonly created?: number;
  /** What the provider says it charges, in US dollars per million tokens. For people to read: it bills nobody. */
  readonly price?: { readonly input: number; readonly output: number };
}

/** What a provider answered to the question for its models. */
export type ModelListing =
  | { readonly ok: true; readonly models: readonly ListedModel[] }
  | {
      readonly ok: false;
      /** In words for an operator, with the provider's host. It holds no key. */
      readonly reason: string;
    };
