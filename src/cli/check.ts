import { styleText } from "node:util";
import { formatExcerpts, formatGithub, formatJson, formatSarif, type Paint } from "../config/report.ts";
import type { LoadResult } from "../config/load.ts";
import { checkConfig, isLoaded, type Loaded } from "../gateway/configuration.ts";
import { configFile, defaultFormat, EXIT } from "./options.ts";

export interface CheckOptions {
  readonly config?: string;
  /** `defaultFormat` unless given. */
  readonly format?: "text" | "json" | "github" | "sarif";
  readonly strict?: boolean;
  /** Also ask the configured store what only it can tell. */
  readonly store?: boolean;
}

/** Validates files by the code that `serve` reads them with, offline. */
export async function check(files: readonly string[], options: CheckOptions): Promise<void> {
  const { config, format = defaultFormat(), strict = false } = options;
  const paths = files.length > 0 ? files : [configFile(config)];
  const results = [];
  for (const file of paths) {
    const result = await checkConfig({ file, strict, now: Date.now() });
    results.push(options.store && isLoaded(result) ? await withStore(result, strict) : result);
  }
  const diagnostics = results.flatMap((result) => result.diagnostics);
  const ok = results.every((result) => result.ok);
  const sources = results.flatMap(({ sources, secrets }) =>
    sources
      .filter(({ kind }) => kind !== "secret")
      .map(({ path, text, kind }) => ({ path, text, secrets: kind === "plugin" ? [] : secrets })),
  );
  const checked = { ok, diagnostics, sources };
  const write = {
    text: () => formatExcerpts(checked, paint),
    json: () => formatJson(checked),
    github: () => formatGithub(checked),
    sarif: () => formatSarif(checked),
  }[format];
  process.stdout.write(write());
  const unread = diagnostics.some(({ rule, pointer }) => rule === "file-unreadable" && pointer === "");
  if (!ok) process.exitCode = unread ? EXIT.failed : EXIT.findings;
}

/** With what only the store can tell of a configuration that passes. @throws ExitError for a store that does not answer. */
async function withStore(result: Loaded, strict: boolean): Promise<LoadResult> {
  const [{ askStore }, { usersWithoutPlan }] = await Promise.all([
    import("./existing-store.ts"),
    import("../gateway/warnings.ts"),
  ]);
  const found = await askStore(result.snapshot, (store) => usersWithoutPlan(store, result));
  return { ...result, ok: found.length === 0 || !strict, diagnostics: [...result.diagnostics, ...found] };
}

const COLORS = { error: "red", warning: "yellow", note: "cyan" } as const;

/** In colour on a terminal, unless NO_COLOR is set. */
const paint: Paint = (severity, text) => styleText(COLORS[severity], text, { stream: process.stdout });
