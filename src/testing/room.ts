import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { builtins } from "../../plugins/index.ts";
import { ConfigurationError } from "../config/diagnostics.ts";
import { disk } from "../config/files.ts";
import { checkConfig, isLoaded, type Loaded } from "../gateway/configuration.ts";
import {
  isJson,
  type Json,
  type Plugin,
  type PluginStorage,
  pluginStorage,
  type Stage,
  type StepCondition,
} from "../kit/index.ts";
import { openOffline } from "../offline/offline.ts";
import type { Offline } from "../offline/room.ts";

/** How a plugin stands in the pipeline, and what else is there. */
export interface PluginTest {
  /** As in the configuration. */
  readonly options?: Json;
  readonly fail?: "closed" | "open";
  /** Such as `250ms`. */
  readonly timeout?: string;
  readonly when?: StepCondition;
  /** Merged over the small configuration, object by object. */
  readonly config?: Json;
  /** By provider, `primary` and `backup`: a script of the simulator (`gateway sim --help`), `down` or `unreachable`. */
  readonly faults?: Readonly<Record<string, string>>;
  /** Unix milliseconds at which the clock begins. */
  readonly now?: number;
  /** What requests meet in the plugin's place, for instance to watch it. */
  readonly wrap?: (plugin: Plugin) => Plugin;
  /** Plugins that follow it in its stage. */
  readonly followedBy?: readonly Plugin[];
}

/** One plugin in a small gateway. */
export interface PluginRoom extends Offline, AsyncDisposable {
  readonly plugin: Plugin;
  /** The plugin's own. */
  readonly storage: PluginStorage;
}

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0);

const chain = [
  { upstream: "primary", model: "primary-model" },
  { upstream: "backup", model: "backup-model" },
];

function model(kind: string, price: Json, tier = "Free"): Json {
  return { kind, tier, owned_by: "test", price, chain };
}

const TOKENS = { input_per_million: 1, output_per_million: 2 };
const NO_LIMITS = { day: "none", hour: "none", minute: "none", streams: "none" };
const provider = { dialect: "openai", base_url: "sim:", api_keys: ["test"] };

/** Two plans, two providers, a model of each kind on both, and one that only the larger plan may call. */
const CONFIG: Json = {
  version: 1,
  auth: { tokens: { secrets: [{ kid: "test", value: "a secret of tests, longer than 32 bytes" }] } },
  tiers: { Free: { access: ["Free"], limits: NO_LIMITS }, Max: { access: "all", limits: NO_LIMITS } },
  upstreams: { primary: provider, backup: provider },
  models: {
    "route/chat": model("chat", TOKENS),
    "route/max": model("chat", TOKENS, "Max"),
    "route/embedding": model("embedding", { input_per_million: 1 }),
    "route/rerank": model("rerank", { per_request: 0.001 }),
    "route/speech": model("speech", { per_million_characters: 10 }),
    "route/transcription": model("transcription", { per_second: 0.001 }),
    "route/image": model("image", { per_image: 0.02 }),
  },
};

const PIPELINE = ["auth", "plan-check", "quota", "breaker", "stream-relay", "meter"] as const;
/** The built-in plugin that one of a stage is put behind. */
const BEHIND: Readonly<Record<Stage, string>> = {
  identify: "auth",
  admit: "quota",
  guard: "breaker",
  transform: "breaker",
  relay: "breaker",
  account: "meter",
};
/** Tried in this order: of a file nobody knows its stage before it is loaded. */
const STAGES_BY_USE: readonly Stage[] = ["transform", "admit", "guard", "account", "identify", "relay"];

/**
 * A gateway with the plugin in its pipeline, set up as a start does: read, checked, its options checked by its schema.
 * @param plugin its file, or the name of a built-in one. @throws ConfigurationError
 */
export async function openPlugin(plugin: URL | string, test: PluginTest = {}): Promise<PluginRoom> {
  return openLoaded(await loadPlugin(plugin, test), test);
}

