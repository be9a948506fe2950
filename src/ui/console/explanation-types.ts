/** The answer of `POST /admin/explain`, as far as it is shown. Amounts of money are decimals, times ISO 8601. */
export interface ExplainedStage {
  readonly stage: string;
  readonly plugin: string;
  readonly decision: string;
  readonly reason: string;
}

export interface ExplainedTarget {
  readonly upstream: string;
  readonly model: string;
  readonly dialect: string;
  readonly decision: "served" | "failed" | "skipped" | "not tried";
  readonly reason: string;
  readonly requests: number;
  readonly took_ms: number;
  readonly dropped: readonly string[];
  readonly lost_features: readonly string[];
}

export interface ExplainedStep {
  readonly balance: string;
  readonly targets: readonly ExplainedTarget[];
}

interface ExplainedWindow {
  readonly limit: number | null;
  readonly used: number;
  readonly left: number | null;
  readonly resets_at: string;
}

export interface ExplainedRequest {
  readonly request: {
    readonly model: string;
    readonly kind: string;
    readonly endpoint: string;
    readonly stream: boolean;
    readonly tier: string;
    readonly user: string | null;
    readonly at: string;
    readonly hash: string;
  };
  readonly answer: {
    readonly status: number;
    readonly code: string | null;
    readonly outcome: string;
    readonly upstream: string | null;
    readonly message: string;
    readonly took_ms: number;
  };
  readonly stages: readonly ExplainedStage[];
  readonly chain: readonly ExplainedStep[];
  readonly limits: Readonly<Record<"day" | "hour" | "minute", ExplainedWindow>> & {
    readonly streams: { readonly limit: number | null; readonly running: number };
  };
  readonly credits: {
    readonly currency: string;
    readonly balance: string | null;
    readonly held: string | null;
    readonly enforced: boolean;
    readonly hold: string;
  };
  readonly charge: {
    readonly expected: string;
    readonly usage: Readonly<Record<string, number>>;
    readonly estimated: boolean;
  };
}

/** Of a request of the decision log: what was decided then, and what would be now. */
export interface ExplainedPast {
  readonly before: {
    readonly outcome: string;
    readonly status: number | null;
    readonly code: string | null;
    readonly model: string | null;
    readonly plan: string | null;
  };
  readonly now: ExplainedRequest | null;
  readonly differences: readonly { readonly what: string; readonly before: string; readonly now: string }[];
  readonly notes: readonly string[];
}

export type Explained = ExplainedRequest | ExplainedPast;

export function isPast(explained: Explained): explained is ExplainedPast {
  return "before" in explained;
}
