import { createHash } from "node:crypto";
import { dirname, relative, resolve } from "node:path";
import {
  inTurns,
  isStoreUnavailable,
  type Plugin,
  type Snapshot,
  type Steps,
  type StepSettings,
} from "../kit/index.ts";
import { PluginBreach } from "../kit/plugin-contract.ts";
import { diagnose, type Diagnostic, type Finding, type Place, sorted } from "./diagnostics.ts";
import { withDefaults } from "./defaults.ts";
import { disk, type FileAccess, noting, type WatchedFile } from "./files.ts";
import { loadTree } from "./include.ts";
import type { Dialects } from "./link/context.ts";
import { link } from "./link/link.ts";
import { find, withSubject } from "./node.ts";
import { type Ran, resolveReferences } from "./references.ts";
import { coveredPlaces, secretScalars } from "./secrets.ts";
import { GATEWAY_SCHEMA, validate } from "./validate.ts";
import { buildSnapshot, buildStep } from "./snapshot.ts";
import { loadSteps } from "./steps.ts";
import type { TlsFiles } from "./tls-files.ts";

export interface LoadOptions extends Partial<FileAccess> {
  /** The main file; relative to the working directory. */
  readonly file: string;
  /** serve: a missing variable or secret is an error; dev and check: a warning. */
  readonly mode: "serve" | "dev" | "check";
  /** Warnings fail too, and missing variables and secrets are errors. */
  readonly strict?: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly builtins: Readonly<Record<string, Plugin>>;
  readonly dialects: Dialects;
  /** When it is, for what goes stale; null or left out: nothing does. A start must not fail because time has passed. */
  readonly now?: number | null;
  /** `check` unless given. `lenient`: a listener's file that cannot be used is a warning. `skip`: none is read. */
  readonly tlsFiles?: "check" | "lenient" | "skip";
  /** Runs the commands of `${exec:}`; left out: they are not run, and their values unknown. */
  readonly run?: RunCommand;
  /** Sets a plugin up as serving would, and takes it down again. @throws Error for what its setup refuses. */
  readonly dryRun?: (step: LinkedStep, snapshot: Snapshot) => Promise<void>;
}

/** @param pointer of the first value that has the command. @returns null where it is not run */
export type RunCommand = (words: readonly string[], command: string, pointer: string) => Promise<Ran>;

export interface LinkedStep {
  readonly plugin: Plugin;
  readonly settings: StepSettings;
}

/** A file that was read; `secret` is the content of a `${file:}` reference, which is never kept. */
export interface Source {
  readonly path: string;
  readonly kind: "config" | "plugin" | "secret";
  readonly text: string;
}

export interface LoadResult {
  readonly ok: boolean;
  /** Null when not ok, and in a check where an unset variable leaves no value to build with. */
  readonly snapshot: Snapshot | null;
  readonly steps: readonly LinkedStep[];
  /** Local plugins that could be loaded, by how a step names them, also of a configuration with errors. */
  readonly localPlugins: ReadonlyMap<string, Plugin>;
  readonly diagnostics: readonly Diagnostic[];
  /** SHA-256 (hex) over the names and contents of all files that were read. */
  readonly hash: string;
  /** Everything that was read or looked for, and the patterns of includes: what to watch. */
  readonly files: readonly WatchedFile[];
  /** The texts behind the hash. */
  readonly sources: readonly Source[];
  /** What the commands of `${exec:}` wrote, by command: no part of the hash, and never shown. */
  readonly outputs: ReadonlyMap<string, string>;
  /** Where secrets stand in the files; null when one could not be read to its end, and outside of a check. */
  readonly secrets: readonly Place[] | null;
}

/** A configuration that was refused, with the texts that its diagnostics have their places in. */
export interface Rejected extends Pick<LoadResult, "diagnostics" | "sources"> {
  /** ISO 8601. */
  readonly at: string;
}

