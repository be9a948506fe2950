import { expect } from "vitest";
import { chatFormat, readChat } from "../../src/dialects/chat/client.ts";
import {
  type Credentials,
  type Identities,
  type InferenceRequest,
  type Json,
  NANOS_PER_UNIT,
  type Plugin,
  type Principal,
  type RequestBody,
  type Store,
} from "../../src/kit/index.ts";
import { buildPipeline, type Pipeline } from "../../src/pipeline/build.ts";
import { RequestRunner } from "../../src/pipeline/run.ts";
import { openStore } from "../../src/store/open.ts";
import { builtins } from "../../plugins/index.ts";
import { TestClient } from "./client.ts";
import { ManualClock } from "./clock.ts";
import { type TestHost, testHost, TestObserver } from "./host.ts";
import { type SnapshotParts, testSnapshot } from "./snapshot.ts";
import { ScriptedUpstream } from "./upstream.ts";

export const KEY = `rk_${"a".repeat(64)}`;

export interface BenchParts extends SnapshotParts {
  /** Plugins besides the built-in ones, by the name that `pipeline` uses. */
  readonly plugins?: readonly Plugin[];
  /** Nano-units of the user; 10 units by default. */
  readonly credits?: bigint;
  /** The user's tier. */
  readonly tier?: string;
  /** Methods that the pipeline finds instead of the store's own, for instance to fail. */
  readonly override?: (store: Store) => Partial<Store>;
  readonly countTokens?: (text: string) => Promise<number>;
  /** What is known of callers, in place of ann's key. */
  readonly identities?: Partial<Identities>;
}

export interface RequestParts {
  readonly body?: Json;
  readonly credentials?: Credentials;
  readonly client?: TestClient;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Reads the body instead of handing `body` over. */
  readonly read?: () => Promise<RequestBody>;
  readonly keep?: InferenceRequest["keep"];
}

export interface Running {
  readonly id: string;
  readonly client: TestClient;
  /** The runner is through with it. */
  readonly done: Promise<void>;
}

/** The pipeline with the real plugins and store, a scripted upstream and one user `ann` who has the key KEY. */
export class Bench {
  readonly clock: ManualClock;
  readonly host: TestHost;
  readonly store: Store;
  readonly observer: TestObserver;
  readonly upstream = new ScriptedUpstream();
  readonly pipeline: Pipeline;
  readonly requests: Running[] = [];
  readonly #runner: RequestRunner;

  private constructor(host: TestHost, store: Store, pipeline: Pipeline, observer: TestObserver) {
    this.clock = host.clock;
    this.host = host;
    this.store = store;
    this.pipeline = pipeline;
    this.observer = observer;
    this.#runner = new RequestRunner({ pipeline, host, send: this.upstream.send, observer });
  }

  static async create(parts: BenchParts = {}): Promise<Bench> {
    const clock = new ManualClock();
    const store = await openStore("memory:", { serving: true, now: clock.now });
    const tier = parts.tier ?? "Free";
    await store.addUser({ id: "ann", email: "ann@example.com", tier, credits: parts.credits ?? 10n * NANOS_PER_UNIT });
    const snapshot = testSnapshot(parts);
    const ann: Principal = { userId: "ann", tier, keyId: "key_ann" };
    const byKey = async (secret: string) => (secret === KEY ? ann : null);
    const identities: Identities = {
      byKey,
      presume: byKey,
      confirm: () => true,
      forget() {},
      byToken: async (token) => (token === "a.good.token" ? { ...ann, keyId: null } : null),
      ...parts.identities,
    };
    const host = testHost({
      snapshot,
      store: overridden(store, parts.override?.(store) ?? {}),
      identities,
      clock,
      countTokens: parts.countTokens,
    });
    const plugins = new Map(
      [...Object.values(builtins), ...(parts.plugins ?? [])].map((plugin) => [plugin.name, plugin]),
    );
    const steps = snapshot.pipeline.map((settings) => {
      const plugin = plugins.get(settings.use);
      if (plugin === undefined) throw new Error(`the test has no plugin ${settings.use}`);
      return { plugin, settings };
    });
    return new Bench(host, store, await buildPipeline(steps, host), new TestObserver());
  }

