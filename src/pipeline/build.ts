import {
  type Exchange,
  type Hooks,
  type Host,
  type Log,
  matchesGlob,
  type Model,
  type Observer,
  type Plugin,
  pluginStorage,
  type StepCondition,
  type StepSettings,
  type Tier,
} from "../kit/index.ts";
import { timed } from "./timing.ts";

/** For plugins that were set up in vain, because a later one failed. */
const DISPOSE_TIMEOUT_MS = 3_000;

/** One step of the pipeline as linked: the plugin with its place's settings. */
interface LinkedStep {
  readonly plugin: Plugin;
  readonly settings: StepSettings;
}

/** A hook with what the runner needs to name it and to judge its failure. */
export interface Bound<Name extends keyof Hooks> {
  readonly plugin: string;
  /** Of its step among those that apply: hooks of several names that run as one keep the pipeline's order. */
  readonly position: number;
  readonly failOpen: boolean;
  readonly call: NonNullable<Hooks[Name]>;
  /** What the hook has returned to be called later, measured and bounded in time as hooks are. @param name for the metric */
  later<Args extends unknown[], Result>(name: string, call: (...args: Args) => Result): (...args: Args) => Result;
}

/** The hooks that apply to one model and tier, in order. An absent hook costs nothing. */
export interface BoundHooks {
  readonly admit: readonly Bound<"admit">[];
  readonly attempt: readonly Bound<"attempt">[];
  readonly transform: readonly Bound<"transform">[];
  readonly answer: readonly Bound<"answer">[];
  readonly event: readonly Bound<"event">[];
  readonly stream: readonly Bound<"stream">[];
  readonly response: readonly Bound<"response">[];
  readonly relay: Bound<"relay">;
  readonly settle: readonly Bound<"settle">[];
}

export interface Pipeline {
  readonly identify: readonly Bound<"identify">[];
  readonly windows: readonly Bound<"windows">[];
  hooksFor(exchange: Pick<Exchange, "model" | "tier">): BoundHooks;
  /** Reaches every plugin. One that throws is named in the log and passed over. */
  dispose(): Promise<void>;
  /** The plugins that `dispose` still waits for. */
  disposing(): readonly string[];
}

interface Step {
  readonly name: string;
  readonly settings: StepSettings;
  readonly hooks: Hooks;
}

/**
 * Sets every plugin up, once per generation. @throws Error naming the plugin whose setup failed.
 * @param observer left out: hooks are not measured.
 */
export async function buildPipeline(
  linked: readonly LinkedStep[],
  host: Host,
  observer: Pick<Observer, "hookTimer" | "pluginSlow"> = {},
): Promise<Pipeline> {
  const steps: Step[] = [];
  const bind = <Name extends keyof Hooks>(among: readonly Step[], name: Name): Bound<Name>[] =>
    bound(among, name, { host, observer });
  for (const { plugin, settings } of linked) {
    try {
      // The linker has checked the options against the plugin's own schema.
      const hooks = await plugin.setup(settings.options as never, {
        ...host,
        storage: pluginStorage(host.store, plugin.name),
      });
      if (typeof hooks !== "object" || hooks === null) throw new TypeError("setup must return the plugin's hooks");
      steps.push({ name: plugin.name, settings, hooks });
    } catch (cause) {
      await disposeSet(steps, host);
      throw new Error(`plugin ${settings.use} failed in setup: ${cause instanceof Error ? cause.message : cause}`, {
        cause,
      });
    }
  }
  /** By tier, then by model: names are free text, and put together two pairs could be one. */
  const known = new Map<string, Map<string, BoundHooks>>();
  const disposing = new Set<Step>();
  const conditional = steps.some((step) => step.settings.when !== null);
  return {
    identify: bind(steps, "identify"),
    windows: bind(steps, "windows"),
    hooksFor({ model, tier }) {
      const [tierName, modelId] = conditional ? [tier.name, model.id] : ["", ""];
      let byModel = known.get(tierName);
      if (byModel === undefined) known.set(tierName, (byModel = new Map()));
      let hooks = byModel.get(modelId);
      if (hooks === undefined) {
        hooks = hooksOf(
          steps.filter((step) => applies(step.settings.when, model, tier)),
          bind,
        );
        byModel.set(modelId, hooks);
      }
      return hooks;
    },
    dispose: () => disposeAll(steps, host.log, disposing),
    disposing: () => [...disposing].map(({ name }) => name),
  };
}

