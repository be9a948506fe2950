import type { Server } from "node:http";
import { createKey } from "../accounts/api-keys.ts";
import { newId } from "../accounts/users.ts";
import type { Loaded } from "../gateway/configuration.ts";
import { openBreakers, type RestingTarget } from "../gateway/cooldowns.ts";
import type { Generation } from "../gateway/generation.ts";
import type { Closing } from "../gateway/shutdown.ts";
import {
  decimal,
  type Endpoint,
  GatewayError,
  type Json,
  type LedgerEntry,
  nearest,
  type OutcomeKind,
  type Snapshot,
  type Store,
  tierOf,
  toNano,
  type User,
  type Windows,
} from "../kit/index.ts";
import { requestIdOf } from "../server/respond.ts";
import type { CarriedCounters, Used } from "./carried.ts";
import type { VirtualClock } from "./clock.ts";
import type { Fault, ProviderRequest, Providers } from "./providers.ts";
import type { Attempt, Recorder, Trace } from "./record.ts";
import { bodyOf, endpointOf, eventsOf, exchange, pathOf, type ReadAnswer } from "./requests.ts";
import { StreamEnd } from "./streams.ts";

export interface OfflineUser {
  readonly tier?: string;
  /** Nano-units. */
  readonly credits?: bigint;
  /** What sticky balancing goes by; made up unless given. */
  readonly id?: string;
  /** Nothing unless given. */
  readonly used?: Used;
}

export interface OfflineRequest {
  readonly model?: string;
  /** That of the model's kind unless given. */
  readonly endpoint?: Endpoint;
  /** A field of the body; here because it decides on the answer's form. */
  readonly stream?: boolean;
  /** Fields over the least body that the endpoint takes; text is sent as it is. */
  readonly body?: Json | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Any name; users are made at their first request. */
  readonly user?: string;
  /** false: without credentials. */
  readonly authenticated?: boolean;
  /** The client goes away after so many milliseconds. */
  readonly leaveAfter?: number;
}

export interface OfflineResult extends ReadAnswer {
  readonly requestId: string;
  /** `data` of the events of a stream. */
  readonly events: readonly string[];
  /** Of the error table, also where the answer does not send it; null for none. */
  readonly code: string | null;
  /** null for a request that the pipeline did not see. */
  readonly outcome: OutcomeKind | null;
  readonly attempts: readonly Attempt[];
  /** That served; null when none did. */
  readonly upstream: string | null;
  /** JSON pointers of what the upstream could not be asked. */
  readonly dropped: readonly string[];
  /** Nano-units: held while it ran, and charged. */
  readonly hold: bigint;
  readonly charge: bigint;
  /** null when nothing was recorded. */
  readonly ledger: LedgerEntry | null;
  /** The user's, after it. */
  readonly windows: Windows;
  /** Nano-units, after it. */
  readonly balance: bigint;
  /** Virtual milliseconds until the answer's end. */
  readonly took: number;
  /** What providers were sent, retries within one upstream included. */
  readonly sent: readonly ProviderRequest[];
  readonly trace: Trace;
}

/** A request that was sent, and for which no time has passed yet. */
export interface StartedRequest {
  /** Lets as much time pass as it takes. */
  result(): Promise<OfflineResult>;
}

/** A whole gateway in this process: no socket, no file, no real time. */
export interface Offline {
  readonly snapshot: Snapshot;
  readonly generation: Generation;
  readonly store: Store;
  /** Plugins that failed, with what they threw. */
  readonly failures: readonly { readonly plugin: string; readonly error: unknown }[];
  /** Unix milliseconds. */
  now(): number;
  request(request: OfflineRequest): Promise<OfflineResult>;
  /** Several may be under way at once. */
  start(request: OfflineRequest): Promise<StartedRequest>;
  /** Any request to the public API, as the user. */
  fetch(method: string, path: string, user?: string): Promise<ReadAnswer>;
  /** Makes the user, if there is none of that name. */
  user(name: string, as?: OfflineUser): Promise<User>;
  /** Lets so many milliseconds pass. */
  advance(milliseconds: number): Promise<void>;
  /** From now on; null ends what was said before. */
  fault(upstream: string, fault: Fault | null): void;
  /** Opens an upstream's breaker, as so many failures do. @param model by default all its models. */
  trip(upstream: string, model?: string): void;
  /** Rests every key of the upstream for the model. */
  rest(resting: RestingTarget): void;
  close(): Promise<void>;
}

