import { mkdir } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { AccessTrail } from "../accounts/access-trail.ts";
import { createAuthentication } from "../accounts/authenticate.ts";
import type { SignInLinks } from "../accounts/sign-in/links.ts";
import { createSignIn } from "../accounts/sign-in/sign-in.ts";
import { createTokens } from "../accounts/tokens.ts";
import { DIALECTS } from "../dialects/capabilities.ts";
import {
  GatewayError,
  type Identities,
  type Observer,
  proxyFor,
  proxyRules,
  type RequestTrace,
  type Snapshot,
  type TelemetrySettings,
  traceParentOf,
} from "../kit/index.ts";
import { limitKey } from "../server/client-address.ts";
import type { SignIn } from "../server/endpoint.ts";
import { RecentThoughts } from "../pipeline/thoughts.ts";
import { SimulatorOnDemand } from "../simulator/on-demand.ts";
import { isShared, openConfigured } from "../store/open.ts";
import { type ResilientStore, type StoreState, withResilience } from "../store/resilient/store.ts";
import { LineFile } from "../telemetry/decision-file.ts";
import { Digests } from "../telemetry/digests.ts";
import { Figures, untilNextSecond } from "../telemetry/figures.ts";
import { type GatewayLog, withConfig } from "../telemetry/log.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { createObserver, type GatewayObserver } from "../telemetry/observer.ts";
import { openOtlp, type OtlpOptions, recordedTrace } from "../telemetry/otlp.ts";
import { DeadlineSweeper } from "../upstream/send/deadlines.ts";
import { createUpstreams, type Upstreams } from "../upstream/upstreams.ts";
import { dataFolder, type FirstLoad, type LoadSettings } from "./configuration.ts";
import { everyBreaker } from "./cooldowns.ts";
import { RunningKeys } from "./idempotency.ts";
import { type HostServices, type ProcessState, shortHash, type Trial } from "./generation.ts";
import type { Closing } from "./shutdown.ts";
import { KillSwitch } from "./stream-kill.ts";
import { createTokenizer, type Tokenizer } from "./tokenizer.ts";

/** What every step of a start is given. */
export interface StartContext {
  readonly settings: LoadSettings;
  readonly start: FirstLoad;
  /** Sign-in links of `gateway dev`; null for every other start. */
  readonly links: SignInLinks | null;
  /** Unix milliseconds; null: the system's clock, and the store's own where it has one. */
  readonly clock: (() => number) | null;
  readonly now: () => number;
  /** Milliseconds with fractions, for durations. */
  readonly elapsed: () => number;
  readonly log: GatewayLog;
  readonly state: ProcessState;
  /** Each step adds what it has opened. */
  readonly closing: Closing;
}

export interface Storage {
  readonly store: ResilientStore;
  /** Whether other processes may use it at the same time. */
  readonly isShared: boolean;
  readonly storeState: () => StoreState;
}

/**
 * Opens the configured store as a process serves from it: it may be away at times, also at the start.
 * @throws Error that names the remedy, for a store or a folder that cannot be used.
 */
export async function openStorage({
  settings,
  start,
  clock,
  now,
  log,
  state,
  closing,
}: StartContext): Promise<Storage> {
  const { snapshot } = start.loaded;
  const { instance } = state;
  const journal = snapshot.store.url.reveal() === "memory:" ? null : await journalFile(snapshot, settings.env);
  const opened = await openConfigured(snapshot.store, {
    serving: true,
    now,
    ...(clock !== null && { clock }),
    instance,
    log,
    strict: settings.strict ?? false,
  });
  let storeState: StoreState = { away: false, pending: 0, rejected: 0, local: 0 };
  const store = withResilience(opened, {
    onFailure: () => snapshot.store.onFailure,
    journal,
    onlyRejected: !isShared(snapshot.store),
    log,
    now,
    onState: (changed) => {
      storeState = changed;
    },
  });
  closing.add(() => store.close());
  // Frees reservations of admissions whose answer was lost; everything else is settled by then.
  closing.add(() => store.markInstanceDead(instance));
  closing.add((deadline) => store.done(deadline?.leftMs));
  return { store, isShared: isShared(snapshot.store), storeState: () => storeState };
}

/**
 * The file for settlements that the store does not take: for now if it is on another machine, for good with any store.
 * @throws Error that names the remedy.
 */
async function journalFile({ store, file }: Snapshot, env: LoadSettings["env"]): Promise<string> {
  const folder = dataFolder(store.url.reveal(), file, env);
  // A file store makes its folder itself, and its error says more.
  if (!isShared(store)) return join(folder, "journal.db");
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`no folder for settlements that the store does not take (${reason}): set GATEWAY_DATA to one`, {
      cause: error,
    });
  }
  return join(folder, "journal.db");
}

