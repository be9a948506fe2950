import { pluginHost } from "../kit/builtin.ts";
import {
  type Exchange,
  type HookName,
  type Hooks,
  HOOKS_BY_STAGE,
  type Host,
  inBackground,
  isJson,
  isPluginPath,
  type Log,
  type Observer,
  type Plugin,
  STAGES,
  type StepSettings,
} from "../kit/index.ts";
import { PluginBreach, requireHooks, takeHooks } from "../kit/plugin-contract.ts";
import { type PublicSnapshot, publicSnapshot } from "../kit/public-snapshot.ts";
import { plansOf } from "./plans.ts";
import { timed } from "./timing.ts";

/** For plugins that were set up in vain, because a later one failed. */
const DISPOSE_TIMEOUT_MS = 3_000;

/** One step of the pipeline as linked: the plugin with its place's settings. */
interface LinkedStep {
  readonly plugin: Plugin;
  readonly settings: StepSettings;
}

/** A hook with what the runner needs to name it and to judge its failure. */
export interface Bound<Name extends HookName> {
  readonly plugin: string;
  /** The place of its step in the pipeline. Hooks of several names that run as one keep that order. */
  readonly position: number;
  readonly failOpen: boolean;
  readonly call: NonNullable<Hooks[Name]>;
  /** What the hook has returned to be called later, measured and bounded in time as hooks are. @param name for the metric */
  later<Args extends unknown[], Result>(name: string, call: (...args: Args) => Result): (...args: Args) => Result;
}

type BoundLists = { readonly [Name in Exclude<HookName, "dispose">]: readonly Bound<Name>[] };

/** The hooks that apply to one model and tier, in order. An absent hook costs nothing. */
export type BoundHooks = Omit<BoundLists, "relay" | "identify" | "windows"> & {
  readonly relay: Bound<"relay">;
};

export interface Pipeline {
  readonly identify: readonly Bound<"identify">[];
  readonly windows: readonly Bound<"windows">[];
  hooksFor(exchange: Pick<Exchange, "model" | "tier">): BoundHooks;
  /** Reaches every plugin. One that throws is named in the log and passed over. */
  dispose(): Promise<void>;
  /** The plugins that `dispose` still waits for. */
  disposing(): readonly string[];
}

/** A plugin that was set up. */
export interface Step {
  readonly name: string;
  readonly settings: StepSettings;
  readonly hooks: Hooks;
}

/**
 * Sets every plugin up, once per generation, and binds its hooks for every model and tier.
 * @throws Error naming the plugin whose setup failed, or that returns what is no hook of its stage.
 * @param observer left out: hooks are not measured.
 */
export async function buildPipeline(
  linked: readonly LinkedStep[],
  host: Host,
  observer: Pick<Observer, "hookTimer" | "pluginSlow"> = {},
): Promise<Pipeline> {
  const steps: Step[] = [];
  try {
    for (const one of linked) steps.push(await setUp(one, host));
    return pipelineOf(steps, host, observer);
  } catch (error) {
    await disposeSet(steps, host);
    throw error;
  }
}

/**
 * Sets one plugin up and takes its hooks: the way of `check`, of a start and of a reload.
 * @throws Error naming the plugin; its cause is what the setup threw, or a `PluginBreach`.
 */