  /** Starts a chat request: by default of ann for `route/free`, not streamed. */
  request(parts: RequestParts = {}): Running {
    const id = `request-${this.requests.length}`;
    const client = parts.client ?? new TestClient();
    const body = { model: "route/free", messages: [{ role: "user", content: "hi" }], ...parts.body };
    const read = async () => {
      const call = Object.freeze(readChat(Object.freeze(body)));
      return { call, format: chatFormat(call) };
    };
    const request: { -readonly [Name in keyof InferenceRequest]: InferenceRequest[Name] } = {
      id,
      receivedAt: this.clock.now(),
      client,
      head: {
        requestId: `client-${id}`,
        credentials: parts.credentials ?? { kind: "key", value: KEY },
        ip: "127.0.0.1",
        endpoint: "chat",
        header: (name) => parts.headers?.[name],
      },
      body: null,
      keep(bytes) {
        request.body = null;
        parts.keep?.(bytes);
      },
    };
    const takeBody = async (): Promise<void> => {
      request.body = await (parts.read ?? read)();
    };
    const running = { id, client, done: this.#run(request, takeBody) };
    this.requests.push(running);
    return running;
  }

  /** As the server does: the body is read once the caller is known. */
  async #run(request: InferenceRequest, takeBody: () => Promise<void>): Promise<void> {
    let principal: Principal | null = null;
    try {
      principal = await this.#runner.identify(request);
      await takeBody();
    } catch (error) {
      return this.#runner.refuse(request, principal, error);
    }
    return this.#runner.run(request, principal);
  }

  /** A request run to its end. */
  async serve(parts: RequestParts = {}): Promise<TestClient> {
    const { client, done } = this.request(parts);
    await done;
    return client;
  }

  stream(parts: RequestParts = {}): Running {
    return this.request({ ...parts, body: { stream: true, ...parts.body } });
  }

  /** What counts against ann. */
  async used(): Promise<{ readonly day: number; readonly hour: number; readonly minute: number }> {
    const { day, hour, minute } = await this.store.windows("ann", {
      day: null,
      hour: null,
      minute: null,
      streams: null,
    });
    return { day: day.used, hour: hour.used, minute: minute.used };
  }

  async balance(): Promise<bigint> {
    return (await this.store.findUser("ann"))!.balance;
  }

  /** Waits until nothing runs and asserts what must hold then, whatever happened before. */
  audit(): Promise<void> {
    return audit(this);
  }
}

/** Turns of the event loop that an admission and a settlement wait for their commits at most, and some. */
const TURNS = 30;

/** Lets everything that waits on promises and on the store's next commits happen. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function overridden(store: Store, methods: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

async function audit(bench: Bench): Promise<void> {
  await Promise.all(bench.requests.map(({ done }) => done));
  expect(await bench.store.running("ann")).toEqual({ requests: 0, streams: 0, held: 0n });
  const user = (await bench.store.findUser("ann"))!;
  const ledger = await bench.store.ledger("ann");
  const charges = ledger.reduce((sum, { charge }) => sum + charge, 0n);
  expect({ held: user.held, granted: user.granted }).toEqual({ held: 0n, granted: user.balance + charges });
  expect(new Set(ledger.map(({ id }) => id)).size).toBe(ledger.length);
  for (const breaker of bench.host.breakers.values()) expect(breaker.running).toBe(0);
  expect(bench.upstream.sources.filter((source) => source.live)).toEqual([]);
  expect(bench.clock.pending).toBe(0);
  expect(bench.host.streamKills.watched).toBe(0);
  for (const { id, client } of bench.requests) {
    expect({ id, violations: client.violations, ended: client.ended, answers: client.answers }).toEqual({
      id,
      violations: [],
      ended: true,
      answers: 1,
    });
  }
  const told = [
    ...bench.observer.finishes.map(({ exchange }) => exchange.requestId),
    ...bench.observer.refusals.map(({ request }) => request.requestId),
  ];
  expect(told.toSorted()).toEqual(bench.requests.map(({ id }) => `client-${id}`).toSorted());
}