export interface Accounts {
  readonly identities: Identities;
  readonly signIn: SignIn;
  readonly killSwitch: KillSwitch;
}

export async function openAccounts(
  context: StartContext,
  { store }: Pick<Storage, "store">,
  limits: { readonly maxKeys?: number } = {},
): Promise<Accounts> {
  const { settings, start, links, now, log, state, closing } = context;
  const proxies = proxyRules(settings.env);
  const auth = (): Snapshot["auth"] => state.snapshot.auth;
  const tokens = await createTokens({
    settings: () => auth().tokens,
    now,
    remember: (name, value) => store.remember(name, value),
  });
  // Changes of the store's section need a restart.
  const { onFailure } = start.loaded.snapshot.store;
  const identities = createAuthentication({ store, tokens, now, onFailure: () => onFailure, ...limits });
  closing.add(() => identities.close());
  const signIn = createSignIn({ settings: auth, store, tokens, limitKey, links, now, log, proxies });
  closing.add(() => signIn.close());
  const killSwitch = new KillSwitch({ store, log });
  closing.add(() => killSwitch.close());
  return { identities, signIn, killSwitch };
}

/** Writes sign-ins into the audit log, and counts them. */
export function openAccessTrail(
  { now, log, closing }: StartContext,
  { store }: Pick<Storage, "store">,
  { metrics }: Pick<Telemetry, "metrics">,
): AccessTrail {
  const trail = new AccessTrail({
    store: {
      throttle: (counters, window) => store.throttle(counters, window),
      async writeAudit(entry) {
        await store.writeAudit(entry);
        metrics.audited(entry.action, entry.outcome);
      },
    },
    limitKey,
    count: (who, result, count) => metrics.signedIn(who, result, count),
    now,
    log,
  });
  closing.add(() => trail.close());
  return trail;
}

/** Connections, breakers and health; the simulator starts when an upstream first needs it. */
export function openUpstreams({ settings, now, log, closing }: StartContext): Upstreams {
  const proxies = proxyRules(settings.env);
  for (const variable of proxies.unusable)
    log.warn({ variable }, "variable holds no http:// or https:// proxy: not used");
  // Few gateways that listen have an upstream in it.
  const simulator = new SimulatorOnDemand(async () => (await import("../simulator/server.ts")).startSimulator());
  const upstreams = createUpstreams({
    dialects: DIALECTS,
    now,
    log,
    simulated: (script, dialect) => simulator.baseUrl(script, dialect),
    proxies,
  });
  closing.add(async () => {
    await upstreams.close();
    await simulator.close();
  });
  return upstreams;
}

export interface Telemetry {
  readonly metrics: Metrics;
  readonly figures: Figures;
  /** Of requests that no generation has served. */
  readonly observer: GatewayObserver;
  /** Of the requests of one generation: their lines and counts carry its hash, and while it is on trial they are compared. */
  readonly observerOf: (snapshot: Snapshot, trial: Trial) => Observer;
  readonly traceOf: (headers: IncomingHttpHeaders) => RequestTrace | null;
  /** By what lines of log tell users and keys apart; null where they do not. */
  readonly digestOf: (id: string) => string | null;
  /** Before a configuration is put in force. Never rejects. */
  prepare(settings: TelemetrySettings): Promise<void>;
  /** Opens the decision log again, by the settings in force. */
  reopen(): void;
}

/** The one in force, a candidate, and those that a rollback can return to. */
const MAX_COUNTED_GENERATIONS = 12;