type Bind = <Name extends keyof Hooks>(steps: readonly Step[], name: Name) => Bound<Name>[];

function hooksOf(steps: readonly Step[], bind: Bind): BoundHooks {
  const [relay] = bind(steps, "relay");
  if (relay === undefined) throw new Error("no plugin of this pipeline relays; add stream-relay");
  return {
    admit: bind(steps, "admit"),
    attempt: bind(steps, "attempt"),
    transform: bind(steps, "transform"),
    answer: bind(steps, "answer"),
    event: bind(steps, "event"),
    stream: bind(steps, "stream"),
    response: bind(steps, "response"),
    relay,
    settle: bind(steps, "settle"),
  };
}

/** A relay takes as long as its upstreams do. */
const UNTIMED: ReadonlySet<keyof Hooks> = new Set(["relay"]);

function bound<Name extends keyof Hooks>(
  steps: readonly Step[],
  name: Name,
  around: Pick<Parameters<typeof timed>[1], "host" | "observer">,
): Bound<Name>[] {
  return steps.flatMap((step, position) => {
    const call = step.hooks[name];
    if (call === undefined) return [];
    const own = call.bind(step.hooks) as NonNullable<Hooks[Name]> & ((...args: unknown[]) => unknown);
    const timing = { ...around, plugin: step.name, timeoutMs: step.settings.timeout ?? null };
    return [
      {
        plugin: step.name,
        position,
        failOpen: step.settings.fail === "open",
        call: UNTIMED.has(name) ? own : (timed(own, { ...timing, hook: name }) as typeof own),
        later: (hook, later) => timed(later, { ...timing, hook }),
      },
    ];
  });
}

/** Whether a step takes part in requests for the model by users of the plan. */
export function applies(when: StepCondition | null, model: Model, tier: Tier): boolean {
  if (when === null) return true;
  if (when.tiers && !when.tiers.includes(tier.name)) return false;
  return !when.models || when.models.some((glob) => matchesGlob(glob, model.id));
}

/** Of those set up before the one that failed. One that hangs is named: what waits for the failure goes on without it. */
async function disposeSet(steps: readonly Step[], { log, now, schedule }: Host): Promise<void> {
  const disposing = new Set<Step>();
  const wait = (late: () => void): (() => void) => schedule(now() + DISPOSE_TIMEOUT_MS, late);
  if (await endsBefore(disposeAll(steps, log, disposing), wait)) return;
  const plugins = [...disposing].map(({ name }) => name);
  log.error({ plugins, after_ms: DISPOSE_TIMEOUT_MS }, "dispose of plugins does not end: not waited for");
}

async function disposeAll(steps: readonly Step[], log: Pick<Log, "error">, disposing = new Set<Step>()): Promise<void> {
  const disposeOf = async (step: Step): Promise<void> => {
    disposing.add(step);
    try {
      await step.hooks.dispose?.();
    } catch (err) {
      log.error({ err, plugin: step.name }, "dispose of a plugin failed");
    }
    disposing.delete(step);
  };
  await Promise.all(steps.map(disposeOf));
}

/**
 * Whether the work ends before `late` is called; its failure counts as an end.
 * @param wait arranges for `late` to be called; returns what calls that off.
 */
export async function endsBefore(work: Promise<unknown>, wait: (late: () => void) => () => void): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const cancel = wait(() => resolve(false));
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, late]);
  } finally {
    cancel();
  }
}
