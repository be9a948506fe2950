import { DIALECTS } from "../dialects/capabilities.ts";
import type { Loaded } from "../gateway/configuration.ts";
import { createGeneration, ProcessState } from "../gateway/generation.ts";
import { publicServer } from "../gateway/listeners.ts";
import {
  hostServices,
  openAccounts,
  openKeys,
  openStorage,
  openTokenizer,
  type StartContext,
} from "../gateway/services.ts";
import { Closing } from "../gateway/shutdown.ts";
import type { Tokenizer } from "../gateway/tokenizer.ts";
import type { ValidateBody } from "../server/body-schemas.ts";
import { serverOfStreams } from "../server/listen.ts";
import { scriptedOrigin, scriptedUrl } from "../simulator/server.ts";
import type { GatewayLog } from "../telemetry/log.ts";
import type { ManualSetting } from "../upstream/state/manual.ts";
import { createUpstreams } from "../upstream/upstreams.ts";
import { CarriedCounters } from "./carried.ts";
import { VirtualClock } from "./clock.ts";
import { withoutWorld } from "./load.ts";
import { type Fault, Providers } from "./providers.ts";
import { Recorder } from "./record.ts";
import { existing, type Offline, Room } from "./room.ts";

/** A room is small and short-lived. */
const MAX_KEYS_COUNT = 1_000;

/** For requests and plugins that have not ended by themselves. */
const CLOSE_TIMEOUT_MS = 2_000;

/** What serves, as far as a room needs it. */
export type Configuration = Pick<Loaded, "snapshot" | "steps">;

export interface OfflineOptions {
  /** Unix milliseconds at which the clock begins. */
  readonly now: number;
  /** By upstream; the others are as the configuration says, healthy when it says nothing. */
  readonly faults?: Readonly<Record<string, Fault>>;
  /** What operators have set, by upstream; nothing unless given. */
  readonly manual?: ReadonlyMap<string, ManualSetting>;
  /** Plan of users that name none; that of `auth.signup` unless given. */
  readonly tier?: string;
  /** Nano-units that users begin with; a million of the currency unless given. */
  readonly credits?: bigint;
  /** Uniform in [0, 1), for balancing and jitter; the same sequence in every room unless given. */
  readonly random?: () => number;
  /** Shared by several rooms, because it takes long to load; one of its own unless given. Not closed. */
  readonly tokenizer?: Pick<Tokenizer, "count" | "countForClient">;
  /** The same: schemas are compiled with the first body of each kind. */
  readonly validateBody?: ValidateBody;
}

/** @throws Error for a plugin whose setup fails, or a fault of an upstream that there is not. */
export async function openOffline(configuration: Configuration, options: OfflineOptions): Promise<Offline> {
  const closing = new Closing(SILENT);
  try {
    return await open(configuration, options, closing);
  } catch (error) {
    await closing.all(null);
    throw error;
  }
}

async function open(real: Configuration, options: OfflineOptions, closing: Closing): Promise<Offline> {
  const { faults = {}, random = sequence() } = options;
  const snapshot = withoutWorld(real.snapshot);
  const { hash } = snapshot;
  const loaded: Loaded = {
    ok: true,
    snapshot,
    steps: real.steps,
    diagnostics: [],
    hash,
    files: [],
    sources: [],
    localPlugins: new Map(),
    publishing: new Map(),
    secrets: [],
    outputs: new Map(),
  };
  for (const name of Object.keys(faults)) existing(loaded.snapshot.upstreams, name);
  const clock = new VirtualClock(options.now);
  const { now } = clock;
  const providers = new Providers(clock, faults);
  closing.add(() => providers.close());
  const context: StartContext = {
    settings: { file: loaded.snapshot.file, env: {}, mode: "dev", log: SILENT },
    start: { loaded, files: [], rejected: null },
    links: null,
    clock: now,
    now,
    elapsed: now,
    log: SILENT,
    state: new ProcessState({ snapshot: loaded.snapshot, startedAt: now() }),
    closing,
  };
  const recorder = new Recorder(clock);
  const carried = new CarriedCounters(now);
  const opened = await openStorage(context);
  const storage = { ...opened, store: carried.in(opened.store) };
  const accounts = await openAccounts(context, storage, { maxKeys: MAX_KEYS_COUNT });
  const upstreams = createUpstreams({
    dialects: DIALECTS,
    now,
    random,
    log: SILENT,
    simulated: (script, dialect) =>
      Promise.resolve(
        dialect === "openai" ? scriptedUrl(Providers.origin, script) : scriptedOrigin(Providers.origin, script),
      ),
    connect: providers.connect,
    sweeper: clock,
  });
  closing.add(() => upstreams.close());
  upstreams.manual.replaceAll(options.manual ?? new Map());
  const tokenizer = heldBy(clock, options.tokenizer ?? openTokenizer(context));
  const generation = await createGeneration({
    number: 1,
    loaded: {
      ...loaded,
      steps: loaded.steps.map(({ plugin, ...step }, index) => ({ ...step, plugin: recorder.plugin(plugin, index) })),
    },
    upstreams: await upstreams.lease(loaded.snapshot),
    services: {
      ...hostServices(context, storage, accounts, tokenizer),
      store: recorder.store(storage.store),
      schedule: (at, callback) => clock.schedule(at, callback),
    },
    keys: openKeys(context, storage),
    observer: recorder,
  });
  closing.add(async () => {
    // Connections to what is unreachable would be waited for.
    await upstreams.close();
    // What waits for something that never comes would be waited for as well.
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), CLOSE_TIMEOUT_MS);
    await generation.retire(giveUp.signal);
    clearTimeout(timer);
  });
  context.state.activate(generation);
  const { handler } = publicServer(context, storage, accounts, { observer: recorder }, tokenizer, {
    ...(options.validateBody && { validateBody: options.validateBody }),
  });
  const server = serverOfStreams(handler);
  closing.add(() => {
    server.close();
  });
  return new Room({
    ...options,
    loaded,
    clock,
    providers,
    recorder,
    generation,
    server,
    store: storage.store,
    carried,
    closing,
  });
}

/** Counting is not done on the event loop: time stands still for it. */
function heldBy(clock: VirtualClock, { count, countForClient }: NonNullable<OfflineOptions["tokenizer"]>) {
  return {
    count: (text: string) => clock.hold(count(text)),
    countForClient: (text: string, userId: string) => clock.hold(countForClient(text, userId)),
  };
}

const SILENT: GatewayLog = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  enabled: () => false,
};

/** Numbers in [0, 1) in a fixed order: what is balanced by chance comes out alike each time. */
export function sequence(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
