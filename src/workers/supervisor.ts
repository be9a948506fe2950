import cluster from "node:cluster";
import { randomInt } from "node:crypto";
import type { RequestListener } from "node:http";
import { adminRoutes, type AdminView, type ProcessReport } from "../gateway/admin-view.ts";
import type { Histories } from "../gateway/generation.ts";
import { withNewest } from "../gateway/upstream-state.ts";
import type { FirstLoad } from "../gateway/configuration.ts";
import { listenSecurely } from "../gateway/certificates.ts";
import { type Address, GatewayError, type ListenerAddress, type Log } from "../kit/index.ts";
import type { ReloadResult } from "../server/admin/endpoint.ts";
import { createAdminHandler } from "../server/admin/handler.ts";
import { type AdminServices, type ServiceName, SERVICES } from "../server/admin/services.ts";
import type { AdminSettings } from "../server/admin/access.ts";
import { cut, listenOn } from "../server/listen.ts";
import { createConsolePages, NOT_BUILT, PAGES_FOLDER, readPages } from "../server/pages.ts";
import { mergePoints } from "../telemetry/figures.ts";
import { aggregate, aggregateText, countsOf, samplesOf, type Scrape } from "../telemetry/metrics.ts";
import { type Answers, pinnedSettings, type Question } from "./messages.ts";
import { adminSettings, canAnswer, isBlocked, WorkerPool } from "./pool.ts";
import type { WorkerHandle } from "./worker-handle.ts";

interface SupervisorOptions {
  readonly start: FirstLoad;
  readonly log: Log;
}

