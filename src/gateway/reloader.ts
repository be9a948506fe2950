import type { Diagnostic } from "../config/diagnostics.ts";
import type { RuleId } from "../config/rules.ts";
import type { LoadResult, Rejected } from "../config/load.ts";
import { inBackground, type Log, type Snapshot } from "../kit/index.ts";
import { modelChanges } from "../config/listed-models.ts";
import { RequestCounts } from "./comparison.ts";
import type { ConfigStatus } from "./process-report.ts";
import { faultDiagnostic, isLoaded, type Loaded, restartSections, setupDiagnostic } from "./configuration.ts";
import type { Generation, Instead, PassedOver, ProcessState, ReloadEvent, ReloadResult } from "./generation.ts";
import { type Agreement, Guard, type GuardDecision, type GuardReport } from "./guard.ts";
import type { KeptGenerations, RollbackTarget } from "./kept-generations.ts";

export type { ConfigStatus } from "./process-report.ts";

export interface ReloaderParts {
  /** With the generation of the start. */
  readonly state: Pick<ProcessState, "generation" | "activate" | "candidate">;
  /** The files that the start has read, and their hash; null where something else serves in their place. */
  readonly files: LoadResult["files"];
  readonly fileHash: string | null;
  /** The file, where the start serves another configuration as the other instances do. */
  readonly passedOver?: PassedOver | null;
  /** @param known values of commands that replace the value of a command that fails. Without it, a failure is an error. */
  readonly load: (known?: ReadonlyMap<string, string>) => Promise<LoadResult>;
  /** A configuration with the models that providers list now; itself, where it publishes none. */
  readonly listed: (loaded: Loaded) => Promise<Loaded>;
  /** @throws Error when a plugin's setup fails. */
  readonly build: (loaded: Loaded, number: number, onProbation: boolean) => Promise<Generation>;
  readonly kept: Pick<KeptGenerations, "find" | "list" | "load">;
  /** How the instances of the store decide about a candidate together. */
  readonly agreement: (base: Snapshot, candidate: Snapshot) => Agreement;
  /** Warnings of the configuration that serves. */
  readonly warnings: () => readonly Diagnostic[];
  /** What providers have listed, by upstream. */
  readonly lists: () => NonNullable<ConfigStatus["model_lists"]>;
  readonly onEvent: (event: ReloadEvent) => void;
  /** Before its result is told. */
  readonly afterReload: (result: ReloadResult, by: "file" | "reload") => ReloadResult;
  readonly log: Pick<Log, "error" | "info" | "warn">;
  readonly now: () => number;
}

const MAX_REPORTED_GUARDS = 4;

function sameOutputs(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([command, output]) => b.get(command) === output);
}

interface Probation {
  readonly guard: Guard;
  readonly generation: Generation;
  readonly loaded: Loaded;
}

/**
 * Swaps whole configurations: a bad one changes nothing, requests in flight finish on the one they began with. Where the
 * one in force has a guard, the next serves a share of the users until the guard decides.
 */
export class Reloader {
  /** Until a configuration is taken. */
  rejected: Rejected | null = null;
  readonly #parts: ReloaderParts;
  readonly #restart: Readonly<Record<string, string>>;
  /** What the latest reload was asked for by: a change of the files, or somebody. */
  askedBy: "file" | "reload" = "reload";
  #files: LoadResult["files"];
  #fileHash: string | null;
  #number: number;
  #pending: readonly string[] = [];
  #passedOver: PassedOver | null = null;
  #probation: Probation | null = null;
  /** The latest last. */
  #guards: readonly Guard[] = [];
  #queue: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** Replaced, with requests still in flight or plugins being disposed of. */
  readonly #retiring = new Set<Generation>();

  constructor(parts: ReloaderParts) {
    this.#parts = parts;
    this.#files = parts.files;
    this.#fileHash = parts.fileHash;
    this.#passedOver = parts.passedOver ?? null;
    this.#number = this.#current.number;
    this.#restart = restartSections(this.#current.snapshot);
  }

  /** The files to watch. A reload that changes nothing may change them: a rejected text can include other files. */
  get files(): LoadResult["files"] {
    return this.#files;
  }

  /** Of the running guard and the latest ones: others may not have heard of their end. */
  get reports(): readonly GuardReport[] {
    return this.#guards.map((guard) => guard.report);
  }

