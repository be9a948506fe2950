import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { builtins } from "../../plugins/index.ts";
import { FileExists, writePlugin } from "../testing/skeleton.ts";
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
  const test = relative(process.cwd(), paths.at(-1)!);
  const steps = [
    `run its test:       node --test ${test}`,
    `use it (pipeline):  - { use: ./plugins/${name}.ts, options: { instruction: "Answer in one sentence." } }`,
    ...(isInstalled(folder) ? [] : [`the test needs the package route-gateway in ${dirname(folder)}`]),
  ];
  process.stderr.write(steps.map((step) => `${step}\n`).join(""));
}

/** True if a file in the folder can import the package. */
function isInstalled(folder: string): boolean {
  try {
    createRequire(join(folder, "any.ts")).resolve("route-gateway/package.json");
    return true;
  } catch {
    return false;
  }
}