interface Supervisor {
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
  const adminHandler = (ofStart: AdminSettings): RequestListener => {
    const settings = adminSettings(pool, ofStart);
    return createAdminHandler({
      ...adminRoutes(view, { log }),
      services: poolServices(pool),
      settings,
      pages: createConsolePages(files, () => settings().tokens.length > 0),
      log,
    });
  };
  const files = readPages(PAGES_FOLDER);
  if (files === null) log.warn({}, NOT_BUILT);
  const listening =
    admin === null
      ? null
      : await listenSecurely(
          [admin],
          adminHandler({ ...admin, trustedProxies: snapshot.server.trustedProxies }),
          { setting: "server.admin" },
          { log, now: Date.now },
        );
  try {
    await pool.start((worker) => view.retainCounters(worker));
  } catch (error) {
    if (listening) await cut(listening);
    throw error;
  }
  return {
    addresses: addresses.map(({ host, port, tls }) => ({ host, port, ...(tls && { secure: true }) })),
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
async function boundOnce(listen: readonly ListenerAddress[]): Promise<readonly ListenerAddress[]> {
  const { lowest, highest } = CHOSEN_PORTS;
  for (let choice = 1; ; choice += 1) {
    const chosen = listen.map(({ host, port }) => ({
      host,
      port: port === 0 ? randomInt(lowest, highest + 1) : port,
    }));
    try {
      const probe = await listenOn(chosen, (_req, res) => res.destroy(), { setting: "server.listen" });
      await cut(probe);
      return listen.map((address, index) => ({ ...address, ...probe.addresses[index] }));
    } catch (error) {
      if (choice === MAX_CHOICES || listen.every(({ port }) => port !== 0)) throw error;
    }
  }
}

/** For a worker to ask its store, also for a whole page of what it has. */
const CALL_TIMEOUT_MS = 10_000;

/** The store as a worker reaches it. @throws GatewayError OVERLOADED when none answers, and what the worker throws. */
export function poolServices(pool: Pick<WorkerPool, "workers">): AdminServices {
  const call = async (method: ServiceName, args: readonly unknown[]): Promise<unknown> => {
    const about = JSON.stringify({ method, args });
    for (const worker of pool.workers.filter(canAnswer)) {
      const answer = await worker.ask("call", { about, timeoutMs: CALL_TIMEOUT_MS }).catch((error: unknown) => {
        // One that lives was at it: another would be no better. Of one that ended, a write may have been done.
        if (!worker.ended) throw error;
        return null;
      });
      if (answer?.ok) return answer.value;
      if (answer !== null) throw new GatewayError(answer.code, answer.message, answer.details);
      if (SERVICES[method] === "write") {
        throw new GatewayError("OVERLOADED", "The worker that was asked has ended: look whether it was done");
      }
    }
    throw new GatewayError("OVERLOADED", "No worker answers");
  };
  const names = Object.keys(SERVICES) as ServiceName[];
  const methods = names.map((name) => [name, (...args: readonly unknown[]) => call(name, args)] as const);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each method of the worker's is called by its name
  return Object.fromEntries(methods) as unknown as AdminServices;
}

/** For a worker to read the configuration and to set its plugins up. */
const RELOAD_TIMEOUT_MS = 30_000;
/** For a worker to look through its whole decision log, and to give up what never ends. */
const EXPLAIN_TIMEOUT_MS = 90_000;
/** Files may be written while the workers read them: a reload is repeated until all workers have the same hash. */
const MAX_RELOAD_ROUNDS = 3;

interface PoolAdminView extends AdminView {
  /** Keeps the counters of a worker that has ended, so that their sums never go back. */
  retainCounters(worker: WorkerHandle): void;
}

/** What the admin listener shows of all workers: it asks those that can answer. @param file the configuration's path */
export function poolAdminView(pool: Pick<WorkerPool, "workers" | "stopping">, file: string): PoolAdminView {
  const latest = new WeakMap<WorkerHandle, Scrape>();
  /** Counters of workers that have ended. */
  let retained: Scrape = [];
  let lastReport: ProcessReport | null = null;

  /** The answers that came; a worker that is ending or blocked gives none. @param onAnswer called as each comes. */
  const askAll = async <Q extends Question>(
    question: Q,
    onAnswer: (worker: WorkerHandle, answer: Answers[Q]) => void = () => {},
    about = "",
  ): Promise<readonly Answers[Q][]> => {
    const ask = async (worker: WorkerHandle): Promise<readonly Answers[Q][]> => {
      try {
        const answer = await worker.ask(question, { about });
        onAnswer(worker, answer);
        return [answer];
      } catch {
        return [];
      }
    };
    return (await Promise.all(pool.workers.filter(canAnswer).map(ask))).flat();
  };

  /** The answer of one worker; null when none gives any. */
  const askOne = async <Q extends Question>(question: Q, about = ""): Promise<Answers[Q] | null> => {
    const worker = pool.workers.find(canAnswer);
    return worker === undefined ? null : worker.ask(question, { about }).catch(() => null);
  };

  /** null for a worker that ended meanwhile: its replacement reads the file by itself. */
  const changeOne = (
    worker: WorkerHandle,
    question: "reload" | "rollback",
    about: string,
  ): Promise<ReloadResult | null> =>
    worker
      .ask(question, { about, timeoutMs: RELOAD_TIMEOUT_MS })
      .catch(() => (worker.ended ? null : failure(`worker ${worker.pid} does not answer`, "see the log")));

  const failure = (message: string, hint: string): ReloadResult => {
    const place = { file, line: 1, column: 1, pointer: "" };
    return { ok: false, diagnostics: [{ ...place, rule: "workers-agree", severity: "error", message, hint }] };
  };

  const changeAll = async (question: "reload" | "rollback", about = ""): Promise<ReloadResult> => {
    for (let round = 0; round < MAX_RELOAD_ROUNDS; round++) {
      const serving = pool.workers.filter((worker) => worker.serving);
      const results = await Promise.all(serving.map((worker) => changeOne(worker, question, about)));
      const rejected = results.find((result) => result !== null && !result.ok);
      if (rejected) return rejected;
      const taken = results.filter((result) => result?.ok === true);
      const first = taken[0];
      if (first !== undefined && taken.every(({ hash }) => hash === first.hash)) {
        // Each worker has cooldowns of its own; those that a second round found are the first one's remains.
        const ended = taken.reduce((sum, { cooldowns_ended = 0 }) => sum + cooldowns_ended, 0);
        const { hash, guarded } = first;
        return { ok: true, hash, ...(guarded && { guarded }), ...(ended > 0 && { cooldowns_ended: ended }) };
      }
    }
    return failure("the workers do not agree on a configuration", "ask again when the files are no longer written to");
  };

  /** A number counts in one worker's list: another may be a change behind, and each round would lead further back. */
  const rollBack = async (to: string | number): Promise<ReloadResult> => {
    if (typeof to === "string") return changeAll("rollback", JSON.stringify(to));
    const report = await askOne("report");
    if (report === null) return failure("no worker answers", "see the log");
    return changeAll("rollback", JSON.stringify(report.status.generations[to]?.hash ?? to));
  };

  const scrapes = async (): Promise<readonly Scrape[]> => {
    // Stored as each answer comes: waiting for all could replace a later answer by an earlier one.
    await askAll("metrics", (worker, scrape) => latest.set(worker, scrape));
    return [retained, ...pool.workers.flatMap((worker) => [latest.get(worker) ?? []])];
  };

  return {
    async notReady() {
      if (pool.stopping) return ["draining"];
      const reasons = await askAll("ready");
      if (reasons.some(({ length }) => length === 0)) return [];
      const blocked = pool.workers.some(isBlocked) ? ["event loop blocked"] : [];
      const all = [...new Set([...reasons.flat(), ...blocked])];
      return all.length > 0 ? all : ["no worker answers"];
    },
    metrics: async () => aggregateText(await scrapes()),
    samples: async () => samplesOf(await scrapes()),
    histories: async () => mergeHistories(await askAll("histories")),
    async plan() {
      const plan = await askOne("plan");
      if (plan === null) throw new Error("no worker answers");
      return plan;
    },
    figures: async (since) => mergePoints(await askAll("figures", undefined, String(since))),
    async report() {
      const [first, ...more] = await askAll("report");
      if (first !== undefined) lastReport = mergeReports(first, more);
      else if (lastReport !== null) lastReport = { ...lastReport, complete: false };
      else throw new Error("no worker answers");
      return lastReport;
    },
    async source() {
      const [first] = await askAll("source");
      if (first === undefined) throw new Error("no worker answers");
      return first;
    },
    async streams() {
      // Each worker for its own, also while the store is away; one of them for the other machines'.
      const [own, all] = await Promise.all([askAll("ownStreams"), askOne("streams")]);
      const streams = new Map(
        [...(all?.streams ?? []), ...own.flatMap((list) => list.streams)].map((one) => [one.id, one]),
      );
      const isWhole = own.length === pool.workers.length && own.every(({ complete }) => complete);
      return { streams: [...streams.values()], complete: isWhole && all?.complete === true };
    },
    async endStream(id) {
      const own = await askAll("endOwnStream", undefined, id);
      if (own.includes(true)) return { ended: true, complete: true };
      return (await askOne("endStream", id)) ?? { ended: false, complete: false };
    },
    async settlements() {
      const all = await askAll("settlements");
      // The workers share one journal: each knows everything that is in it.
      const rejected = new Map(all.flatMap(({ rejected }) => rejected.map((one) => [one.id, one] as const)));
      return { pending: Math.max(0, ...all.map(({ pending }) => pending)), rejected: [...rejected.values()] };
    },
    reload: () => changeAll("reload"),
    rollback: rollBack,
    async explain(question) {
      const about = JSON.stringify(question);
      for (const worker of pool.workers.filter(canAnswer)) {
        const answer = await worker.ask("explain", { about, timeoutMs: EXPLAIN_TIMEOUT_MS }).catch(() => null);
        if (answer !== null) return answer;
        // One that is still at it, or failed at it, would only be joined by the others.
        if (!worker.ended) break;
      }
      return { ok: false, code: "OVERLOADED", message: "no worker answers" };
    },
    retainCounters(worker) {
      const scrape = latest.get(worker);
      if (scrape !== undefined) retained = aggregate([retained, countsOf(scrape)]);
    },
  };
}

/** The first worker's report; for every worker its own entry replaces the one that the store has of it. */
function mergeReports(first: ProcessReport, more: readonly ProcessReport[]): ProcessReport {
  const own = new Map(more.map(({ self }) => [self.instance, self]));
  const others = [...first.others.filter(({ instance }) => !own.has(instance)), ...own.values()];
  const statuses = [first, ...more].map(({ status }) => status);
  const pending = [...new Set(statuses.flatMap((status) => status.pending))];
  const rejection = statuses.find(({ last_rejection }) => last_rejection !== null)?.last_rejection ?? null;
  const upstreams = Object.entries(first.upstreams).map(([name, state]) => {
    return [
      name,
      withNewest(
        state,
        more.flatMap((report) => report.upstreams[name] ?? []),
      ),
    ] as const;
  });
  const status = { ...first.status, pending, last_rejection: rejection };
  return { ...first, upstreams: Object.fromEntries(upstreams), status, others };
}

/** Of an upstream, of all workers. */
const MAX_CHANGES = 50;

function mergeHistories(all: readonly Histories[]): Histories {
  const names = new Set(all.flatMap((histories) => Object.keys(histories)));
  return Object.fromEntries(
    [...names].map((name) => {
      const changes = all.flatMap((histories) => histories[name] ?? []);
      return [name, changes.toSorted((a, b) => (a.at < b.at ? -1 : 1)).slice(-MAX_CHANGES)];
    }),
  );
}
