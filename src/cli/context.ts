import type { Command } from "commander";
import type { Snapshot, Store } from "../kit/index.ts";
import { formatText } from "../config/diagnostics.ts";
import { loadForAccounts } from "../loading.ts";
import { openConfigured } from "../store/open.ts";
import { createLog } from "../telemetry/log.ts";
import { configFile } from "./options.ts";

const LOG = { level: "warn", pretty: true } as const;

/** Opens the configured store for an account command, also while a gateway serves it. */
export function accountContext(program: Command): () => Promise<{ store: Store; snapshot: Snapshot }> {
  return async () => {
    const { config } = program.opts<{ readonly config?: string }>();
    const file = configFile(config, process.env);
    const { loaded, rejected } = await loadForAccounts({ file, env: process.env, log: createLog(LOG) });
    const { snapshot } = loaded;
    if (rejected !== null) {
      process.stderr.write(
        `gateway: ${file} does not pass: this command uses the last good configuration\n${formatText(rejected)}`,
      );
    }
    const store = await openConfigured(snapshot.store, { serving: false, now: Date.now });
    return { store, snapshot };
  };
}
