import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { registerHooks } from "node:module";
import { dirname, extname, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ConditionConfig } from "#schema";
import { isPluginPath, type Plugin } from "../kit/index.ts";
import { diagnose, type Diagnostic, type Finding, join, type Place, pluginHint, shortPath } from "./diagnostics.ts";
import { type FileAccess, FileError } from "./files.ts";
import { find, type MapNode, type Node, showNode } from "./node.ts";
import { contractBreach, placeOfFault, refusalOf } from "./plugin-fault.ts";
import { isRecord, type Schema } from "./schema.ts";
import { check, type Incomplete, place, type Validated } from "./validate.ts";

/** One step of the pipeline with its plugin. */
export interface LoadedStep {
  /** Of the step. */
  readonly pointer: string;
  /** Of the name: the step itself when it is only a name. */
  readonly at: string;
  /** As written; the path of a local plugin. */
  readonly use: string;
  readonly local: boolean;
  /** Null when it could not be found or loaded. */
  readonly plugin: Plugin | null;
  readonly options: Readonly<Record<string, unknown>>;
  readonly when: Incomplete<ConditionConfig> | null;
  readonly fail: "closed" | "open";
  /** As written; null where nothing is. */
  readonly timeout: string | null;
}

interface StepOptions {
  readonly builtins: Readonly<Record<string, Plugin>>;
  readonly files: FileAccess;
  /** Where paths of local plugins start. */
  readonly folder: string;
}

