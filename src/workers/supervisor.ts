import cluster from "node:cluster";
import { adminRoutes } from "../gateway/admin-view.ts";
import type { FirstLoad } from "../gateway/configuration.ts";
import type { Address, Log } from "../kit/index.ts";
import { createAdminHandler } from "../server/admin.ts";
import { cut, listenOn } from "../server/listen.ts";
import { pinnedSettings } from "./messages.ts";
import { poolAdminView } from "./pool-view.ts";
import { WorkerPool } from "./pool.ts";

export interface SupervisorOptions {
  readonly start: FirstLoad;
  readonly log: Log;
}

export interface Supervisor {
  /** As bound. */
  readonly addresses: readonly Address[];
  readonly admin: Address | null;
  reload(): Promise<unknown>;
  /** Drains all workers at the same time. Resolves when they have ended. @param maxMs see `Gateway.drain`. */
  drain(maxMs?: number): Promise<void>;
  /** Ends every worker at once. */
  end(): Promise<void>;
}

/**
 * Keeps `server.workers` processes of this program serving on the same addresses, and has the admin listener for them. It
 * serves no request of the public API and opens no store.
 * @throws WorkerFailed; Error for an address that cannot be had.
 */
export async function startSupervisor({ start, log }: SupervisorOptions): Promise<Supervisor> {
  const { snapshot } = start.loaded;
  const { workers, listen } = snapshot.server;
  // A port 0 becomes the same free port for all workers, and an address in use is reported before any of them starts.
  const probe = await listenOn(listen, (_req, res) => res.destroy());
  await cut(probe);
  const { addresses } = probe;

  const pool = new WorkerPool({
    size: workers,
    pinned: pinnedSettings(snapshot, addresses),
    fork: () => cluster.fork(),
    log,
  });
  const view = poolAdminView(pool, snapshot.file);
  const { admin } = snapshot.server;
  const listening =
    admin === null
      ? null
      : await listenOn([admin], createAdminHandler({ ...adminRoutes(view), settings: () => admin, log }));
  try {
    await pool.start((worker) => view.retainCounters(worker));
  } catch (error) {
    if (listening) await cut(listening);
    throw error;
  }
  return {
    addresses,
    admin: listening?.addresses[0] ?? null,
    reload: () => view.reload(),
    async drain(maxMs) {
      await pool.drain(maxMs);
      if (listening) await cut(listening);
    },
    end: () => pool.end(),
  };
}
