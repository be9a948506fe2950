/** Answers of the admin listener that the schemas do not describe yet. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly plan_tier: string;
  readonly credits: string;
  readonly held: string;
  readonly granted: string;
  readonly charged: string;
  readonly created_at: string;
  readonly disabled_at: string | null;
}
export interface Window {
  readonly used: number;
  readonly limit: number | null;
  readonly resets_at: string;
}
export interface UserDetail extends User {
  readonly windows: { readonly day: Window; readonly hour: Window; readonly minute: Window };
  readonly streams: { readonly running: number; readonly limit: number | null };
  readonly requests_running: number;
}
export interface ApiKey {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly key_prefix: string;
  readonly plan_tier: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly models: readonly string[] | null;
  readonly budget: {
    readonly amount: string;
    readonly per: string;
    readonly spent: string;
    readonly held: string;
    readonly resets_at: string | null;
  } | null;
  readonly tags: Readonly<Record<string, string>>;
}
export interface NewApiKey extends ApiKey {
  readonly key: string;
}
export interface CreditGrant {
  readonly id: string;
  readonly user_id: string;
  readonly amount: string;
  /** What the user owned afterwards. */
  readonly credits: string;
  readonly reason: string;
  readonly by: string;
  readonly created_at: string;
}