/** The one way from a file to a snapshot, for serving, reloading and checking alike. Never throws for what a file holds. */
export async function loadConfig(options: LoadOptions): Promise<LoadResult> {
  const file = resolve(options.file);
  const folder = dirname(file);
  const { access, files: watched } = noting({ ...disk, ...definedOnly(options) });
  const sources = new Map<string, Source>();
  const localPlugins = new Map<string, Plugin>();

  const reader = (kind: Source["kind"]) => async (path: string) => {
    const text = await access.read(path);
    // A file that is configuration as well as some reference's content is kept as configuration.
    if (kind !== "secret" || !sources.has(path)) sources.set(path, { path, kind, text });
    return text;
  };
  const outputs = new Map<string, string>();
  const references = { env: options.env, folder, read: reader("secret"), run: options.run ? once(options.run) : null };

  let tls: TlsFiles = { texts: new Map(), findings: [] };
  const tree = await loadTree(file, { read: reader("config"), expand: access.expand }, references);
  if (!tree.root) return inTurns(finish(null, [], tree.diagnostics, null));

  const asWritten = await inTurns(validate(await resolveReferences(tree.root, references), GATEWAY_SCHEMA));
  const validated = await inTurns(withDefaults(asWritten));
  const files: FileAccess = { ...access, read: reader("plugin") };
  const loaded = await loadSteps(validated, { builtins: options.builtins, files, folder });
  tls = await readTls();
  const mustBeComplete = options.mode === "serve" || options.strict === true;
  const isCheck = options.mode === "check";
  const linking = link(validated, loaded, {
    dialects: options.dialects,
    // Of how a file is kept, and no reason not to serve it.
    secrets: isCheck ? secretScalars(validated.tree) : [],
    now: options.now ?? null,
    tls: tls.findings,
    missingSecret: mustBeComplete ? "error" : "warning",
    missingValue: mustBeComplete || options.mode === "dev" ? "error" : "warning",
  });
  const linked = await inTurns(linking);
  const diagnostics = [...tree.diagnostics, ...validated.diagnostics, ...loaded.diagnostics, ...linked];
  const usable = loaded.unsetPointers.length === 0 ? validated.valid : null;
  const steps = loaded.steps.flatMap((step) =>
    step.plugin ? [{ plugin: step.plugin, settings: buildStep(step), at: step.at }] : [],
  );
  const read = [{ pointer: "", node: validated.tree }, ...tree.dropped];
  const places = isCheck
    ? read.flatMap(({ pointer, node }) => coveredPlaces(node, pointer, validated.diagnostics))
    : null;
  for (const { use, local, plugin } of loaded.steps) if (local && plugin) localPlugins.set(use, plugin);
  const linkedWhole = await inTurns(finish(usable, steps, diagnostics, places));
  const refused = await dryRunAll(linkedWhole.snapshot);
  return refused.length === 0 ? linkedWhole : inTurns(finish(null, [], [...diagnostics, ...refused], places));

  /** A command that several values have runs once. */
  function once(run: RunCommand): RunCommand {
    const running = new Map<string, Promise<Ran>>();
    return async (words, command, pointer) => {
      const ran = running.get(command) ?? run(words, command, pointer);
      const found = await ran;
      // One that is not run for a value may be for another.
      if (found !== null) running.set(command, ran);
      if (found !== null && "text" in found) outputs.set(command, found.text);
      return found;
    };
  }

  /** Loaded where there are such files: most gateways have none. */
  async function readTls(): Promise<TlsFiles> {
    const { upstreams = {}, server, defaults } = validated.config;
    const named = [...(server?.listen ?? []), server?.admin, defaults?.upstream, ...Object.values(upstreams)];
    if (options.tlsFiles === "skip" || named.every((one) => one?.tls === undefined))
      return { texts: new Map(), findings: [] };
    const { readTlsFiles } = await import("./tls-files.ts");
    return readTlsFiles(validated.config, {
      folder,
      readOfUpstream: references.read,
      readOfListener: options.read ?? disk.read,
      ofListener: options.tlsFiles === "lenient" ? "warning" : "error",
      now: options.now ?? null,
    });
  }

  async function dryRunAll(snapshot: Snapshot | null): Promise<readonly Diagnostic[]> {
    const found: Diagnostic[] = [];
    if (snapshot === null || options.dryRun === undefined) return found;
    for (const { plugin, settings, at } of steps) {
      try {
        await options.dryRun({ plugin, settings }, snapshot);
      } catch (error) {
        const node = find(validated.tree, at)?.node ?? validated.tree;
        for (const finding of setupFindings(error)) found.push(diagnose(node.place, at, finding));
      }
    }
    return found;
  }

  function* finish(
    valid: typeof validated.valid,
    steps: LoadResult["steps"],
    found: readonly Diagnostic[],
    secrets: LoadResult["secrets"],
  ): Steps<LoadResult> {
    const hash = hashOf(sources.values(), folder);
    const ok = !found.some(({ severity }) => severity === "error" || (options.strict === true && severity !== "note"));
    const settings = steps.map((step) => step.settings);
    const snapshot = ok && valid ? yield* buildSnapshot(valid, settings, { file, folder, hash, pem: tls.texts }) : null;
    const rest = { hash, files: watched(), sources: [...sources.values()], secrets, outputs };
    const diagnostics = sorted(tree.root ? found.map((one) => withSubject(one, tree.root)) : found);
    return { ok, snapshot, steps: ok ? steps : [], localPlugins, diagnostics, ...rest };
  }
}

/** What is wrong with a plugin whose setup was tried. */
function setupFindings(error: unknown): readonly Finding[] {
  if (error instanceof PluginBreach) return error.breaches;
  const rule = "plugin-setup";
  if (isStoreUnavailable(error))
    return [{ rule, message: "setup failed: it cannot use the store", hint: "use storage in hooks alone" }];
  return [{ rule, message: `setup failed: ${error instanceof Error ? error.message : String(error)}` }];
}

/** Names are relative to the configuration's folder, so that the same files have the same hash anywhere. */
function hashOf(sources: Iterable<Source>, folder: string): string {
  const rows = [...sources].map(({ path, text }) => [relative(folder, path), text] as const);
  rows.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return createHash("sha256").update(JSON.stringify(rows)).digest("hex");
}

/** An override that is undefined means: as on disk. */
function definedOnly({ read, expand, locate, importModule }: Partial<FileAccess>): Partial<FileAccess> {
  return Object.fromEntries(
    Object.entries({ read, expand, locate, importModule }).filter(([, value]) => value !== undefined),
  );
}
