import { createHash } from "node:crypto";
import { dirname, relative, resolve } from "node:path";
import {
  type DialectName,
  inTurns,
  isStoreUnavailable,
  type Kind,
  type Plugin,
  type Snapshot,
  type Steps,
  type StepSettings,
} from "../kit/index.ts";
import { PluginBreach } from "../kit/plugin-contract.ts";
import { diagnose, type Diagnostic, type Finding, join, type Place, sorted } from "./diagnostics.ts";
import { withDefaults } from "./defaults.ts";
import { envFileOf, overEnvFile, readEnvFile, usedOf } from "./env-file.ts";
import { disk, type FileAccess, noting, type WatchedFile } from "./files.ts";
import { loadTree } from "./include.ts";
import type { Dialects } from "./link/context.ts";
import { link } from "./link/link.ts";
import { find, type MapNode, withSubject } from "./node.ts";
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
  /** Variables of the process. They override those of the `.env` file. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The `.env` file, always the disk's; the one beside the main file unless given, null for none. */
  readonly envFile?: string | null;
  readonly builtins: Readonly<Record<string, Plugin>>;
  readonly dialects: Dialects;
  /** When it is, for what goes stale; null or left out: nothing does. A start must not fail because time has passed. */
  readonly now?: number | null;
  /** `check` unless given. `lenient`: a listener's file that cannot be used is a warning. `skip`: none is read. */
  readonly tlsFiles?: "check" | "lenient" | "skip";
  /** Runs the commands of `${exec:}`. If absent, they do not run and their values are unknown. */
  readonly run?: RunCommand;
  /** What the command line changes in every snapshot, such as the port; the steps of the pipeline stay. */
  readonly adjust?: (snapshot: Snapshot) => Snapshot;
  /** Sets a plugin up as serving would, and takes it down again. @throws Error for what its setup refuses. */
  readonly dryRun?: (step: LinkedStep, snapshot: Snapshot) => Promise<void>;
}

/** @param pointer of the first value that has the command. @returns null where it is not run */
export type RunCommand = (words: readonly string[], command: string, pointer: string) => Promise<Ran>;

export interface LinkedStep {
  readonly plugin: Plugin;
  readonly settings: StepSettings;
}

/** A file that was read; `secret` is the content of a `${file:}` reference, or what is used of `.env`: it is never kept. */
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
  /** Where upstreams say what they publish of their providers' lists, by name: for what is found out about it later. */
  readonly publishing: ReadonlyMap<string, Place>;
  /** Where secrets stand in the files; null when one could not be read to its end, and outside of a check. */
  readonly secrets: readonly Place[] | null;
}

/** A configuration that was refused, with the texts that its diagnostics have their places in. */
export interface Rejected extends Pick<LoadResult, "diagnostics" | "sources"> {
  /** ISO 8601. */
  readonly at: string;
}

/** No path: the file may be named by a `${file:}` reference as well. */
const USED_VARIABLES = "variables of .env";

/** The one way from a file to a snapshot, for serving, reloading and checking alike. Never throws for what a file holds. */
export async function loadConfig(options: LoadOptions): Promise<LoadResult> {
  const file = resolve(options.file);
  const folder = dirname(file);
  const { access, files: watched } = noting({ ...disk, ...definedOnly(options) });
  // Also for a file of a revision or of a saved configuration: secrets are those of now.
  const onDisk = noting(disk);
  const sources = new Map<string, Source>();
  const localPlugins = new Map<string, Plugin>();

  const reader = (kind: Source["kind"]) => async (path: string) => {
    const text = await access.read(path);
    // A file that is configuration as well as some reference's content is kept as configuration.
    if (kind !== "secret" || !sources.has(path)) sources.set(path, { path, kind, text });
    return text;
  };
  const { envFile: envPath = envFileOf(file) } = options;
  const envFile = envPath === null ? null : await readEnvFile(envPath, onDisk.access.read);
  const env = overEnvFile(envFile?.values ?? {}, options.env);
  const outputs = new Map<string, string>();
  const run = options.run ? once(options.run) : null;
  const references = { env, folder, read: reader("secret"), run };

  let tls: TlsFiles = { texts: new Map(), findings: [] };
  const merged = await loadTree(file, { read: reader("config"), expand: access.expand }, references);
  const tree = { ...merged, diagnostics: [...(envFile?.diagnostics ?? []), ...merged.diagnostics] };
  const used = envFile && usedOf(envFile, options.env, textsOf("config"));
  if (envFile && used !== null) sources.set(USED_VARIABLES, { path: envFile.path, kind: "secret", text: used });
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

  function textsOf(kind: Source["kind"]): string[] {
    return [...sources.values()].filter((source) => source.kind === kind).map(({ text }) => text);
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

  function served(dialect: DialectName): readonly Kind[] {
    return options.dialects[dialect].served;
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
    const built = { file, folder, hash, pem: tls.texts, served };
    const written = ok && valid ? yield* buildSnapshot(valid, settings, built) : null;
    const snapshot = written && (options.adjust?.(written) ?? written);
    const publishing = publishingPlaces(tree.root);
    const files = [...watched(), ...onDisk.files()];
    const rest = { hash, files, sources: [...sources.values()], publishing, secrets, outputs };
    const diagnostics = sorted(tree.root ? found.map((one) => withSubject(one, tree.root)) : found);
    return { ok, snapshot, steps: ok ? steps : [], localPlugins, diagnostics, ...rest };
  }
}

function publishingPlaces(root: MapNode | null): LoadResult["publishing"] {
  const upstreams = root === null ? null : find(root, "/upstreams")?.node;
  const names = upstreams?.kind === "map" ? [...upstreams.entries.keys()] : [];
  return new Map(
    names.flatMap((name) => {
      const found = find(upstreams!, join("", name, "models"));
      return found === null ? [] : [[name, found.key] as const];
    }),
  );
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
