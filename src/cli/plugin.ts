import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join, relative, resolve } from "node:path";
import { builtins } from "../../plugins/index.ts";
import { FileExists, writeModuleType, writePlugin } from "../testing/skeleton.ts";
import { configFile, EXIT, ExitError } from "./options.ts";

export interface PluginOptions {
  readonly config?: string;
}

/** Writes a new plugin beside the configuration file, and says what to do with it. @throws ExitError */
export async function newPlugin(name: string, { config }: PluginOptions): Promise<void> {
  // Under one name they would share what they keep, and nobody could tell them apart in a log.
  if (Object.hasOwn(builtins, name)) throw new ExitError(EXIT.usage, `${name} is the name of a built-in plugin`);
  const folder = join(dirname(configFile(config)), "plugins");
  const paths = await writePlugin(folder, name).catch((error: unknown) => {
    throw error instanceof FileExists ? new ExitError(EXIT.failed, error.message) : error;
  });
  process.stdout.write(paths.map((path) => `${relative(process.cwd(), path)}\n`).join(""));
  const moduleType = await writeModuleType(folder);
  const found = packageFor(folder);
  const steps = [
    ...(moduleType === null ? [] : [`${relative(process.cwd(), moduleType)} makes them ES modules, as plugins are`]),
    ...(found === null ? [`install the package:  ${installCommand(dirname(folder))}`] : []),
    `run its test:         ${testCommand(relative(process.cwd(), paths.at(-1)!), found ?? OWN_PACKAGE)}`,
    `use it (pipeline):    - { use: ./plugins/${name}.ts, options: { instruction: "Answer in one sentence." } }`,
  ];
  process.stderr.write(steps.map((step) => `${step}\n`).join(""));
}

/** The folder of the package that runs: a checkout, or what was compiled of one. */
const OWN_PACKAGE = resolve(import.meta.dirname, import.meta.filename.endsWith(".ts") ? "../.." : "../../..");

/** The folder of the package that files in a folder import, null where it is not installed. */
function packageFor(folder: string): string | null {
  try {
    return dirname(createRequire(join(folder, "any.ts")).resolve("route-gateway/package.json"));
  } catch {
    return null;
  }
}

/** The plugin runs without it, but its test and an editor need the package in the folder. */
function installCommand(folder: string): string {
  const where = relative(process.cwd(), folder);
  const prefix = where === "" ? [] : ["--prefix", where];
  // A compiled package in node_modules has a version that can be installed again; a checkout is linked.
  const what = isCheckout(OWN_PACKAGE) ? OWN_PACKAGE : "route-gateway";
  return ["npm", "install", ...prefix, what].map(quoted).join(" ");
}

function testCommand(test: string, packageFolder: string): string {
  // A checkout's exports lead to its sources by a condition; without it, to files that may not be built.
  const conditions = isCheckout(packageFolder) ? ["--conditions=route-gateway-source"] : [];
  return [...nodeCommand(), "--test", ...conditions, quoted(test)].join(" ");
}

function isCheckout(packageFolder: string): boolean {
  return existsSync(join(packageFolder, "src/cli/start.js"));
}

/** How a shell in this folder starts the Node that runs this command. The first `node` of its PATH may be too old. */
function nodeCommand(): readonly string[] {
  // npx and npm run put these folders in front for the one command that they run.
  const folders = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !/node_modules\/\.bin\/?$/.test(folder));
  const onPath = folders.map((folder) => join(folder, "node")).find((path) => existsSync(path));
  if (onPath !== undefined && isRunning(onPath)) return ["node"];
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    if (isRunning(join(folder, "node_modules/.bin/node"))) return ["npx", "node"];
    if (folder === dirname(folder)) return [quoted(process.execPath)];
  }
}

function isRunning(path: string): boolean {
  return existsSync(path) && realpathSync(path) === realpathSync(process.execPath);
}

/** A word as a shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
