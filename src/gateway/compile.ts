import { createHash } from "node:crypto";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { builtins } from "../../plugins/index.ts";
import type { Diagnostic } from "../config/diagnostics.ts";
import { environmentOf } from "../config/env-file.ts";
import { disk, type FileAccess } from "../config/files.ts";
import { loadConfig, type LoadOptions, type LoadResult } from "../config/load.ts";
import { CAPABILITIES } from "../dialects/capabilities.ts";
import { dataFolder, dryRun, isLoaded, type Loaded } from "./configuration.ts";
import { withKeptLists } from "./kept-lists.ts";

export interface CompileOptions extends Pick<LoadOptions, "file" | "env"> {
  /** Left out: the disk's. */
  readonly access?: Partial<FileAccess>;
  /** Told of the lists of models that providers gave: which are used, and which are not known here. */
  readonly tell?: (line: string) => void;
  /** Whether plugins are set up, as a check does, with nothing to serve. */
  readonly setsUp?: boolean;
}

/**
 * What stands for a reference that has no value on this machine: the first that is taken where it is written. The order
 * is that of how often they fit.
 */
const STAND_INS =
  // The first is long enough for a secret that signs tokens. As an address it is that of a local server: where the real one
  // is, is not known, so neither keys nor prices are missing.
  "https://unset.localhost/stands-in-for-it 1 1s 1MiB 1h true 2026-01-01 unset.invalid:1 smtp://unset.invalid redis://unset.invalid none openai chat weighted closed USD unset@unset.invalid ::1/128".split(
    " ",
  );

/**
 * Compiles a configuration that is not going to serve here. References without a value on this machine get one that
 * stands in for it, the same for the same text. What cannot be compiled all the same is `ok: false`.
 */
export async function compileOffline(settings: CompileOptions): Promise<LoadResult> {
  const { file, env, access = {}, setsUp = false, tell } = settings;
  const set = await environmentOf(resolve(file), env);
  const variables: Record<string, string | undefined> = { ...env };
  const contents = new Map<string, string>();
  const outputs = new Map<string, string>();
  const path = resolve(file);
  const read = access.read ?? disk.read;
  const options: LoadOptions = {
    ...access,
    file: path,
    // Of the modes the one that tells a variable that must have a value from one that may be empty.
    mode: "dev",
    // Those of the machine that serves are seldom here.
    tlsFiles: "skip",
    env: variables,
    builtins,
    dialects: CAPABILITIES,
    ...(setsUp && { dryRun: (step, snapshot) => dryRun(step, snapshot) }),
    // Nothing is run: the same command stands for the same value.
    run: async (_words, command) => ({ text: outputs.get(command) ?? `exec:${command}` }),
    read: async (name) => contents.get(name) ?? read(name),
  };
  let result = await loadConfig(options);
  const missing = new Map<string, Missing>();
  for (let round = 0; ; round += 1) {
    const found = missingOf(result, set, dirname(path), missing);
    if (found.length === 0 || round > STAND_INS.length) break;
    for (const one of found) {
      const standIn = STAND_INS[one.tried];
      one.tried += 1;
      if (one.kind === "env") variables[one.name] = standIn;
      else if (one.kind === "exec" && standIn !== undefined) outputs.set(one.name, standIn);
      else if (one.kind === "exec") outputs.delete(one.name);
      else if (standIn === undefined) contents.delete(one.name);
      else contents.set(one.name, standIn);
    }
    result = await loadConfig(options);
  }
  if (!isLoaded(result)) return result;
  return withKeptLists(result, dataFolder(result.snapshot.store.url.reveal(), path, env), tell);
}

interface Missing {
  readonly kind: "env" | "file" | "exec";
  readonly name: string;
  /** How many stand-ins have been tried. */
  tried: number;
}

const REFERENCE = /\$\{(?:(env|file):([^{}:]+)|exec:([^{}]*))\}/g;

/** The references without a value at the places where something is wrong, for which there are stand-ins left. */
function missingOf(
  { sources, diagnostics }: LoadResult,
  set: LoadOptions["env"],
  folder: string,
  known: Map<string, Missing>,
): readonly Missing[] {
  const texts = new Map(sources.map(({ path, text }) => [path, text.split("\n")]));
  const found = new Set<Missing>();
  for (const { file, line, column, rule } of diagnostics.filter(needsValue)) {
    const text = texts.get(resolve(file))?.[line - 1]?.slice(column - 1) ?? "";
    for (const [whole, scheme, named, command] of firstValue(text).matchAll(REFERENCE)) {
      const kind = (scheme ?? "exec") as Missing["kind"];
      const name = named ?? command ?? "";
      const isUnset = kind === "file" ? rule.startsWith("file-") : kind === "exec" || set[name] === undefined;
      const missing =
        known.get(whole) ?? (isUnset ? { kind, name: kind === "file" ? resolve(folder, name) : name, tried: 0 } : null);
      if (missing === null || missing.tried > STAND_INS.length) continue;
      known.set(whole, missing);
      found.add(missing);
    }
  }
  return [...found];
}

/** An address may be empty text for a check, and is none that anything could be sent to. */
function needsValue({ severity, rule, pointer }: Diagnostic): boolean {
  return severity === "error" || (rule === "unresolved-reference" && pointer.endsWith("/base_url"));
}

/** The text of the value that a line begins with: others on the line are not what is wrong. */
function firstValue(text: string): string {
  const [quoted] = /^(["']).*?\1/.exec(text) ?? [];
  return quoted ?? text;
}

/** Digest of every file of code that the local plugins consist of, by path relative to the configuration's folder. */
export function codeOf({ sources, steps, snapshot }: Loaded): Readonly<Record<string, string>> {
  const folder = dirname(snapshot.file);
  const schemas = steps.map(({ plugin }) => fileURLToPath(plugin.schema));
  const code = sources.filter(
    ({ kind, path }) => kind === "plugin" && !schemas.some((schema) => schema.endsWith(path)),
  );
  return Object.fromEntries(code.map(({ path, text }) => [relative(folder, path), digest(text)]));
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
