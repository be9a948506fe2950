import cluster from "node:cluster";
import { randomInt } from "node:crypto";
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

/** Below the ports that a system gives out by itself: nobody else is given one between here and the workers' start. */
const CHOSEN_PORTS = { lowest: 10_000, highest: 32_767 } as const;
const MAX_CHOICES = 20;

/**
 * Keeps `server.workers` processes of this program serving on the same addresses, and has the admin listener for them. It
 * serves no request of the public API and opens no store.
 * @throws WorkerFailed; Error for an address that cannot be had.
 */
export async function startSupervisor({ start, log }: SupervisorOptions): Promise<Supervisor> {
  const { snapshot } = start.loaded;
  const { workers, listen } = snapshot.server;
  const addresses = await boundOnce(listen);

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

/**
 * A port 0 becomes the same free port for all workers, and an address in use is reported before any of them starts.
 * @throws Error for an address that cannot be had.
 */
async function boundOnce(listen: readonly Address[]): Promise<readonly Address[]> {
  const { lowest, highest } = CHOSEN_PORTS;
  for (let choice = 1; ; choice += 1) {
    const chosen = listen.map((address) =>
      address.port === 0 ? { ...address, port: randomInt(lowest, highest + 1) } : address,
    );
    try {
      const probe = await listenOn(chosen, (_req, res) => res.destroy());
      await cut(probe);
      return probe.addresses;
    } catch (error) {
      if (choice === MAX_CHOICES || listen.every(({ port }) => port !== 0)) throw error;
    }
  }
}