export async function openTelemetry(context: StartContext, { store, storeState }: Storage): Promise<Telemetry> {
  const { now, log, state, closing } = context;
  const otlp = otlpSettings(context);
  const sink = otlp && (await openOtlp(otlp));
  if (sink !== null) closing.add(() => sink.close());
  const digests = new Digests({ remember: (name, value) => store.remember(name, value), now, log });
  const decisions = new LineFile({ now, log });
  closing.add(() => decisions.close());
  /** Requests by short hash and outcome, the latest generations last. */
  const counts = new Map<string, Map<string, number>>();
  const metrics = createMetrics({
    breakers: () => everyBreaker(state.generation),
    manual: () => state.manual(),
    health: () => state.health(),
    activeStreams: () => state.activeStreams(),
    shedding: () => state.shedder?.counts() ?? [],
    store: storeState,
    dropped: () => ({ spans: sink?.droppedSpans ?? 0, decisions: decisions.dropped }),
    *generations() {
      for (const [config, outcomes] of counts) for (const [kind, count] of outcomes) yield [config, kind, count];
    },
  });
  const figures = new Figures({ now, inFlight: () => state.inFlight(), streams: () => state.activeStreams() });
  closing.add(eachSecond(now, () => figures.tick()));
  const accessLog = (): TelemetrySettings["accessLog"] => state.snapshot.telemetry.accessLog;
  const parts = { metrics, figures, logRequests: log.enabled("info"), accessLog, digests, decisions, sink, now };
  const observerOf = (snapshot: Snapshot, trial: Trial): Observer => {
    const config = shortHash(snapshot.hash);
    const outcomes = counts.get(config) ?? new Map<string, number>();
    counts.delete(config);
    counts.set(config, outcomes);
    for (const oldest of counts.keys()) if (counts.size > MAX_COUNTED_GENERATIONS) counts.delete(oldest);
    const observer = createObserver({ ...parts, log: withConfig(log, () => config) }).of(snapshot);
    return {
      ...observer,
      refused(request, error, receivedAt, known) {
        observer.refused(request, error, receivedAt, known);
        const isFault = !(error instanceof GatewayError) || error.code === "INTERNAL";
        if (isFault) trial.counts?.failedEarly();
      },
      finished(exchange, outcome) {
        observer.finished(exchange, outcome);
        outcomes.set(outcome.kind, (outcomes.get(outcome.kind) ?? 0) + 1);
        trial.counts?.finished(exchange, outcome);
      },
    };
  };
  const prepare = async ({ decisionLog, accessLog }: TelemetrySettings): Promise<void> => {
    if (decisionLog !== null || accessLog.users) await digests.prepare();
  };
  const reopen = (): void => decisions.configure(state.snapshot.telemetry.decisionLog);
  await prepare(state.snapshot.telemetry);
  reopen();
  const traceOf = ({ traceparent, tracestate }: IncomingHttpHeaders): RequestTrace | null => {
    if (otlp !== null) return recordedTrace(traceparent, tracestate, otlp.sample);
    return traceparent === undefined ? null : traceParentOf(traceparent, tracestate);
  };
  const digestOf = (id: string): string | null => (accessLog().users ? digests.of(id) : null);
  const observer = createObserver({ ...parts, log });
  return { metrics, figures, observer, observerOf, traceOf, digestOf, prepare, reopen };
}

/** Just after each whole second. @returns ends it. */
export function eachSecond(now: () => number, call: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    timer = setTimeout(() => {
      arm();
      call();
    }, untilNextSecond(now())).unref();
  };
  arm();
  return () => clearTimeout(timer);
}

/** As configured, else as OpenTelemetry's own variables say; null where nothing is to be sent. */
function otlpSettings({
  settings,
  start,
  state,
  log,
}: StartContext): (OtlpOptions & { readonly sample: number }) | null {
  const { otlp } = start.loaded.snapshot.telemetry;
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = "", OTEL_SDK_DISABLED: disabled } = settings.env ?? {};
  if ((otlp === null && endpoint === "") || disabled === "true") return null;
  const proxies = proxyRules(settings.env);
  const headers = mapValues(otlp?.headers ?? {}, (value) => value.reveal());
  return {
    endpoint: otlp?.endpoint ?? endpoint.replace(/\/+$/, ""),
    headers,
    sample: otlp?.sample ?? 1,
    interval: otlp?.interval ?? OTLP_INTERVAL_MS,
    attributes: { "service.instance.id": state.instance },
    schedule(ms, callback) {
      const timer = setTimeout(callback, ms).unref();
      return () => clearTimeout(timer);
    },
    log,
    proxyTo: (url) => proxyFor(url, proxies),
  };
}

const OTLP_INTERVAL_MS = 30_000;

function mapValues<From, To>(record: Readonly<Record<string, From>>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

export function openTokenizer({ closing }: StartContext): Tokenizer {
  const tokenizer = createTokenizer();
  closing.add(() => tokenizer.close());
  return tokenizer;
}

/** The idempotency keys of what this process runs. */
export function openKeys({ log, closing }: Pick<StartContext, "log" | "closing">, { store }: Pick<Storage, "store">) {
  const keys = new RunningKeys({ store, log });
  closing.add(() => keys.close());
  return keys;
}

/** What plugins of every configuration reach through their host. */
export function hostServices(
  { now, elapsed, log }: StartContext,
  { store }: Storage,
  { identities, killSwitch }: Accounts,
  { count }: Pick<Tokenizer, "count">,
): HostServices {
  const timers = new DeadlineSweeper(now);
  return {
    store,
    identities,
    streamKills: killSwitch,
    now,
    elapsed,
    schedule: (at, callback) => timers.schedule(at, callback),
    countTokens: count,
    thoughts: new RecentThoughts(),
    log,
  };
}