/** A configuration with a plugin in its pipeline. */
export interface LoadedPlugin {
  readonly use: string;
  readonly loaded: Loaded;
}

/** As often as there are to be rooms: each is a generation of its own. */
export async function openLoaded({ use, loaded }: LoadedPlugin, test: PluginTest): Promise<PluginRoom> {
  const { wrap = (own) => own, followedBy = [], now = NOW, faults = {} } = test;
  const found = loaded.steps.find(({ settings }) => settings.use === use);
  if (found === undefined) throw new Error(`${use} does not stand in the pipeline`);
  const steps = loaded.steps.flatMap((step) => {
    if (step !== found) return [step];
    const others = followedBy.map((other) => ({
      ...step,
      plugin: other,
      settings: { use: other.name, options: {}, when: null, fail: "closed" as const },
    }));
    return [{ ...step, plugin: wrap(step.plugin) }, ...others];
  });
  const room = await openOffline(
    { ...loaded, steps },
    { now, faults: { ...RECORDED, ...recorded(faults) }, tokenizer: TOKENIZER },
  );
  return Object.assign(room, {
    plugin: found.plugin,
    storage: pluginStorage(room.store, found.plugin.name),
    [Symbol.asyncDispose]: () => room.close(),
  });
}

const CHARACTERS_PER_TOKEN = 4;
const count = async (text: string): Promise<number> => Math.ceil(text.length / CHARACTERS_PER_TOKEN);
/** Loading a real one takes longer than most tests. */
const TOKENIZER = { count, countForClient: count };

/** Providers keep what they were sent, for `sent`. */
const RECORDED = { primary: "?record=true", backup: "?record=true" };

const isScript = (fault: string): boolean => fault !== "down" && fault !== "unreachable";

function recorded(faults: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(faults).map(([name, fault]) => [name, isScript(fault) ? `${fault}&record=true` : fault]),
  );
}

/** @throws ConfigurationError */
export async function loadPlugin(plugin: URL | string, test: PluginTest): Promise<LoadedPlugin> {
  const use = typeof plugin === "string" ? plugin : fileURLToPath(plugin);
  const known = Object.hasOwn(builtins, use) ? builtins[use]!.stage : null;
  const failed: unknown[] = [];
  for (const stage of known === null ? STAGES_BY_USE : [known]) {
    const result = await read(use, configOf(use, stage, test));
    if (isLoaded(result)) return { use, loaded: result };
    failed.push(result.diagnostics);
    const isMisplaced = result.diagnostics.every(
      ({ rule }) => rule === "pipeline-order" || rule === "duplicate-plugin",
    );
    if (!isMisplaced) throw new ConfigurationError(result.diagnostics);
  }
  throw new Error(`${use} fits nowhere in the pipeline`, { cause: failed });
}

/** Of a configuration that is not on the disk, in the plugin's folder. */
function read(use: string, config: Json) {
  const file = join(use.startsWith("/") ? dirname(use) : process.cwd(), "gateway.test.yaml");
  return checkConfig({
    file,
    env: {},
    envFile: null,
    // YAML includes JSON.
    read: (path) => (path === file ? Promise.resolve(JSON.stringify(config)) : disk.read(path)),
  });
}

function configOf(use: string, stage: Stage, { options, fail, timeout, when, config = {} }: PluginTest): Json {
  const step = {
    use,
    ...(options && { options }),
    ...(fail && { fail }),
    ...(timeout && { timeout }),
    ...(when && { when }),
  };
  const own = (PIPELINE as readonly string[]).includes(use);
  const pipeline = PIPELINE.flatMap((name): unknown[] => {
    if (own) return [name === use ? step : name];
    const relay = stage === "relay" && name === "stream-relay" ? [] : [name];
    return name === BEHIND[stage] ? [...relay, step] : relay;
  });
  return merged({ ...CONFIG, pipeline }, config);
}

function merged(target: Json, patch: Json): Json {
  const result: Record<string, unknown> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    const before = result[key];
    result[key] = isJson(value) && isJson(before) ? merged(before, value) : value;
  }
  return result;
}
