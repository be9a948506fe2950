import {
  type Admission,
  type Client,
  decimal,
  GatewayError,
  type Hooks,
  type Host,
  type Identities,
  type InferenceRequest,
  type Log,
  type Observer,
  type Plugin,
  type Refusal,
  type Settlement,
  type Store,
  toNano,
} from "../../kit/index.ts";
import { takeHooks } from "../../kit/plugin-contract.ts";
import { buildPipeline, type Pipeline } from "../../pipeline/build.ts";
import { RequestRunner } from "../../pipeline/run.ts";
import { openStore } from "../../store/open.ts";
import { withoutWorld } from "../load.ts";
import type { Configuration } from "../offline.ts";
import { ReplayClock } from "./clock.ts";
import { countedTokens, type PastRequest } from "./past.ts";
import { PastUpstreams } from "./upstreams.ts";

/** What became of a request in a replay. */
export interface Replayed {
  /** The error's code, else how it ended. */
  readonly result: string;
  /** What the store refused it for. */
  readonly refusal: Refusal | null;
  readonly upstream: string | null;
  /** Nano-units. */
  readonly charge: bigint;
}

/** What the store is asked, with what it decides. */
export interface AdmissionObserver {
  /** Unix milliseconds. */
  admitted(admission: Admission, refusal: Refusal | null, at: number): void;
  /** Once for each admission, a refused one included. */
  settled(admission: Admission, givenBack: boolean, refusal: Refusal | null): void;
}

export interface ReplayOptions {
  readonly configuration: Configuration;
  /** Unix milliseconds. */
  readonly now: number;
  readonly keepsChoices: boolean;
  readonly admissions?: AdmissionObserver;
}

interface Running {
  readonly past: PastRequest;
  readonly onEnd: (replayed: Replayed) => void;
  admission: Admission | null;
  refusal: Refusal | null;
}

/** Balances are in no log: everybody has as much as a store holds, and nobody is charged. */
const CREDITS = toNano(decimal("1000000000"));
const NOT_STORED: Pick<Settlement, "charge" | "record"> = { charge: 0n, record: null };

/** One configuration, to which the requests of a log are put in the order of their arrival. */
export class ReplayEngine {
  readonly #clock: ReplayClock;
  readonly #store: Store;
  readonly #running = new Map<string, Running>();
  readonly #users = new Set<string>();
  readonly #options: ReplayOptions;
  /** Whether a plugin may answer in an upstream's stead. */
  #hasAnswering = false;
  #runner: RequestRunner | null = null;
  #pipeline: Pipeline | null = null;

  private constructor(options: ReplayOptions, clock: ReplayClock, store: Store) {
    this.#options = options;
    this.#clock = clock;
    this.#store = store;
  }

