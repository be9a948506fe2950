import type { Client, Query } from "./http.ts";
import type { Page } from "./paging.ts";

/** What sign-in and its renewal answer. */
export interface Session {
  readonly access_token: string;
  readonly expires_in: number;
  readonly user: SessionUser;
}

export interface SessionUser {
  readonly id: string;
  readonly email: string;
  readonly plan_tier: string;
}

export interface Settings {
  readonly cost_multiplier: number;
  readonly currency?: string;
  readonly sign_in?: { readonly providers: readonly string[] };
}

export interface Window {
  readonly used: number;
  /** null: none. */
  readonly limit: number | null;
  readonly resets_at: string;
}

export interface Account extends SessionUser {
  /** Exact decimals. */
  readonly credits: string;
  readonly held: string;
  readonly windows: { readonly day: Window; readonly hour: Window; readonly minute: Window };
  readonly streams: { readonly running: number; readonly limit: number | null };
}

export interface Budget {
  readonly amount: string;
  readonly per: "day" | "month" | "total";
  readonly spent?: string;
  readonly held?: string;
  readonly resets_at?: string | null;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly key_prefix: string;
  readonly plan_tier: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at?: string | null;
  readonly models?: readonly string[] | null;
  readonly budget?: Budget | null;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface NewApiKey {
  readonly name: string;
  readonly expires_in?: number | string;
  readonly models?: readonly string[];
  readonly budget?: { readonly amount: string; readonly per: Budget["per"] };
  readonly tags?: Readonly<Record<string, string>>;
}

export interface CreatedApiKey extends ApiKey {
  /** The secret, this once. */
  readonly key: string;
}

export interface Model {
  readonly id: string;
  readonly owned_by: string;
  readonly tier: string;
  readonly display_name?: string;
  readonly kind?: string;
  readonly context_window?: number | null;
  readonly max_output?: number | null;
  readonly features?: readonly string[];
  readonly plans?: readonly string[];
}

/** Of a model; an image's price may differ by variant. */
export interface ModelPrice {
  readonly model: string;
  readonly display_name: string;
  readonly input_per_million: number;
  readonly output_per_million: number;
  readonly cached_input_per_million?: number;
  readonly per_request?: number;
  readonly per_image?: number | Readonly<Record<string, number>>;
  readonly per_second?: number;
  readonly per_million_characters?: number;
}

export interface Status {
  readonly providers: readonly { readonly name: string; readonly status: string; readonly latency_ms: number }[];
  readonly models: readonly { readonly id: string; readonly name: string; readonly status: string }[];
  readonly incidents: readonly {
    readonly id: string;
    readonly title: string;
    readonly description: string;
    readonly severity: string;
    readonly status: string;
    readonly created_at: string;
    readonly resolved_at: string | null;
  }[];
  readonly last_updated: string;
}

/** Counts that are 0 are left out. */
export interface TokenUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly cached_tokens?: number;
  readonly reasoning_tokens?: number;
}

export interface LedgerEntry {
  readonly id: string;
  readonly request_id: string;
  readonly key_id: string | null;
  readonly model: string;
  readonly upstream: string | null;
  readonly outcome: string;
  readonly estimated: boolean;
  readonly usage: TokenUsage;
  readonly cost: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly received_at: string;
  readonly ended_at: string;
  readonly duration_ms: number;
}

export interface UsageRow {
  readonly start: string;
  readonly model?: string;
  readonly requests: number;
  readonly failed: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost: string;
}

export interface RunningStream {
  readonly id: string;
  readonly model: string;
  readonly state: string;
  readonly started_at: string;
  readonly age_ms: number;
}

/** Every way a request can end, with the words for it. */
export const OUTCOMES: Readonly<Record<string, string>> = {
  served: "served",
  refused: "refused",
  failed: "failed",
  client_fault: "request was wrong",
  upstream_cut: "provider broke off",
  gateway_error: "gateway failed",
  client_gone: "client left",
  killed: "stopped",
  shutdown: "gateway stopped",
};

export type Api = ReturnType<typeof createApi>;

const MAX_PAGES = 50;

/** The calls of the public API that pages make. */
export function createApi(client: Client) {
  const list = <T>(path: string, query: Query, signal?: AbortSignal): Promise<Page<T>> =>
    client.get<Page<T>>(path, { query, ...(signal && { signal }) });
  return {
    settings: (signal?: AbortSignal) => client.get<Settings>("/v1/settings", { ...(signal && { signal }) }),
    status: (signal?: AbortSignal) => client.get<Status>("/v1/status", { ...(signal && { signal }) }),
    models: async (signal?: AbortSignal) =>
      (await client.get<{ data: readonly Model[] }>("/v1/models", { ...(signal && { signal }) })).data,
    prices: async (signal?: AbortSignal) =>
      (await client.get<{ models: readonly ModelPrice[] }>("/v1/pricing", { ...(signal && { signal }) })).models,
    account: (signal?: AbortSignal) => client.get<Account>("/v1/user", { ...(signal && { signal }) }),
    keys: async (signal?: AbortSignal) =>
      (await client.get<{ data: readonly ApiKey[] }>("/v1/user/key", { ...(signal && { signal }) })).data,
    createKey: (body: NewApiKey) => client.send<CreatedApiKey>("POST", "/v1/user/key", { body }),
    revokeKey: (id: string) => client.send<unknown>("DELETE", `/v1/user/key/${encodeURIComponent(id)}`),
    ledger: (query: Query, signal?: AbortSignal) => list<LedgerEntry>("/v1/user/ledger", query, signal),
    usage: (query: Query, signal?: AbortSignal) =>
      allPages<UsageRow>((cursor) => list("/v1/user/usage", { ...query, limit: 1000, cursor }, signal), MAX_PAGES),
    streams: async (signal?: AbortSignal) =>
      (await client.get<{ data: readonly RunningStream[] }>("/v1/user/streams", { ...(signal && { signal }) })).data,
    stopStream: (id: string) => client.send<unknown>("DELETE", `/v1/user/streams/${encodeURIComponent(id)}`),
    stopStreams: () => client.send<{ killed_streams: number }>("POST", "/v1/user/streams/kill"),
  };
}

/** The rows of all pages, of so many at most. `onPage` hears how many there are so far. */
export async function allPages<T>(
  load: (cursor: string | null) => Promise<Page<T>>,
  maxPages: number,
  onPage?: (rows: number) => void,
): Promise<readonly T[]> {
  const rows: T[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < maxPages; page += 1) {
    const { data, next_cursor: next }: Page<T> = await load(cursor);
    rows.push(...data);
    onPage?.(rows.length);
    if (next === null) break;
    cursor = next;
  }
  return rows;
}
