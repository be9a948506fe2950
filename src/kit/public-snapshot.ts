import { hash } from "node:crypto";
import type { BillingSettings, DialectName, Model, Snapshot, StoreSettings, Tier } from "./snapshot.ts";
import type { Vendor } from "./vendor.ts";

/** What plugins know of an upstream. */
export interface PublicUpstream {
  readonly name: string;
  readonly displayName: string;
  readonly dialect: DialectName;
  /** Absent: the gateway knows it by the host of the address. */
  readonly vendor?: Vendor;
  /** SHA-256 of the base URL: the same for the same address, which may itself hold a credential. */
  readonly addressDigest: string;
}

/**
 * The part of a configuration that plugins may know: plans, models with their prices and chains, the rules of billing.
 * Left to the gateway are addresses, API keys, headers, tokens, the store's URL and the options of other plugins.
 */
export interface PublicSnapshot {
  /** As `Snapshot.hash`. */
  readonly hash: string;
  readonly billing: BillingSettings;
  readonly tiers: Readonly<Record<string, Tier>>;
  readonly models: Readonly<Record<string, Model>>;
  readonly upstreams: Readonly<Record<string, PublicUpstream>>;
  /** What a request meets when the store is away. */
  readonly store: Pick<StoreSettings, "onFailure">;
}

export function publicSnapshot({ hash: ofFiles, billing, tiers, models, upstreams, store }: Snapshot): PublicSnapshot {
  const known: Record<string, PublicUpstream> = Object.create(null) as Record<string, PublicUpstream>;
  for (const { name, displayName, dialect, vendor, baseUrl } of Object.values(upstreams)) {
    const addressDigest = hash("sha256", baseUrl);
    known[name] = Object.freeze({ name, displayName, dialect, ...(vendor !== undefined && { vendor }), addressDigest });
  }
  return Object.freeze({
    hash: ofFiles,
    billing,
    tiers,
    models,
    upstreams: Object.freeze(known),
    store: Object.freeze({ onFailure: store.onFailure }),
  });
}