  /** What serves in place of the file, while it is compared or passed over. */
  get instead(): Instead | null {
    const { hash: serves } = this.#current.snapshot;
    if (this.#probation) return { of: this.#probation.guard.candidate, serves, reason: null, at: this.#time() };
    const passed = this.#passedOver;
    return passed && { of: passed.hash, serves, reason: passed.reason, at: passed.at };
  }

  get status(): ConfigStatus {
    const { number, snapshot, loadedAt } = this.#current;
    const lists = this.#parts.lists();
    return {
      generation: number,
      hash: snapshot.hash,
      file: snapshot.file,
      loaded_at: new Date(loadedAt).toISOString(),
      warnings: this.#parts.warnings(),
      pending: this.#pending,
      ...(Object.keys(lists).length > 0 && { model_lists: lists }),
      last_rejection: this.rejected && { at: this.rejected.at, diagnostics: this.rejected.diagnostics },
      passed_over: this.#passedOver,
      guard: this.#guards.at(-1)?.status ?? null,
      generations: this.#parts.kept.list.map((kept) => ({ ...kept, serves: kept.hash === snapshot.hash })),
    };
  }

  get #current(): Generation {
    return this.#parts.state.generation;
  }

  /** The file could not serve at the start, and the last good configuration does. */
  rejectedAtStart({ diagnostics, sources }: Pick<LoadResult, "diagnostics" | "sources">): void {
    this.rejected = { at: this.#time(), diagnostics, sources };
  }

  /** Reads the files again. One change at a time, so that the text written last is the one that serves. */
  reload(by: "file" | "reload" = "reload"): Promise<ReloadResult> {
    return this.#enqueue(() => {
      this.askedBy = by;
      return this.#reload().then((result) => this.#parts.afterReload(result, by));
    });
  }

  /**
   * Runs the commands of the configuration in force again and serves by their new values, for all users at once. A file
   * that has changed meanwhile, and one that does not serve, are left to a reload.
   */
  refresh(): Promise<void> {
    return this.#enqueue(async () => {
      if (this.#closed || this.#probation !== null) return;
      const { outputs } = this.#current.loaded;
      const loaded = await this.#parts.load(outputs);
      if (!isLoaded(loaded) || loaded.hash !== this.#current.snapshot.hash) return;
      if (sameOutputs(loaded.outputs, outputs)) return;
      this.#parts.log.info({ hash: loaded.hash }, "commands gave new values: they serve from now on");
      this.askedBy = "reload";
      this.#parts.afterReload(await this.#safely(() => this.#swap(loaded, "taken")), "reload");
    });
  }

  /** Serves the same configuration with the models that providers list now, if they are others: no guard compares it. */
  relist(): Promise<void> {
    return this.#enqueue(async () => {
      await this.#safely(async () => {
        await this.#relist();
        return { ok: true, hash: this.#current.snapshot.hash, changed: false };
      });
    });
  }

  /** Returns to a generation that served before, for all users at once; or promotes the candidate, if that is meant. */
  rollback(to: RollbackTarget): Promise<ReloadResult> {
    return this.#enqueue(() => this.#safely(() => this.#rollback(to)));
  }

  /** Retires every generation. Resolves when all are disposed of, and at the latest when `giveUp` is aborted. */
  async close(giveUp: AbortSignal): Promise<void> {
    this.#closed = true;
    const late = new Promise((resolve) => giveUp.addEventListener("abort", resolve));
    const retired = new Set<Generation>();
    const retireAll = async (): Promise<void> => {
      const all = new Set([...this.#retiring, this.#current, this.#probation?.generation ?? this.#current]);
      // Undecided: the others go on comparing, a start takes the file as it is.
      this.#probation?.guard.close();
      const left = [...all].filter((generation) => !retired.has(generation));
      for (const generation of left) retired.add(generation);
      await Promise.all(left.map((generation) => generation.retire(giveUp)));
    };
    // A change under way may still have put one in force.
    await Promise.all([retireAll(), Promise.race([this.#queue.then(retireAll), late])]);
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(work);
    this.#queue = next.catch(() => undefined);
    return next;
  }

  /** A bug of the gateway's own, or of a plugin, is no reason to stop serving. */
  async #safely(work: () => Promise<ReloadResult>): Promise<ReloadResult> {
    try {
      if (this.#closed) return this.#stopping();
      return await work();
    } catch (error) {
      return this.#reject([faultDiagnostic("reload-fault", "", this.#current.snapshot.file, error)]);
    }
  }

  #reload(): Promise<ReloadResult> {
    return this.#safely(async () => {
      const loaded = await this.#parts.load();
      this.#files = loaded.files;
      if (!isLoaded(loaded)) return this.#reject(loaded.diagnostics, loaded.sources);
      this.#fileHash = loaded.hash;
      return loaded.hash === this.#current.snapshot.hash ? this.#keep(loaded) : this.#take(loaded);
    });
  }

  /** The file is what serves. */
  async #keep(loaded: Loaded): Promise<ReloadResult> {
    const { hash } = loaded;
    await this.#dropCandidate("replaced", "the file is again what served before");
    if (hash !== this.#current.snapshot.hash) return this.#take(loaded);
    const changed = await this.#relist();
    if (this.rejected) this.#parts.log.info({ hash }, "configuration is valid again; already serving it");
    // The same file with other secrets: nothing that a guard could compare.
    if (!sameOutputs(loaded.outputs, this.#current.loaded.outputs)) return this.#swap(loaded, "taken");
    this.rejected = null;
    this.#passedOver = null;
    return { ok: true, hash, changed };
  }

  /** @returns whether other models serve now. While a guard compares two configurations neither of them changes. */
  async #relist(): Promise<boolean> {
    if (this.#probation !== null) return false;
    const old = this.#current;
    const loaded = await this.#parts.listed(old.loaded);
    const { added, removed, updated } = modelChanges(old.snapshot.models, loaded.snapshot.models);
    if (added.length + removed.length + updated.length === 0) return false;
    const next = await this.#build(loaded, false);
    if (!("retire" in next)) return false;
    this.#parts.state.activate(next);
    this.#retire(old);
    this.#parts.onEvent({ type: "relisted", hash: loaded.hash, loaded, changes: { added, removed, updated } });
    return true;
  }

  async #take(loaded: Loaded): Promise<ReloadResult> {
    const { hash } = loaded;
    if (hash === this.#probation?.guard.candidate) return { ok: true, hash, changed: false, guarded: true };
    const passed = this.#passedOver;
    if (hash === passed?.hash) return this.#reject([this.#refusal("rolled-back", passed.reason)], loaded.sources);
    await this.#dropCandidate("replaced", "the file has changed again");
    // A guard that ended just now may have put this very text in force.
    if (hash === this.#current.snapshot.hash) return { ok: true, hash, changed: true };
    return this.#current.snapshot.reload.guard === null ? this.#swap(loaded, "taken") : this.#try(loaded);
  }

  /** Throws only before anything has changed. */
  async #swap(loaded: Loaded, type: "taken" | "returned"): Promise<ReloadResult> {
    const next = await this.#build(loaded, false);
    return "retire" in next ? this.#activate(next, loaded, type) : next;
  }

  async #build(loaded: Loaded, onProbation: boolean): Promise<Generation | (ReloadResult & { readonly ok: false })> {
    try {
      this.#number += 1;
      const listed = await this.#parts.listed(loaded);
      const built = await this.#parts.build(listed, this.#number, onProbation);
      if (!this.#closed) return built;
      await built.retire();
      return this.#stopping();
    } catch (error) {
      this.#number -= 1;
      return this.#reject([setupDiagnostic(this.#current.snapshot.file, error)], loaded.sources);
    }
  }

  #activate(next: Generation, loaded: Loaded, type: "taken" | "returned"): ReloadResult {
    const sections = restartSections(next.snapshot);
    const old = this.#current;
    this.#parts.state.activate(next);
    this.rejected = null;
    this.#passedOver = null;
    this.#pending = Object.keys(sections).filter((name) => sections[name] !== this.#restart[name]);
    this.#retire(old);
    this.#parts.onEvent({ type, hash: loaded.hash, loaded });
    return { ok: true, hash: loaded.hash, changed: true };
  }

  #retire(generation: Generation): void {
    this.#retiring.add(generation);
    const retired = generation.retire().finally(() => this.#retiring.delete(generation));
    inBackground(this.#parts.log, "retiring a configuration", retired);
  }

  /** Lets it serve a share of the users. */
  async #try(loaded: Loaded): Promise<ReloadResult> {
    const { state, agreement, now, log, onEvent } = this.#parts;
    const base = this.#current;
    const generation = await this.#build(loaded, true);
    if (!("retire" in generation)) return generation;
    const counts = { base: new RequestCounts(), candidate: new RequestCounts() };
    base.trial.counts = counts.base;
    generation.trial.counts = counts.candidate;
    const guard: Guard = new Guard({
      settings: base.snapshot.reload.guard!,
      base: base.snapshot.hash,
      candidate: loaded.hash,
      counts,
      earlier: this.reports,
      agreement: agreement(base.snapshot, generation.snapshot),
      now,
      log,
      onDecision: (decision) => {
        const applied = this.#enqueue(() => Promise.resolve(this.#apply(guard, decision)));
        inBackground(log, "applying a guard's decision", applied);
      },
    });
    this.#probation = { guard, generation, loaded };
    this.#guards = [...this.#guards.slice(1 - MAX_REPORTED_GUARDS), guard];
    this.rejected = null;
    this.#passedOver = null;
    state.candidate = { generation, takes: (userId) => guard.takes(userId) };
    onEvent({ type: "guarded", hash: loaded.hash, loaded });
    await guard.start();
    return { ok: true, hash: loaded.hash, changed: true, guarded: true };
  }

  /** Does what a guard has decided, once. */
  #apply(guard: Guard, decision: GuardDecision): void {
    const probation = this.#probation;
    if (probation?.guard !== guard || this.#closed) return;
    const { generation, loaded } = probation;
    this.#probation = null;
    this.#parts.state.candidate = null;
    this.#current.trial.counts = null;
    generation.trial.counts = null;
    this.#parts.onEvent({ type: "decided", hash: loaded.hash, decision });
    if (decision.result === "promoted") {
      generation.promote();
      this.#activate(generation, loaded, "taken");
    } else {
      // One that was replaced is no worse for it.
      const { result, reason, at } = decision;
      if (result === "rolled_back") this.#passedOver = { hash: loaded.hash, reason, at };
      this.#retire(generation);
    }
    // Lists that changed meanwhile have waited for this.
    inBackground(this.#parts.log, "publishing what providers list", this.relist());
  }

  /** The instances may have decided otherwise just now: then that is what happens. */
  async #dropCandidate(result: "replaced" | "rolled_back", reason: string): Promise<void> {
    const guard = this.#probation?.guard;
    if (guard !== undefined) this.#apply(guard, await guard.conclude(result, reason));
  }

  async #rollback(to: RollbackTarget): Promise<ReloadResult> {
    const { kept } = this.#parts;
    const guard = this.#probation?.guard;
    const start = typeof to === "string" && to.length >= 4 ? to.toLowerCase() : null;
    if (guard !== undefined && start !== null && guard.candidate.startsWith(start)) {
      if (kept.list.some(({ hash }) => hash !== guard.candidate && hash.startsWith(start))) {
        const several = `"${start}" is the beginning of several hashes`;
        return { ok: false, diagnostics: [this.#refusal("unknown-generation", several)] };
      }
      const decision = await guard.conclude("promoted", "asked for");
      this.#apply(guard, decision);
      if (decision.result !== "promoted") return this.#reject([this.#refusal("rolled-back", decision.reason)]);
      return { ok: true, hash: guard.candidate, changed: true };
    }
    const found = kept.find(to);
    // One that cannot be done says nothing about the file: it is no rejection.
    if (typeof found === "string") return { ok: false, diagnostics: [this.#refusal("unknown-generation", found)] };
    await this.#dropCandidate("rolled_back", "asked for");
    const { hash } = this.#current.snapshot;
    if (found.hash === hash) return { ok: true, hash, changed: guard !== undefined };
    const loaded = await kept.load(found);
    if (loaded === null)
      return { ok: false, diagnostics: [this.#refusal("unknown-generation", "its copies are gone")] };
    if (!isLoaded(loaded)) return { ok: false, diagnostics: loaded.diagnostics };
    const result = await this.#swap(loaded, "returned");
    if (result.ok && this.#fileHash !== null && this.#fileHash !== loaded.hash)
      this.#passedOver = { hash: this.#fileHash, reason: "a rollback was asked for", at: this.#time() };
    return result;
  }

  #reject(
    diagnostics: readonly Diagnostic[],
    sources: Rejected["sources"] = [],
  ): ReloadResult & { readonly ok: false } {
    this.rejected = { at: this.#time(), diagnostics, sources };
    this.#parts.onEvent({ type: "rejected", diagnostics });
    return { ok: false, diagnostics };
  }

  #stopping(): ReloadResult & { readonly ok: false } {
    return { ok: false, diagnostics: [this.#refusal("reload-fault", "the gateway stops")] };
  }

  #refusal(rule: RuleId, message: string): Diagnostic {
    return faultDiagnostic(rule, "", this.#current.snapshot.file, message);
  }

  #time(): string {
    return new Date(this.#parts.now()).toISOString();
  }
}
