/** A model as the configuration writes it. */
export interface WrittenModel {
  readonly tier: string;
  readonly price: Readonly<Record<string, unknown>>;
  readonly context_window: number | null;
  readonly features: readonly string[];
  /** Plans that may call it. */
  readonly plans: readonly string[];
}

/** What the configuration in force has, to choose from and to show. */
export interface Catalogue {
  readonly tiers: readonly string[];
  readonly models: ReadonlyMap<string, WrittenModel>;
  readonly upstreams: readonly string[];
}

/** The plan of a configuration without tiers; all its models belong to it. */
const OPEN_TIERS: ReadonlyMap<string, unknown> = new Map([["Open", { access: "all" }]]);
/** Only a model on the operator's own servers may have no price: it is free. */
const FREE = { per_request: 0 };

/** @param files as they are written: what a reference stands for is not known */
export function catalogueOf(files: readonly unknown[]): Catalogue {
  const written = sectionOf(files, "tiers");
  const tiers = written.size > 0 ? written : OPEN_TIERS;
  const [ownTier = ""] = written.size > 0 ? [] : OPEN_TIERS.keys();
  const models = [...sectionOf(files, "models")].map(([id, model]) => {
    const { tier = ownTier, price = FREE, context_window: window, features } = recordOf(model);
    const entry: WrittenModel = {
      tier: String(tier),
      price: recordOf(price),
      context_window: typeof window === "number" ? window : null,
      features: Array.isArray(features) ? features.map(String) : [],
      plans: [...tiers].filter(([, plan]) => mayCall(recordOf(plan)["access"], tier)).map(([name]) => name),
    };
    return [id, entry] as const;
  });
  return {
    tiers: [...tiers.keys()],
    models: new Map(models),
    upstreams: [...sectionOf(files, "upstreams").keys()],
  };
}

function mayCall(access: unknown, tier: unknown): boolean {
  return access === "all" || (Array.isArray(access) && access.includes(tier));
}

/** Files may have parts of a section each. */
function sectionOf(files: readonly unknown[], section: string): ReadonlyMap<string, unknown> {
  return new Map(files.flatMap((file) => Object.entries(recordOf(recordOf(file)[section]))));
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
