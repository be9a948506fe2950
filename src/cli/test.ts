import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { styleText } from "node:util";
import { formatGithub, formatJson, formatJunit, formatText, type Paint, totalsOf } from "../config-tests/report.ts";
import { runTests } from "../config-tests/run.ts";
import { configFile, defaultFormat, EXIT, ExitError, note } from "./options.ts";

export interface TestOptions {
  readonly config?: string;
  /** `defaultFormat` unless given. */
  readonly format?: "text" | "json" | "junit" | "github";
  readonly filter?: string;
  /** File for a report in JUnit's XML, whatever is printed. */
  readonly junit?: string;
}

/** Runs tests of configurations, offline. @throws ExitError when there is nothing to run. */
export async function test(files: readonly string[], options: TestOptions): Promise<void> {
  const { config, format = defaultFormat(), filter, junit } = options;
  const results = await runTests(files.length > 0 ? files : [testsOf(configFile(config))], {
    ...(config !== undefined && { config: configFile(config) }),
    ...(filter !== undefined && { filter }),
    env: process.env,
    tell: note,
    clock: () => performance.now(),
  });
  const { tests, failed, broken } = totalsOf(results);
  if (tests === 0 && broken === 0) throw new ExitError(EXIT.usage, `no test has '${filter}' in its name`);
  const write = {
    text: () => formatText(results, paint),
    json: () => formatJson(results),
    junit: () => formatJunit(results),
    github: () => formatGithub(results),
  }[format];
  if (junit !== undefined) await writeReport(junit, formatJunit(results));
  process.stdout.write(write());
  if (broken > 0) process.exitCode = EXIT.failed;
  else if (failed > 0) process.exitCode = EXIT.findings;
}

/** @throws ExitError */
async function writeReport(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT.failed, `cannot write --junit ${file}: ${reason}`);
  });
}

/** The tests of a configuration that lie where they are looked for. @throws ExitError when there are none. */
function testsOf(config: string): string {
  if (!existsSync(config)) throw new ExitError(EXIT.failed, `${config} does not exist`);
  const name = basename(config).replace(/\.ya?ml$/, ".test.yaml");
  const places = [join(dirname(config), name), join(dirname(config), "test", name)];
  const found = places.find((path) => existsSync(path));
  if (found === undefined)
    throw new ExitError(EXIT.usage, `name a file with tests: there is no ${places.join(" and no ")}`);
  return found;
}

/** In colour on a terminal, unless NO_COLOR is set. */
const paint: Paint = (colour, text) => styleText(colour, text, { stream: process.stdout });
