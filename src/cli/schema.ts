import { existsSync, readFileSync } from "node:fs";
import { builtins } from "../../plugins/index.ts";
import gateway from "../../schemas/gateway.source.schema.json" with { type: "json" };
import { bundleGateway, bundlePlugin } from "../config/bundle.ts";
import { ConfigurationError, pluginHint } from "../config/diagnostics.ts";
import { checkConfig } from "../gateway/configuration.ts";
import type { Plugin } from "../kit/index.ts";
import { configFile, EXIT, ExitError, isUnread } from "./options.ts";

const SCHEMAS = new URL("../../schemas/", import.meta.url);

export interface SchemaOptions {
  readonly config?: string;
  /** Also keywords that only editors know. */
  readonly editor?: boolean;
}

/**
 * Prints the schema of the configuration, complete in itself, with the options of the local plugins that the configuration
 * uses; or of one plugin's options.
 */
export async function printSchema(plugin: string | undefined, { config, editor }: SchemaOptions): Promise<void> {
  const local = await localPlugins(config);
  const readers = editor === true ? "editor" : "any";
  const plugins = {
    read: (ref: string) => readJson(new URL(ref, SCHEMAS)),
    local: new Map([...local].map(([use, { schema }]) => [use, readJson(schema)])),
  };
  const schema =
    plugin === undefined
      ? bundleGateway(gateway, plugins, readers)
      : bundlePlugin(readJson(pluginNamed(plugin, local).schema), readers);
  process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
}

/** Without a configuration there are none; one that was asked for must be there. */
async function localPlugins(config: string | undefined): Promise<ReadonlyMap<string, Plugin>> {
  const file = configFile(config);
  if (!existsSync(file)) {
    if (config === undefined) return new Map();
    throw new ExitError(EXIT.failed, `${config} does not exist`);
  }
  const { localPlugins, diagnostics } = await checkConfig({ file });
  const error = new ConfigurationError(diagnostics);
  if (isUnread(error)) throw error;
  return localPlugins;
}

function pluginNamed(name: string, local: ReadonlyMap<string, Plugin>): Plugin {
  const own = [...local].find(([use, { name: given }]) => use === name || given === name)?.[1];
  const found = own ?? (Object.hasOwn(builtins, name) ? builtins[name] : undefined);
  if (found !== undefined) return found;
  const known = [...Object.keys(builtins), ...local.keys()];
  throw new ExitError(EXIT.usage, `no plugin is named '${name}': ${pluginHint(name, known)}`);
}

function readJson(url: URL): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(url, "utf8")) as Readonly<Record<string, unknown>>;
}