  /** @throws Error for a plugin whose setup fails. */
  static async open(options: ReplayOptions): Promise<ReplayEngine> {
    const clock = new ReplayClock(options.now);
    const store = await openStore("memory:", { serving: false, now: clock.now });
    const engine = new ReplayEngine(options, clock, store);
    try {
      await engine.#start();
      return engine;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /**
   * Lets time pass until the request arrives, and begins it.
   * @param number of the request, the same in every replay. @param onEnd called once, perhaps before this resolves
   */
  async begin(number: number, past: PastRequest, onEnd: (replayed: Replayed) => void): Promise<void> {
    await this.#clock.advance(past.startsAt);
    const { plan, user } = past.decision;
    const requestId = String(number);
    // Of somebody whose digest was not known every request is that of somebody else.
    const userId = user ?? `unknown-${requestId}`;
    if (!this.#users.has(userId)) {
      this.#users.add(userId);
      await this.#store.addUser({ id: userId, email: `${userId}@replay.invalid`, tier: plan!, credits: CREDITS });
    }
    this.#running.set(requestId, { past, onEnd, admission: null, refusal: null });
    const client = new PastClient();
    const request: InferenceRequest = {
      id: requestId,
      receivedAt: Math.floor(past.receivedAt),
      head: {
        requestId,
        credentials: { kind: "none" },
        ip: "",
        endpoint: past.decision.endpoint,
      },
      client,
      body: {
        call: past.call(this.#options.configuration.snapshot.models[past.decision.model!]?.voices ?? []),
        format: past.format(),
      },
      keep() {},
    };
    const { abortedBy } = past;
    const leave = abortedBy === null ? null : this.#clock.schedule(past.leavesAt, () => client.abort(abortedBy));
    const principal = { userId, tier: plan!, keyId: null };
    const ended = (): void => leave?.();
    this.#runner!.run(request, principal).then(ended, ended);
    await this.#clock.settle();
  }

  /** Lets what still runs end. */
  async end(): Promise<void> {
    await this.#clock.end(() => this.#running.size === 0);
    // What waits for something that is not in the log has no end.
    for (const [id] of this.#running) this.#ended(id, { result: "unended", upstream: null, charge: 0n });
  }

  async close(): Promise<void> {
    await this.#pipeline?.dispose();
    await this.#store.close();
  }

  async #start(): Promise<void> {
    const { configuration, keepsChoices } = this.#options;
    const snapshot = withoutWorld(configuration.snapshot);
    const clock = this.#clock;
    const pastOf = (requestId: string): PastRequest => this.#running.get(requestId)!.past;
    const upstreams = new PastUpstreams({ snapshot, clock, log: SILENT, pastOf, keepsChoices });
    const steps = configuration.steps.map(({ plugin, ...step }) => ({ ...step, plugin: this.#watched(plugin) }));
    const settings = { use: PAST, options: {}, when: null, fail: "closed" } as const;
    const observer = this.#observer();
    const host: Host = {
      snapshot,
      store: this.#watchedStore(),
      identities: NOBODY,
      streamKills: { watch: () => () => {} },
      breaker: (name, model) => upstreams.breaker(name, model),
      order: (step, exchange) => upstreams.order(step, exchange),
      now: clock.now,
      schedule: clock.schedule,
      countTokens: countedTokens,
      log: SILENT,
    };
    this.#pipeline = await buildPipeline([{ plugin: this.#pastPlugin(upstreams), settings }, ...steps], host, observer);
    this.#runner = new RequestRunner({
      pipeline: this.#pipeline,
      host,
      observer,
      send: (target, call, exchange, onSent) => upstreams.send(target, call, exchange, onSent),
    });
  }

  /** Before all others: says what no configuration decides. */
  #pastPlugin(upstreams: PastUpstreams): Plugin {
    return {
      name: PAST,
      stage: "guard",
      also: ["transform"],
      schema: new URL("past:"),
      setup: () => ({
        attempt: (target, { requestId }) => (upstreams.guard(target, requestId) ? undefined : false),
        answer: (call, { requestId }) => {
          const { past } = this.#running.get(requestId)!;
          const { lastingError } = past;
          if (lastingError !== null && past.serving === null && !past.answeredByPlugin) throw lastingError;
          if (!past.answeredByPlugin || !this.#hasAnswering) return null;
          const usage = past.decision.charge === "0" && !past.isCounted ? null : past.usage;
          return call.stream
            ? { type: "events", usage, source: upstreams.ownEvents(past) }
            : { type: "answer", usage, body: { choices: [] } };
        },
      }),
    };
  }

  /** A plugin whose work the clock waits for. */
  #watched(plugin: Plugin): Plugin {
    const clock = this.#clock;
    const setup: Plugin["setup"] = async (options, host) => {
      const hooks: Hooks = takeHooks(plugin, await plugin.setup(options, host));
      this.#hasAnswering ||= hooks.answer !== undefined;
      const waited = Object.entries(hooks).map(([name, hook]) => {
        const call = hook as (...args: unknown[]) => unknown;
        // A relay waits for upstreams, for which time has to pass.
        if (name === "relay") return [name, call];
        const during = (...args: unknown[]): unknown => {
          const result = call(...args);
          return result instanceof Promise ? clock.during(result) : result;
        };
        return [name, during];
      });
      return Object.fromEntries(waited) as Hooks;
    };
    return { ...plugin, setup };
  }

  /** The store, of which nothing is kept but counters. */
  #watchedStore(): Store {
    const { admissions } = this.#options;
    const store = this.#store;
    const clock = this.#clock;
    return {
      ...store,
      admit: async (admission) => {
        const result = await clock.during(Promise.resolve(store.admit(admission)));
        const running = this.#running.get(admission.id);
        const refusal = result.ok ? null : result.refusal;
        if (running) Object.assign(running, { admission, refusal });
        admissions?.admitted(admission, refusal, clock.now());
        return result;
      },
      settle: (settlement) => clock.during(Promise.resolve(store.settle({ ...settlement, ...NOT_STORED }))),
    };
  }

  #observer(): Observer {
    return {
      attempt() {},
      pluginFailed() {},
      refused: ({ requestId }, error) => {
        const result = error instanceof GatewayError ? error.code : "INTERNAL";
        this.#ended(requestId, { result, upstream: null, charge: 0n });
      },
      finished: ({ requestId }, { code, kind, target, bill, giveBack }) => {
        const upstream = target?.upstream ?? null;
        this.#ended(requestId, { result: code ?? kind, upstream, charge: bill.charge }, giveBack);
      },
    };
  }

  #ended(requestId: string, replayed: Omit<Replayed, "refusal">, givenBack = true): void {
    const running = this.#running.get(requestId);
    if (running === undefined) return;
    this.#running.delete(requestId);
    const { admission, refusal, onEnd } = running;
    if (admission !== null) this.#options.admissions?.settled(admission, givenBack, refusal);
    onEnd({ ...replayed, refusal });
  }
}

const PAST = "past";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Who calls is said by the log. */
const NOBODY: Identities = {
  byKey: () => null,
  presume: () => null,
  confirm: () => true,
  forget() {},
  byToken: () => null,
};

/** Nobody reads. */
class PastClient implements Client {
  readonly #abort = new AbortController();
  #onShutdown: (() => void) | null = null;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(reason: "client_gone" | "killed" | "shutdown"): void {
    this.#abort.abort(reason);
    if (reason === "shutdown") this.#onShutdown?.();
  }

  onShutdown(listener: () => void): void {
    this.#onShutdown = listener;
  }

  write(): boolean {
    return true;
  }

  answer(): void {}
  startStream(): void {}
  onDrain(): void {}
  end(): void {}
  cut(): void {}
  refuse(): void {}
}
