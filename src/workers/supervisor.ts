import cluster, { type Worker } from "node:cluster";
import type { Address, Log } from "../kit/index.ts";
import type { FirstLoad } from "../gateway/loading.ts";
import { createAdminHandler } from "../server/admin.ts";
import { cut, listenOn } from "../server/listen.ts";
import { surfaceOfCrew } from "./admin-view.ts";
import { Crew } from "./pool.ts";
import { pinnedOf } from "./messages.ts";
import { adminRoutes } from "../gateway/admin-view.ts";

export interface SupervisorOptions {
  readonly start: FirstLoad;
  readonly log: Log;
  /** Starts a worker; this very program unless given. */
  readonly fork?: () => Worker;
  /** See `CrewParts`. */
  readonly startDeadline?: number;
}

export interface Supervisor {
  /** As bound. */
  readonly addresses: readonly Address[];
  readonly admin: Address | null;
  reload(): Promise<unknown>;
  /** All workers at the same time, as `Gateway.drain`. Resolves when they have ended. */
  drain(most?: number): Promise<void>;
  /** Ends every worker at once. */
  end(): Promise<void>;
}

/**
 * Keeps `server.workers` processes serving on the same addresses, and has the admin listener for them. It serves no
 * request itself and opens no store.
 * @throws WorkerFailed; Error for an address that cannot be had.
 */
export async function supervise({
  start,
  log,
  fork = () => cluster.fork(),
  startDeadline,
}: SupervisorOptions): Promise<Supervisor> {
  const { snapshot } = start.loaded;
  const { admin, workers, listen } = snapshot.server;
  // A port 0 becomes one and the same for all workers, and what cannot be had is said before any of them starts.
  const probe = await listenOn(listen, (_req, res) => res.destroy());
  await cut(probe);
  const { addresses } = probe;

  const crew = new Crew({
    size: workers,
    pinned: pinnedOf(snapshot, addresses),
    fork,
    onEnded: (hand) => surface.bequeath(hand),
    log,
    startDeadline,
  });
  const surface = surfaceOfCrew(crew, snapshot.file);
  const listening =
    admin === null
      ? null
      : await listenOn([admin], createAdminHandler({ ...adminRoutes(surface), settings: () => admin, log }));
  try {
    await crew.start();
  } catch (error) {
    if (listening) await cut(listening);
    throw error;
  }
  return {
    addresses,
    admin: listening?.addresses[0] ?? null,
    reload: () => surface.reload(),
    async drain(most) {
      await crew.drain(most);
      if (listening) await cut(listening);
    },
    end: () => crew.end(),
  };
}
