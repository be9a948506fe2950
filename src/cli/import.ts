import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { formatFindings, formatFindingsJson, isLossless } from "../import/findings.ts";
import { importConfiguration, type SourceKind } from "../import/run.ts";
import { ImportError } from "../import/source.ts";
import { schemasFor } from "./editor-schemas.ts";
import { EXIT, ExitError } from "./options.ts";

export interface ImportOptions {
  /** File for the configuration; stdout unless given. */
  readonly out?: string;
  /** File for tests that hold the configuration to the routing of the source. */
  readonly tests?: string;
  readonly format: "text" | "json";
}

/** Writes the configuration to stdout or a new file, findings to stderr. @throws ExitError */
export async function importFile(kind: SourceKind, file: string, { out, tests, format }: ImportOptions): Promise<void> {
  const paths = [out, tests].filter((path) => path !== undefined);
  if (out !== undefined && tests !== undefined && resolve(out) === resolve(tests))
    throw new ExitError(EXIT.usage, `--out and --tests are the same file: ${out}`);
  for (const path of paths) if (existsSync(path)) throw exists(path);
  const path = resolve(file);
  const imported = await importConfiguration({
    kind,
    path,
    shown: shownPath(file),
    schemas: {
      gateway: schemasFor(dirname(resolve(out ?? "gateway.yaml")))?.gateway ?? null,
      tests: schemasFor(dirname(resolve(tests ?? out ?? "gateway.yaml")))?.tests ?? null,
    },
    ...(tests !== undefined && { tests: { path: resolve(tests), config: resolve(out ?? "gateway.yaml") } }),
  }).catch((error: unknown) => {
    throw error instanceof ImportError ? new ExitError(EXIT.failed, error.message) : error;
  });
  const { yaml, findings } = imported;
  process.stderr.write(format === "json" ? formatFindingsJson(findings) : formatFindings(findings));
  if (out === undefined) process.stdout.write(yaml);
  else await writeNew(out, yaml);
  if (tests !== undefined && imported.tests !== null) await writeNew(tests, imported.tests);
  if (tests !== undefined && imported.tests === null)
    process.stderr.write(`gateway: no model came over, so ${tests} is not written: a file of tests has one at least\n`);
  if (!isLossless(findings)) process.exitCode = EXIT.findings;
}

function shownPath(file: string): string {
  const path = relative("", file);
  return path === "" || path.startsWith("..") ? file : path;
}

/** Never over a file that is there. @throws ExitError */
async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: "wx" });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") throw exists(path);
    throw new ExitError(EXIT.failed, `cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function exists(path: string): ExitError {
  return new ExitError(EXIT.failed, `${path} exists already, and is left as it is: name another file, or move it away`);
}
