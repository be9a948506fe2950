export interface User {
  readonly id: string;
  readonly email: string;
  readonly tier: string;
  /** Nano-units, before holds. */
  readonly balance: bigint;
  /** Nano-units held by running requests. */
  readonly held: bigint;
  /** Nano-units ever granted: `granted = balance + charged`. */
  readonly granted: bigint;
  /** Nano-units ever charged, those of ledger entries that are no longer kept among them. */
  readonly charged: bigint;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds since which neither keys nor tokens work; absent: they do. */
  readonly disabledAt?: number;
  /** How often all sessions were ended: tokens of a lower number are void. Absent: never. */
  readonly sessions?: number;
}

export type NewUser = { readonly id: string; readonly email: string; readonly tier: string; readonly credits: bigint };

export interface UserQuery {
  /** An id, or how an address begins; absent: any. */
  readonly search?: string | undefined;
  readonly tier?: string | undefined;
  readonly disabled?: boolean | undefined;
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** In the order of addresses. */
export interface UserPage {
  /** May be fewer than the limit, though others follow: a page looks at so many users and no more. */
  readonly users: readonly User[];
  /** The address behind which it goes on; null on the last page. */
  readonly next: string | null;
}

/** Credits given to a user, or taken. */
export interface NewGrant {
  readonly id: string;
  readonly userId: string;
  /** Nano-units; negative: taken. */
  readonly amount: bigint;
  readonly reason: string;
  /** The operator's name. */
  readonly by: string;
  /** Of the call: a repeated one grants nothing. */
  readonly idempotencyKey: string | null;
}

export interface Grant extends NewGrant {
  /** Nano-units that the user owns afterwards. */
  readonly balance: bigint;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** The newest first. */
export interface GrantPage {
  readonly grants: readonly Grant[];
  /** For `after` of the next page; null on the last one. */
  readonly next: number | null;
}
