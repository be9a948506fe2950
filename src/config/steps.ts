import { resolve } from "node:path";
import type { ConditionConfig } from "#schema";
import type { Plugin } from "../kit/index.ts";
import { check, place } from "./check.ts";
import { diagnose, type Diagnostic, type Finding, join } from "./diagnostics.ts";
import type { FileAccess } from "./files.ts";
import { loadLocalPlugin, type LocalPlugin } from "./local-plugin.ts";
import { pluginHint } from "./names.ts";
import { find, type MapNode, type Node, showNode } from "./node.ts";
import type { Schema } from "./schema.ts";
import type { Loose, Validated } from "./validate.ts";

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
  readonly when: Loose<ConditionConfig> | null;
  readonly fail: "closed" | "open";
}

export interface StepOptions {
  readonly builtins: Readonly<Record<string, Plugin>>;
  readonly files: FileAccess;
  /** Where paths of local plugins start. */
  readonly folder: string;
}

export interface LoadedSteps {
  readonly steps: readonly LoadedStep[];
  /** Pointers of unset variables in options where empty text cannot stand. */
  readonly unfit: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Finds the plugin of every step, loads local ones and checks their options with their own schemas. */
export async function loadSteps({ tree, config, damage }: Validated, options: StepOptions): Promise<LoadedSteps> {
  const steps: LoadedStep[] = [];
  const diagnostics: Diagnostic[] = [];
  const unfit: string[] = [];
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
      local: /^(\.{1,2}\/|\/)/.test(use),
      options: (written ?? {}) as Readonly<Record<string, unknown>>,
      when: ("when" in settings ? settings.when : undefined) ?? null,
      fail: ("fail" in settings ? settings.fail : undefined) ?? "closed",
    } as const;
    steps.push(base.local ? await localStep(base) : builtInStep(base));
  }
  return { steps, unfit, diagnostics };

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
    if ("finding" in found) {
      report(step.at, found.finding);
      return { ...step, plugin: null };
    }
    return { ...step, plugin: found.plugin, options: checkOptions(step, found.schema) };
  }

  function checkOptions(step: Omit<LoadedStep, "plugin">, schema: Schema): Readonly<Record<string, unknown>> {
    const pointer = join(step.pointer, "options");
    if (damage.includes(pointer)) return {};
    const empty: MapNode = { kind: "map", place: nodeAt(step.at).place, entries: new Map() };
    const node = find(tree, pointer)?.node ?? empty;
    const checked = check(schema, node, pointer);
    unfit.push(...checked.unfit);
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
