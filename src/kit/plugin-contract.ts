import { isJson } from "./json.ts";
import { nearest } from "./nearest.ts";
import { type HookName, type Hooks, HOOKS_BY_STAGE, type Plugin, type Stage, STAGES, stagesOf } from "./plugin.ts";

/** One way in which a plugin's hooks break the contract. `rule` is an id of `check`. */
export interface HookBreach {
  readonly rule: "unknown-hook" | "hook-stage" | "plugin-contract";
  readonly message: string;
  readonly hint: string | null;
}

/** A plugin whose `setup` has returned what it may not. `fail: open` does not help: such a plugin never starts. */
export class PluginBreach extends Error {
  override readonly name = "PluginBreach";
  readonly breaches: readonly HookBreach[];

  constructor(breaches: readonly HookBreach[]) {
    super(breaches.map(({ message, hint }) => (hint === null ? message : `${message} (${hint})`)).join("; "));
    this.breaches = breaches;
  }
}

/** Hooks that need no `this`. */
export type TakenHooks = {
  readonly [Name in HookName]?: NonNullable<Hooks[Name]> & ((this: void, ...args: never[]) => unknown);
};

/** The names of hooks that a plugin of these stages may return. */
export function hooksOfStages(stages: readonly Stage[]): readonly HookName[] {
  return [...stages.flatMap((stage): readonly HookName[] => HOOKS_BY_STAGE[stage]), "dispose"];
}

const EVERY_HOOK = hooksOfStages(STAGES);

/**
 * The hooks that a plugin's `setup` has returned, each bound to the object that it came from. They are read once, so
 * that what was checked is what runs.
 * @throws PluginBreach naming everything that is wrong.
 */
export function takeHooks(plugin: Pick<Plugin, "stage" | "also">, returned: unknown): TakenHooks {
  if (!isJson(returned)) throw new TypeError("setup must return the plugin's hooks in an object");
  const stages = stagesOf(plugin);
  const allowed = hooksOfStages(stages);
  const breaches: HookBreach[] = [];
  const hooks: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const { name, isInherited } of membersOf(returned)) {
    const value: unknown = Reflect.get(returned, name);
    const stage = STAGES.find((one) => (HOOKS_BY_STAGE[one] as readonly string[]).includes(name));
    const isAllowed = (allowed as readonly string[]).includes(name);
    if (!isAllowed) {
      // A value that is not a function is state of the object: it could not run as a hook under any name.
      if (typeof value !== "function") continue;
      breaches.push(
        stage === undefined ? unknownHook(name, stages, isInherited) : hookOfOtherStage(name, stage, stages),
      );
    } else if (value !== undefined) {
      const wrong = breachOfValue(name, value);
      if (wrong !== null) breaches.push(wrong);
      else hooks[name] = (value as (...args: unknown[]) => unknown).bind(returned);
    }
  }
  if (breaches.length > 0) throw new PluginBreach(breaches);
  return Object.freeze(hooks);
}

/** @throws PluginBreach for a plugin that leaves out the one hook of its stage without which no request is served. */
export function requireHooks(plugin: Pick<Plugin, "stage" | "also">, hooks: TakenHooks): void {
  for (const stage of stagesOf(plugin)) {
    if ((stage !== "identify" && stage !== "relay") || hooks[stage] !== undefined) continue;
    throw new PluginBreach([
      contractBreach(`setup returns no hook '${stage}', which a plugin of stage ${stage} is for`, `add ${stage}()`),
    ]);
  }
}

interface Member {
  readonly name: string;
  readonly isInherited: boolean;
}

/** The names of an object's members, with those that it inherits from classes and other objects of the plugin. */
function membersOf(object: object): readonly Member[] {
  const members = new Map<string, Member>();
  let isInherited = false;
  for (let owner: object | null = object; owner !== null && owner !== Object.prototype;) {
    for (const name of Object.getOwnPropertyNames(owner)) {
      const isConstructor = isInherited && name === "constructor";
      if (!isConstructor && !members.has(name)) members.set(name, { name, isInherited });
    }
    owner = Object.getPrototypeOf(owner) as object | null;
    isInherited = true;
  }
  return [...members.values()];
}

function unknownHook(name: string, stages: readonly Stage[], isInherited: boolean): HookBreach {
  const allowed = hooksOfStages(stages);
  const meant = nearest(name, allowed) ?? nearest(name, EVERY_HOOK);
  const remedy = isInherited ? `make a method that is not a hook private: #${name}` : "remove it";
  return {
    rule: "unknown-hook",
    message: `setup returns '${name}', which is not a hook`,
    hint:
      meant === null ? `${remedy}; hooks of stage ${stages.join(" and ")}: ${allowed.join(", ")}` : didYouMean(meant),
  };
}

function didYouMean(name: string): string {
  return `did you mean '${name}'?`;
}

function hookOfOtherStage(name: string, stage: Stage, stages: readonly Stage[]): HookBreach {
  const also = [...stages.slice(1), stage].map((one) => `"${one}"`).join(", ");
  return {
    rule: "hook-stage",
    message: `setup returns '${name}', a hook of stage ${stage}; the plugin is of stage ${stages.join(" and ")}`,
    hint: `remove the hook, or write stage: "${stage}", or add also: [${also}]`,
  };
}

/** Hooks whose result the pipeline needs at once. */
const SYNCHRONOUS: ReadonlySet<string> = new Set<HookName>(["attempt", "event", "stream"]);

function breachOfValue(name: string, value: unknown): HookBreach | null {
  if (typeof value !== "function")
    return contractBreach(`hook '${name}' is not a function`, "an absent hook is left out, or undefined");
  const kind = Object.prototype.toString.call(value);
  if (kind.includes("Generator")) return contractBreach(`hook '${name}' is a generator`, "write a plain function");
  if (kind !== "[object AsyncFunction]" || !SYNCHRONOUS.has(name)) return null;
  return contractBreach(
    `hook '${name}' is async, but its result is needed at once`,
    "write it without async and await",
  );
}

function contractBreach(message: string, hint: string): HookBreach {
  return { rule: "plugin-contract", message, hint };
}
