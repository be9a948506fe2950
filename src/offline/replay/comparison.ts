import { nanoToString } from "../../kit/index.ts";

/** How a request ended, then or now. */
export interface Ended {
  readonly result: string;
  readonly upstream: string | null;
  readonly charge: bigint;
}

export interface Compared {
  readonly user: string;
  readonly plan: string;
  readonly model: string;
  readonly before: Ended;
  readonly now: Ended;
  /** Whether its tokens are known from the log. */
  readonly isCounted: boolean;
}

interface Touched {
  readonly requests: number;
  readonly users: number;
}

/** Requests that end otherwise: the error's code, or how they end. */
export interface ChangedResult extends Touched {
  readonly before: string;
  readonly now: string;
  readonly plan: string;
}

/** Requests that another upstream serves; null: none. */
export interface ChangedUpstream extends Touched {
  readonly model: string;
  readonly before: string | null;
  readonly now: string | null;
}

export interface ChangedCharge {
  readonly plan: string;
  readonly model: string;
  /** That were charged otherwise. */
  readonly requests: number;
  readonly before: string;
  readonly now: string;
  /** null: nothing was charged before. */
  readonly percent: number | null;
}

export interface Differences {
  readonly same: boolean;
  readonly compared: number;
  readonly changed: Touched;
  readonly results: readonly ChangedResult[];
  /** Requests that are refused or fail now, and did not; and the other way round. */
  readonly lost: Touched;
  readonly won: Touched;
  readonly cost: {
    readonly before: string;
    readonly now: string;
    readonly percent: number | null;
    /** Requests that are charged now by assumed tokens: they were not served before. */
    readonly assumed: number;
    readonly changed: readonly ChangedCharge[];
  };
  readonly upstreams: readonly ChangedUpstream[];
  readonly models_gone: readonly (Touched & { readonly model: string })[];
}

/** How many requests, and whose. */
class Group<Key> {
  readonly key: Key;
  requests = 0;
  readonly users = new Set<string>();
  before = 0n;
  now = 0n;

  constructor(key: Key) {
    this.key = key;
  }

  add({ user }: Compared): void {
    this.requests += 1;
    this.users.add(user);
  }

  get touched(): Touched {
    return { requests: this.requests, users: this.users.size };
  }
}

class Groups<Key> {
  readonly #groups = new Map<string, Group<Key>>();

  of(key: Key): Group<Key> {
    const name = JSON.stringify(key);
    const group = this.#groups.get(name) ?? new Group(key);
    this.#groups.set(name, group);
    return group;
  }

  /** Those with the most requests first. */
  all(): Group<Key>[] {
    const named = [...this.#groups].toSorted(([a, x], [b, y]) => y.requests - x.requests || (a < b ? -1 : 1));
    return named.map(([, group]) => group);
  }
}

const MODEL_GONE: ReadonlySet<string> = new Set(["INVALID_MODEL", "MODEL_NOT_FOUND"]);
/** Whom nothing was refused. */
const UNREFUSED: ReadonlySet<string> = new Set(["served", "upstream_cut", "client_gone", "killed", "shutdown"]);

/** Sums up what differs, request by request; keeps groups, not requests. */
export class Comparison {
  #compared = 0;
  #assumed = 0;
  readonly #changed = new Group(null);
  readonly #lost = new Group(null);
  readonly #won = new Group(null);
  readonly #cost = new Group(null);
  readonly #results = new Groups<Pick<ChangedResult, "before" | "now" | "plan">>();
  readonly #upstreams = new Groups<Pick<ChangedUpstream, "model" | "before" | "now">>();
  readonly #charges = new Groups<Pick<ChangedCharge, "plan" | "model">>();
  readonly #gone = new Groups<{ readonly model: string }>();

  add(compared: Compared): void {
    const { plan, model, before, now, isCounted } = compared;
    this.#compared += 1;
    for (const cost of [this.#cost, this.#charges.of({ plan, model })]) {
      cost.before += before.charge;
      cost.now += now.charge;
    }
    const isResult = before.result !== now.result;
    // Of one that is refused now, or was before, that says enough.
    const isServed = before.upstream !== null && now.upstream !== null;
    const isUpstream = before.upstream !== now.upstream && (isServed || !isResult);
    const isCharge = before.charge !== now.charge;
    if (isCharge) this.#charges.of({ plan, model }).add(compared);
    if (!isCounted && now.charge > 0n) this.#assumed += 1;
    if (!isResult && !isUpstream && !isCharge) return;
    this.#changed.add(compared);
    if (isUpstream) this.#upstreams.of({ model, before: before.upstream, now: now.upstream }).add(compared);
    if (!isResult) return;
    this.#results.of({ before: before.result, now: now.result, plan }).add(compared);
    if (MODEL_GONE.has(now.result) && !MODEL_GONE.has(before.result)) this.#gone.of({ model }).add(compared);
    const [was, is] = [UNREFUSED.has(before.result), UNREFUSED.has(now.result)];
    if (was && !is) this.#lost.add(compared);
    if (is && !was) this.#won.add(compared);
  }

  get differences(): Differences {
    return {
      same: this.#changed.requests === 0,
      compared: this.#compared,
      changed: this.#changed.touched,
      results: this.#results.all().map((group) => ({ ...group.key, ...group.touched })),
      lost: this.#lost.touched,
      won: this.#won.touched,
      cost: {
        ...amounts(this.#cost),
        assumed: this.#assumed,
        changed: this.#charges
          .all()
          .filter(({ requests }) => requests > 0)
          .map((group) => ({ ...group.key, requests: group.requests, ...amounts(group) })),
      },
      upstreams: this.#upstreams.all().map((group) => ({ ...group.key, ...group.touched })),
      models_gone: this.#gone.all().map((group) => ({ ...group.key, ...group.touched })),
    };
  }
}

function amounts({ before, now }: { readonly before: bigint; readonly now: bigint }) {
  return { before: nanoToString(before), now: nanoToString(now), percent: percentOf(before, now) };
}

/** By how much it differs, with four places; null from nothing to something. */
function percentOf(before: bigint, now: bigint): number | null {
  if (before === now) return 0;
  return before === 0n ? null : Number(((now - before) * 1_000_000n) / before) / 10_000 + 0;
}
