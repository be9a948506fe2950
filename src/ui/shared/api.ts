import type {
  Account,
  ApiKey,
  ApiKeyChange,
  ApiKeyList,
  ApiKeyRequest,
  CreatedApiKey,
  KeyBudget,
  KilledStreams,
  ModelEntry,
  ModelList,
  ModelPrice,
  Pricing,
  RolledApiKey,
  Session,
  SessionUser,
  Settings,
  Status,
  UserLedgerEntry,
  UserStream,
  UserStreams,
  UserUsageRow,
} from "../../../schemas/api.gen.ts";
import type { Client, Query } from "./http.ts";
import type { Page } from "./paging.ts";

export type { Account, ApiKey, CreatedApiKey, ModelPrice, Session, SessionUser, Settings, Status };
export type NewApiKey = ApiKeyRequest;
export type KeyChange = ApiKeyChange;
export type Budget = KeyBudget;
export type Model = ModelEntry;
export type LedgerEntry = UserLedgerEntry;
export type UsageRow = UserUsageRow;
export type RunningStream = UserStream;

/** Labels of the outcomes of a request. */
export const OUTCOMES: Readonly<Record<LedgerEntry["outcome"], string>> = {
  served: "served",
  refused: "refused",
  failed: "failed",
  client_fault: "invalid request",
  upstream_cut: "cut off by provider",
  gateway_error: "gateway error",
  client_gone: "client disconnected",
  killed: "stopped",
  shutdown: "gateway shut down",
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
      (await client.get<ModelList>("/v1/models", { ...(signal && { signal }) })).data,
    prices: async (signal?: AbortSignal) =>
      (await client.get<Pricing>("/v1/pricing", { ...(signal && { signal }) })).models,
    account: (signal?: AbortSignal) => client.get<Account>("/v1/user", { ...(signal && { signal }) }),
    keys: async (signal?: AbortSignal) =>
      (await client.get<ApiKeyList>("/v1/user/key", { ...(signal && { signal }) })).data,
    createKey: (body: NewApiKey) => client.send<CreatedApiKey>("POST", "/v1/user/key", { body }),
    changeKey: (id: string, body: KeyChange) =>
      client.send<ApiKey>("PATCH", `/v1/user/key/${encodeURIComponent(id)}`, { body }),
    rollKey: (id: string, grace: string) =>
      client.send<RolledApiKey>("POST", `/v1/user/key/${encodeURIComponent(id)}/roll`, { body: { grace } }),
    revokeKey: (id: string) => client.send<unknown>("DELETE", `/v1/user/key/${encodeURIComponent(id)}`),
    ledger: (query: Query, signal?: AbortSignal) => list<LedgerEntry>("/v1/user/ledger", query, signal),
    usage: (query: Query, signal?: AbortSignal) =>
      allPages<UsageRow>((cursor) => list("/v1/user/usage", { ...query, limit: 1000, cursor }, signal), MAX_PAGES),
    streams: async (signal?: AbortSignal) =>
      (await client.get<UserStreams>("/v1/user/streams", { ...(signal && { signal }) })).data,
    stopStream: (id: string) => client.send<unknown>("DELETE", `/v1/user/streams/${encodeURIComponent(id)}`),
    stopStreams: () => client.send<KilledStreams>("POST", "/v1/user/streams/kill"),
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