const DEFAULT_CREDITS = toNano(decimal("1000000"));
const DEFAULT_USER = "user";

interface RoomParts {
  readonly loaded: Loaded;
  readonly tier?: string;
  readonly credits?: bigint;
  readonly clock: VirtualClock;
  readonly providers: Providers;
  readonly recorder: Recorder;
  readonly generation: Generation;
  readonly store: Store;
  readonly server: Server;
  readonly carried: CarriedCounters;
  readonly closing: Closing;
}

interface Caller {
  readonly user: User;
  readonly key: string;
  readonly address: string;
}

/** See `Offline`. */
export class Room implements Offline {
  readonly snapshot: Snapshot;
  readonly generation: Generation;
  readonly store: Store;
  readonly #parts: RoomParts;
  readonly #callers = new Map<string, Promise<Caller>>();
  #requests = 0;

  constructor(parts: RoomParts) {
    this.#parts = parts;
    this.snapshot = parts.loaded.snapshot;
    this.generation = parts.generation;
    this.store = parts.store;
  }

  get failures(): Offline["failures"] {
    return this.#parts.recorder.failures;
  }

  now(): number {
    return this.#parts.clock.now();
  }

  async user(name: string, as: OfflineUser = {}): Promise<User> {
    return (await this.#caller(name, as)).user;
  }

  async request(request: OfflineRequest): Promise<OfflineResult> {
    return (await this.#send(request)).result();
  }

  async start(request: OfflineRequest): Promise<StartedRequest> {
    const started = await this.#send(request);
    await this.#parts.clock.settle();
    return started;
  }

  async #send(request: OfflineRequest): Promise<StartedRequest> {
    const { clock, recorder } = this.#parts;
    const caller = await this.#caller(request.user ?? DEFAULT_USER);
    this.#requests += 1;
    const headers = inLowerCase(request.headers);
    const requestId = headers["x-request-id"] ?? `offline-${this.#requests}`;
    // The gateway would go by another id, and what it does be recorded for that one.
    if (requestIdOf(requestId) !== requestId) {
      throw new InvalidQuestion("an x-request-id has 1 to 128 visible ASCII characters: another would be replaced");
    }
    if (recorder.has(requestId)) throw new InvalidQuestion(`another request of the id ${requestId} is under way`);
    const trace = recorder.begin(requestId);
    const startedAt = clock.now();
    const connection = this.#connect(caller);
    const answer = exchange(connection, await this.#written({ ...request, headers }, requestId, caller));
    const { leaveAfter } = request;
    if (leaveAfter !== undefined) clock.schedule(startedAt + leaveAfter, () => connection.destroy());
    return {
      result: async () => {
        const read = await clock.until(answer);
        const took = clock.now() - startedAt;
        // A client that left, or was refused before its end, has not waited for the settlement.
        await clock.settle(() => trace.isOver);
        recorder.end(requestId);
        return this.#result(read, { requestId, trace, took, caller });
      },
    };
  }

  async fetch(method: string, path: string, user: string = DEFAULT_USER): Promise<ReadAnswer> {
    const caller = await this.#caller(user);
    const headers = { authorization: `Bearer ${caller.key}` };
    return this.#parts.clock.until(exchange(this.#connect(caller), { method, path, headers, body: "" }));
  }

  advance(milliseconds: number): Promise<void> {
    return this.#parts.clock.advance(milliseconds);
  }

  fault(upstream: string, fault: Fault | null): void {
    existing(this.snapshot.upstreams, upstream);
    this.#parts.providers.fault(upstream, fault);
  }

  trip(upstream: string, model?: string): void {
    existing(this.snapshot.upstreams, upstream);
    openBreakers(this.generation, upstream, model);
  }

  rest({ upstream, model, until, reason }: RestingTarget): void {
    existing(this.snapshot.upstreams, upstream);
    this.generation.upstreams.rest({ upstream, model }, until, reason);
  }

  close(): Promise<void> {
    return this.#parts.closing.all(null);
  }

  #caller(name: string, as: OfflineUser = {}): Promise<Caller> {
    const known = this.#callers.get(name) ?? this.#makeCaller(as);
    this.#callers.set(name, known);
    return known;
  }

  async #makeCaller({ tier, credits, id, used }: OfflineUser): Promise<Caller> {
    const { store, carried, tier: ofAll, credits: creditsOfAll } = this.#parts;
    const number = this.#callers.size + 1;
    const plan = tier ?? ofAll ?? this.snapshot.auth.signup.tier;
    // A user of elsewhere may be on a plan that there is no longer.
    if (id === undefined) existing(this.snapshot.tiers, plan, "tier");
    const user = await store.addUser({
      id: id ?? newId("user"),
      email: `user-${number}@offline.invalid`,
      tier: plan,
      credits: credits ?? creditsOfAll ?? DEFAULT_CREDITS,
    });
    if (user === null) throw new Error(`there is a user ${id} already`);
    if (used) carried.add(user.id, used);
    const { body } = await createKey(store, { userId: user.id, name: "offline" });
    return { user, key: body.key, address: `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}` };
  }