export async function setUp({ plugin, settings }: LinkedStep, host: Host): Promise<Step> {
  let snapshot: PublicSnapshot | null = null;
  const own = pluginHost(plugin, host, () => (snapshot ??= publicSnapshot(host.snapshot)));
  try {
    // The linker has checked the options against the plugin's own schema.
    const returned: unknown = await plugin.setup(settings.options as never, own);
    return { name: plugin.name, settings, hooks: taken(plugin, settings.use, returned, host) };
  } catch (cause) {
    throw new Error(`plugin ${settings.use} failed in setup: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
}

/** A refused plugin may have begun something in its setup: its `dispose` is called, and nobody waits for it. */
function taken(plugin: Plugin, use: string, returned: unknown, { log }: Host): Hooks {
  try {
    const hooks = takeHooks(plugin, returned);
    if (isPluginPath(use)) requireHooks(plugin, hooks);
    return hooks;
  } catch (error) {
    const dispose = isJson(returned) ? returned["dispose"] : null;
    if (error instanceof PluginBreach && typeof dispose === "function") {
      inBackground(log, `dispose of ${plugin.name}`, (async () => Reflect.apply(dispose, returned, []))());
    }
    throw error;
  }
}

function pipelineOf(
  steps: readonly Step[],
  host: Host,
  observer: Pick<Observer, "hookTimer" | "pluginSlow">,
): Pipeline {
  const bound = steps.map((step, position) => ({ ...step, bound: boundHooks(step, position, { host, observer }) }));
  const all = <Name extends keyof BoundLists>(among: readonly (typeof bound)[0][], name: Name): BoundLists[Name] =>
    among.flatMap((step) => step.bound[name] as Bound<Name>[]) as BoundLists[Name];
  const disposing = new Set<Step>();
  const plans = plansOf(bound, host.snapshot, (among): BoundHooks => {
    const [relay] = all(among, "relay");
    if (relay === undefined) throw new Error("no plugin of this pipeline relays; add stream-relay");
    return {
      admit: all(among, "admit"),
      attempt: all(among, "attempt"),
      transform: all(among, "transform"),
      answer: all(among, "answer"),
      event: all(among, "event"),
      stream: all(among, "stream"),
      response: all(among, "response"),
      relay,
      settle: all(among, "settle"),
    };
  });
  return {
    identify: all(bound, "identify"),
    windows: all(bound, "windows"),
    hooksFor: ({ model, tier }) => plans(model, tier),
    dispose: () => disposeAll(steps, host.log, disposing),
    disposing: () => [...disposing].map(({ name }) => name),
  };
}

/** A relay takes as long as its upstreams do. */
const UNTIMED: ReadonlySet<HookName> = new Set(["relay"]);
const BOUND = STAGES.flatMap((stage): readonly HookName[] => HOOKS_BY_STAGE[stage]);

/** For each hook the one of this step, or none. */
function boundHooks(
  { name: plugin, settings, hooks }: Step,
  position: number,
  around: Pick<Parameters<typeof timed>[1], "host" | "observer">,
): BoundLists {
  const timing = { ...around, plugin, timeoutMs: settings.timeout ?? null };
  const failOpen = settings.fail === "open";
  const lists = BOUND.map((hook) => {
    const own = hooks[hook] as ((...args: unknown[]) => unknown) | undefined;
    if (own === undefined) return [hook, []];
    const call = UNTIMED.has(hook) ? own : timed(own, { ...timing, hook });
    const later: Bound<HookName>["later"] = (name, made) => timed(made, { ...timing, hook: name });
    return [hook, [{ plugin, position, failOpen, call, later }]];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a list for each name
  return Object.fromEntries(lists) as BoundLists;
}

/** Of those set up before the one that failed. One that hangs is named: what waits for the failure goes on without it. */
async function disposeSet(steps: readonly Step[], { log, now, schedule }: Host): Promise<void> {
  const disposing = new Set<Step>();
  const wait = (late: () => void): (() => void) => schedule(now() + DISPOSE_TIMEOUT_MS, late);
  if (await endsBefore(disposeAll(steps, log, disposing), wait)) return;
  const plugins = [...disposing].map(({ name }) => name);
  log.error({ plugins, after_ms: DISPOSE_TIMEOUT_MS }, "plugin dispose timed out");
}

async function disposeAll(steps: readonly Step[], log: Pick<Log, "error">, disposing = new Set<Step>()): Promise<void> {
  const disposeOf = async (step: Step): Promise<void> => {
    disposing.add(step);
    try {
      await step.hooks.dispose?.();
    } catch (err) {
      log.error({ err, plugin: step.name }, "plugin dispose failed");
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
