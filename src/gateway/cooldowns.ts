import { AttemptError, type Snapshot } from "../kit/index.ts";
import type { BreakerSample } from "../telemetry/state-metrics.ts";
import type { Cooldown, KeyState } from "../upstream/state/key-pool.ts";
import type { ManualSetting } from "../upstream/state/manual.ts";
import type { Transition } from "../upstream/state/states.ts";
import type { UpstreamSet } from "../upstream/upstreams.ts";

/** The part of a generation that knows what rests. */
interface ObservedUpstreams {
  readonly snapshot: Snapshot;
  readonly upstreams: Pick<UpstreamSet, "breaker" | "breakers" | "cooldowns">;
  readonly keys: (upstream: string) => readonly KeyState[];
  readonly manual: (upstream: string) => ManualSetting | null;
  readonly transitions: (upstream: string) => readonly Transition[];
}

/** One cooldown as `GET /admin/upstreams` shows it. */
export interface CooldownState {
  readonly scope: Cooldown["scope"] | "target" | "upstream";
  /** Place in the configuration, from 1. */
  readonly key?: number;
  readonly model?: string;
  readonly reason: string;
  /** ISO 8601. */
  readonly until: string;
}

/** A target that is not asked for a while. */
export interface RestingTarget {
  readonly upstream: string;
  readonly model: string;
  /** Unix milliseconds. */
  readonly until: number;
  readonly reason: string;
}

/** Cooldowns of its keys: what an operator's act ends. */
export function keyCooldowns({ snapshot, upstreams }: Pick<ObservedUpstreams, "snapshot" | "upstreams">, name: string) {
  // A candidate may have upstreams of its own.
  return Object.hasOwn(snapshot.upstreams, name) ? upstreams.cooldowns(name).length : 0;
}

/** Everything of an upstream that rests: keys, then breakers. An operator's override is no cooldown. */
export function cooldownsOf({ snapshot, upstreams, manual, transitions }: ObservedUpstreams, name: string) {
  const keys = upstreams.cooldowns(name).map(({ scope, key, model, reason, until }): CooldownState => {
    return { scope, key, ...(model !== null && { model }), reason, until: iso(until) };
  });
  if (manual(name) !== null) return keys;
  const reasonOf = (model?: string): string =>
    transitions(name).findLast((one) => one.state === "open" && one.model === model)?.detail ?? "";
  if (snapshot.upstreams[name]?.breaker.scope !== "target") {
    const { state, retryAt } = upstreams.breaker(name);
    if (state !== "open") return keys;
    return [...keys, { scope: "upstream" as const, reason: reasonOf(), until: iso(retryAt) }];
  }
  const open = [...upstreams.breakers(name)].filter(([, { state }]) => state === "open");
  const targets = open.map(([model, { retryAt }]): CooldownState => {
    return { scope: "target", model, reason: reasonOf(model), until: iso(retryAt) };
  });
  return [...keys, ...targets];
}

/** Every breaker: of an upstream, or of each of its models that was tried. */
export function* everyBreaker({
  snapshot,
  upstreams,
}: Pick<ObservedUpstreams, "snapshot" | "upstreams">): Iterable<BreakerSample> {
  for (const { name, breaker } of Object.values(snapshot.upstreams)) {
    if (breaker.scope !== "target") yield [name, upstreams.breaker(name).state];
    for (const [model, { state }] of upstreams.breakers(name)) yield [name, state, model];
  }
}

/** Targets that are not asked because every key rests for them. */
export function restingTargets({ snapshot, upstreams, keys }: ObservedUpstreams): readonly RestingTarget[] {
  return Object.keys(snapshot.upstreams).flatMap((upstream) => {
    const resting = upstreams.cooldowns(upstream);
    if (resting.length === 0) return [];
    return [...modelsAt(snapshot, upstream)].flatMap((model): readonly RestingTarget[] => {
      const own = resting.filter((one) => one.model === null || one.model === model);
      const ends = keys(upstream).map(({ position }) => {
        return Math.max(-Infinity, ...own.filter(({ key }) => key === position).map(({ until }) => until));
      });
      const until = Math.min(...ends);
      return until === -Infinity ? [] : [{ upstream, model, until, reason: own[0]!.reason }];
    });
  });
}

/** Opens a breaker, as so many failures do, for a gateway that only answers questions. @param model by default all models. */
export function openBreakers(
  { snapshot, upstreams }: Pick<ObservedUpstreams, "snapshot" | "upstreams">,
  upstream: string,
  model?: string,
): void {
  const { scope, consecutive } = snapshot.upstreams[upstream]!.breaker;
  const models = scope === "target" && model === undefined ? [...modelsAt(snapshot, upstream)] : [model];
  const error = new AttemptError("status", "upstream answered 503", { status: 503 });
  for (const breaker of models.map((one) => upstreams.breaker(upstream, one))) {
    for (let failed = 0; failed < consecutive; failed += 1) breaker.acquire()?.end({ ok: false, error });
  }
}

/** The names that the upstream's targets have there. */
function modelsAt({ models }: Snapshot, upstream: string): ReadonlySet<string> {
  const targets = Object.values(models).flatMap(({ chain }) => chain.flatMap((step) => step.targets));
  return new Set(targets.filter((target) => target.upstream === upstream).map(({ model }) => model));
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