  #connect({ address }: Caller): StreamEnd {
    const { clock, server } = this.#parts;
    const [client, end] = StreamEnd.pair(address, "", clock.touch);
    server.emit("connection", end);
    return client;
  }

  async #written(request: OfflineRequest, requestId: string, { key }: Caller) {
    const { model = "", stream, body = {}, authenticated = true } = request;
    const kind = this.snapshot.models[model]?.kind ?? "chat";
    const endpoint = request.endpoint ?? endpointOf(kind);
    const fields = { ...(model !== "" && { model }), ...(stream !== undefined && { stream }) };
    const written =
      typeof body === "string"
        ? { body, contentType: "application/json" }
        : await bodyOf(endpoint, { ...this.#required(endpoint, model), ...fields, ...body });
    const headers = {
      host: "gateway.invalid",
      ...(authenticated && { authorization: `Bearer ${key}` }),
      "content-type": written.contentType,
      "x-request-id": requestId,
      ...request.headers,
    };
    return { method: "POST", path: pathOf(endpoint), headers, body: written.body };
  }

  /** Fields without which the endpoint takes no request for this model. */
  #required(endpoint: Endpoint, model: string): Json {
    if (endpoint !== "speech") return {};
    return { voice: this.snapshot.models[model]?.voices[0] ?? "alloy" };
  }

  async #result(
    read: ReadAnswer,
    { requestId, trace, took, caller }: { requestId: string; trace: Trace; took: number; caller: Caller },
  ): Promise<OfflineResult> {
    const { store, providers } = this.#parts;
    const { outcome, error } = trace;
    const user = (await store.findUser(caller.user.id)) ?? caller.user;
    const ledger = await store.ledger(user.id);
    const refusal = error instanceof GatewayError ? error.code : null;
    return {
      ...read,
      requestId,
      events: eventsOf(read),
      code: outcome?.code ?? read.headers["x-error-code"] ?? refusal,
      outcome: outcome?.kind ?? null,
      attempts: trace.attempts,
      upstream: outcome?.target?.upstream ?? null,
      dropped: outcome?.dropped ?? [],
      hold: trace.refusal === null ? (trace.admission?.hold ?? 0n) : 0n,
      charge: outcome?.bill.charge ?? 0n,
      ledger: ledger.find(({ id }) => id === trace.exchange?.id) ?? null,
      windows: await store.windows(user.id, tierOf(this.snapshot, user.tier).limits),
      balance: user.balance,
      took,
      sent: providers.sentBy(requestId),
      trace,
    };
  }
}

/** Names of headers are the same in any case of letters. */
function inLowerCase(headers: OfflineRequest["headers"] = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** What is asked cannot be: a name that the configuration does not have, a script that is none. */
export class InvalidQuestion extends Error {
  override readonly name = "InvalidQuestion";
}

/** Of names that might have been meant. */
const MAX_NAMED_COUNT = 10;

/** @throws InvalidQuestion that names the nearest name when there is none of this one. */
export function existing<Value>(record: Readonly<Record<string, Value>>, name: string, what = "upstream"): Value {
  const found = Object.hasOwn(record, name) ? record[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(record);
  const near = nearest(name, names);
  const some = `${names.slice(0, MAX_NAMED_COUNT).join(", ")}${names.length > MAX_NAMED_COUNT ? ", …" : ""}`;
  throw new InvalidQuestion(
    `there is no ${what} ${name}: ${near === null ? `there are ${some}` : `did you mean ${near}?`}`,
  );
}