export interface LoadedSteps {
  readonly steps: readonly LoadedStep[];
  /** Pointers of unset variables in options where empty text cannot stand. */
  readonly unsetPointers: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Finds the plugin of every step, loads local ones and checks their options with their own schemas. */
export async function loadSteps({ tree, config, invalid }: Validated, options: StepOptions): Promise<LoadedSteps> {
  const steps: LoadedStep[] = [];
  const diagnostics: Diagnostic[] = [];
  const unsetPointers: string[] = [];
  const loaded = new Map<string, LocalPlugin>();

  for (const [index, step] of (config.pipeline ?? []).entries()) {
    const pointer = join("/pipeline", index);
    const settings = typeof step === "string" ? { use: step } : step;
    if (settings?.use === undefined) continue;
    const { use } = settings;
    const at = typeof step === "string" ? pointer : join(pointer, "use");
    const written = "options" in settings ? settings.options : undefined;
    const base = {
      pointer,
      at,
      use,
      local: isPluginPath(use),
      options: (written ?? {}) as Readonly<Record<string, unknown>>,
      when: ("when" in settings ? settings.when : undefined) ?? null,
      fail: ("fail" in settings ? settings.fail : undefined) ?? "closed",
      timeout: ("timeout" in settings ? settings.timeout : undefined) ?? null,
    } as const;
    steps.push(base.local ? await localStep(base) : builtInStep(base));
  }
  return { steps, unsetPointers, diagnostics };

  function builtInStep(step: Omit<LoadedStep, "plugin">): LoadedStep {
    const plugin = Object.hasOwn(options.builtins, step.use) ? options.builtins[step.use] : undefined;
    if (plugin) return { ...step, plugin };
    const message = `no plugin is named ${showNode(nodeAt(step.at))}`;
    report(step.at, { rule: "unknown-plugin", message, hint: pluginHint(step.use, Object.keys(options.builtins)) });
    return { ...step, plugin: null };
  }

  async function localStep(step: Omit<LoadedStep, "plugin">): Promise<LoadedStep> {
    const path = resolve(options.folder, step.use);
    const found = loaded.get(path) ?? (await loadLocalPlugin(path, options.files));
    loaded.set(path, found);
    const wrong = "finding" in found ? null : nameBreach(found.plugin);
    if (wrong !== null) {
      report(step.at, wrong);
      return { ...step, plugin: null };
    }
    if ("finding" in found) {
      // Where the plugin itself is wrong, its own file and line say more than the step does.
      diagnostics.push(diagnose(found.place ?? nodeAt(step.at).place, step.at, found.finding));
      return { ...step, plugin: null };
    }
    return { ...step, plugin: found.plugin, options: checkOptions(step, found.schema) };
  }

  /** Log, metrics and storage go by a plugin's name: two plugins of one name would share them. */
  function nameBreach(plugin: Plugin): Finding | null {
    const { name } = plugin;
    const rule = "plugin-contract";
    const hint = "give the plugin another name";
    if (Object.hasOwn(options.builtins, name))
      return { rule, message: `the plugin has the name of the built-in plugin '${name}'`, hint };
    const other = steps.find((step) => step.plugin?.name === name && step.plugin !== plugin);
    return other ? { rule, message: `the plugin has the name of ${other.use}: '${name}'`, hint } : null;
  }

  function checkOptions(step: Omit<LoadedStep, "plugin">, schema: Schema): Readonly<Record<string, unknown>> {
    const pointer = join(step.pointer, "options");
    if (invalid.includes(pointer)) return {};
    const empty: MapNode = { kind: "map", place: nodeAt(step.at).place, entries: new Map() };
    const node = find(tree, pointer)?.node ?? empty;
    const checked = check(schema, node, pointer);
    unsetPointers.push(...checked.unsetPointers);
    diagnostics.push(...checked.problems.map((problem) => place(node, pointer, problem)));
    return checked.value as Readonly<Record<string, unknown>>;
  }

  function nodeAt(pointer: string): Node {
    return find(tree, pointer)?.node ?? tree;
  }

  function report(pointer: string, finding: Finding): void {
    diagnostics.push(diagnose(nodeAt(pointer).place, pointer, finding));
  }
}

type LocalPlugin =
  | { readonly plugin: Plugin; readonly schema: Schema }
  | {
      readonly finding: Finding;
      /** In the plugin's own files; null: the step is the place. */
      readonly place: Place | null;
    };

const LOCAL_IMPORT = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"'\n]+)["']/g;
const WRITABLE_BY_OTHERS = 0o002;

/** Loads the plugin in a file, with the schema of its options; what is wrong comes back as a finding. */
async function loadLocalPlugin(path: string, files: FileAccess): Promise<LocalPlugin> {
  let sources: ReadonlyMap<string, string> = new Map();
  try {
    sources = await readSources(path, files);
    for (const source of sources.keys()) {
      if (((await stat(files.locate(source))).mode & WRITABLE_BY_OTHERS) !== 0) {
        return bad(
          "plugin-writable",
          `${shortPath(source)} may be changed by every user of this machine`,
          `run: chmod o-w ${shortPath(source)}`,
        );
      }
    }
    installPluginResolver();
    const loaded = await files.importModule(pluginUrl(files.locate(path), version(sources), path));
    const plugin = isRecord(loaded) ? loaded.default : undefined;
    const wrong = contractBreach(plugin);
    if (wrong !== null)
      return bad("plugin-contract", wrong, "export default definePlugin({ name, stage, schema, setup })");
    const refusal = refusalOf(plugin as Plugin);
    if (refusal !== null) return { finding: refusal, place: null };
    // What was checked here stays as it is: neither its stage nor its powers change later.
    return await withSchema(Object.freeze(plugin as Plugin), path, files);
  } catch (error) {
    if (error instanceof FileError) return bad(error.rule, `the plugin file ${error.message}`);
    const code = [...sources].map(([path, text]) => ({ path, loadedFrom: files.locate(path), text }));
    return {
      finding: { rule: "plugin-load", message: `the plugin cannot be loaded: ${firstLine(error)}` },
      place: placeOfFault(error, code),
    };
  }
}

/**
 * The plugin's text and that of every file it imports by relative path, by path. Reading them through `files` also puts
 * them under watch. Over-reads what only looks like an import.
 */
async function readSources(path: string, files: FileAccess): Promise<ReadonlyMap<string, string>> {
  const sources = new Map([[path, await files.read(path)]]);
  for (const [source, text] of sources) {
    for (const [, specifier = ""] of text.matchAll(LOCAL_IMPORT)) {
      const imported = resolve(dirname(source), specifier);
      if (sources.has(imported)) continue;
      // One that is missing is reported by the import itself, or was only text.
      const content = await files.read(imported).catch(() => null);
      if (content !== null) sources.set(imported, content);
    }
  }
  return sources;
}

function version(sources: ReadonlyMap<string, string>): string {
  return createHash("sha256")
    .update(JSON.stringify([...sources]))
    .digest("hex");
}

async function withSchema(plugin: Plugin, path: string, files: FileAccess): Promise<LocalPlugin> {
  const schemaPath = relative(dirname(files.locate(path)), fileURLToPath(plugin.schema));
  try {
    // The compiler takes longer to load than most files take to check.
    const { compileSchema } = await import("./compile.ts");
    return { plugin, schema: compileSchema(JSON.parse(await files.read(resolve(dirname(path), schemaPath)))) };
  } catch (error) {
    const reason = error instanceof FileError ? error.message : `is no usable schema: ${firstLine(error)}`;
    return bad("plugin-schema", `the schema ${schemaPath} of plugin '${plugin.name}' ${reason}`);
  }
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n", 1)[0] ?? "";
}

function bad(rule: Finding["rule"], message: string, hint?: string): LocalPlugin {
  return { finding: { rule, message, hint }, place: null };
}

const INSTALLED = Symbol.for("route-gateway.plugin-resolver");
const VERSION = "gateway-plugin";
const ORIGIN = "origin";

/**
 * The URL to import a local plugin by. A new `version` is a new module to Node, so a changed file is loaded anew;
 * `origin` is where packages are looked for when the source is a saved copy.
 */
function pluginUrl(source: string, version: string, origin: string): string {
  const url = pathToFileURL(source);
  url.searchParams.set(VERSION, version);
  url.searchParams.set(ORIGIN, pathToFileURL(origin).href);
  return url.href;
}

/** The modules that plugins import by name, relative to this file. */
const PACKAGE_MODULES: ReadonlyMap<string, string> = new Map([
  ["route-gateway", "../index"],
  ["route-gateway/plugin", "../kit/index"],
  ["route-gateway/testing", "../testing/index"],
  ["#kit", "../kit/index"],
]);

/**
 * The URL of a module that plugins import by name, null for other specifiers. It is always the package that runs: a
 * second copy in `node_modules` would have an error class of its own, which the gateway does not recognise.
 * @throws Error: the package has no such entry
 */
function packageModule(specifier: string): string | null {
  const path = PACKAGE_MODULES.get(specifier);
  if (path !== undefined) return new URL(path + extname(import.meta.url), import.meta.url).href;
  if (!specifier.startsWith("route-gateway/")) return null;
  const entries = [...PACKAGE_MODULES.keys()].filter((name) => name.startsWith("route-gateway"));
  throw new Error(`there is no module '${specifier}'; import from ${entries.join(", ")}`);
}

/** A plugin is an ES module, also where the nearest package.json, as `npm init` writes it, says CommonJS. */
function moduleFormat({ pathname }: URL): string | null {
  return pathname.endsWith(".ts") ? "module-typescript" : null;
}

/**
 * Lets plugin files in any folder import the package by its name, and carries a plugin's version over to the files it
 * imports by relative path. Process-wide and installed once, however often it is called.
 */
function installPluginResolver(): void {
  if (Object.hasOwn(globalThis, INSTALLED)) return;
  Object.defineProperty(globalThis, INSTALLED, { value: true });
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.includes(`?${VERSION}=`)) {
        const found = next(specifier, context);
        return { ...found, format: moduleFormat(new URL(found.url)) ?? found.format };
      }
      const parent = context.parentURL?.includes(`${VERSION}=`) ? new URL(context.parentURL) : null;
      if (!parent) return next(specifier, context);
      const own = packageModule(specifier);
      if (own !== null) return { url: own, shortCircuit: true };
      // Types only; resolved by the package that runs.
      if (specifier === "#schema") return next(specifier, { ...context, parentURL: import.meta.url });
      if (!/^\.{1,2}\//.test(specifier)) {
        return next(specifier, { ...context, parentURL: parent.searchParams.get(ORIGIN) ?? parent.href });
      }
      const found = next(specifier, context);
      const url = new URL(found.url);
      url.search = parent.search;
      return { ...found, url: url.href, format: moduleFormat(url) ?? found.format };
    },
  });
}
