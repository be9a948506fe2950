import type { Command } from "commander";
import type { Snapshot, Store } from "../kit/index.ts";
import { checkConfig, ConfigurationError, isLoaded } from "../loading.ts";
import { openConfigured } from "../store/open.ts";
import { configFile } from "./options.ts";

/** Opens the configured store for an account command, also while a gateway serves it. */
export function accountContext(program: Command): () => Promise<{ store: Store; snapshot: Snapshot }> {
  return async () => {
    const { config } = program.opts<{ readonly config?: string }>();
    const loaded = await checkConfig({ file: configFile(config, process.env), env: process.env });
    if (!isLoaded(loaded)) throw new ConfigurationError(loaded.diagnostics);
    const { snapshot } = loaded;
    const store = await openConfigured(snapshot.store, { serving: false, now: Date.now });
    return { store, snapshot };
  };
}
