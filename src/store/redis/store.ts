import type {
  Admission,
  Counter,
  CountWindow,
  Limits,
  Log,
  NewCode,
  NewFamily,
  NewKey,
  NewUser,
} from "../../kit/index.ts";
import type { OnChange, OnStop, Rotation, Settlement, Store, Uses } from "../../kit/index.ts";
import { keyPart } from "./api-keys.ts";
import { changePart } from "./changes.ts";
import { codePart } from "./codes.ts";
import type { RedisConnection } from "./connection.ts";
import { counterPart } from "./counters.ts";
import { familyPart } from "./families.ts";
import { identityPart } from "./identities.ts";
import { instancePart } from "./instances.ts";
import { createKeys } from "./keys.ts";
import { RETENTION } from "../ledger.ts";
import { LEASE, Leases, RENEWAL, unlessUnavailable } from "./leases.ts";
import { rememberPart } from "./remember.ts";
import { Requests } from "./requests.ts";
import { stopPart } from "./stops.ts";
import { userPart } from "./users.ts";

export interface RedisStoreOptions {
  /** In front of the name of every key. */
  readonly prefix: string;
  /** This process's name among those of the store, without blanks. */
  readonly instance: string;
  /** Milliseconds that a call waits for its answer: the connection's. */
  readonly timeout: number;
  readonly log?: Log;
  /** Unix milliseconds, for tests; without, time is the server's. */
  readonly clock?: () => number;
  /** Milliseconds for which what this process runs is kept without a word from it. */
  readonly lease?: number;
  /** Milliseconds for which entries of the ledger are kept. */
  readonly retention?: number;
  /** Milliseconds that other processes get to give back what they have lost, before a limit is told as reached. */
  readonly patience?: number;
}

/** The store on Redis or Valkey, alone or as a Cluster. Takes over `connection` and closes it. */
export class RedisStore implements Store {
  readonly #connection: RedisConnection;
  readonly #leases: Leases;
  readonly #requests: Requests;
  readonly #users: ReturnType<typeof userPart>;
  readonly #apiKeys: ReturnType<typeof keyPart>;
  readonly #stops: ReturnType<typeof stopPart>;
  readonly #changes: ReturnType<typeof changePart>;
  readonly #counters: ReturnType<typeof counterPart>;
  readonly #codes: ReturnType<typeof codePart>;
  readonly #families: ReturnType<typeof familyPart>;
  readonly #identities: ReturnType<typeof identityPart>;
  readonly #remembered: ReturnType<typeof rememberPart>;
  readonly #instances: ReturnType<typeof instancePart>;
  readonly #renewal: NodeJS.Timeout;

  constructor(connection: RedisConnection, options: RedisStoreOptions) {
    const { prefix, instance, log, timeout, clock, lease = LEASE, retention = RETENTION, patience = timeout } = options;
    if (!/^\S+$/.test(instance)) throw new RangeError(`not a name for an instance: ${instance}`);
    const keys = createKeys(prefix);
    // To the scripts, 0 is the server's clock.
    const now = clock ?? (() => 0);
    this.#connection = connection;
    this.#leases = new Leases(connection, keys, instance, lease, retention);
    this.#requests = new Requests(connection, keys, this.#leases, {
      instance,
      lease,
      timeout,
      retention,
      patience,
      clock,
    });
    this.#users = userPart(connection, keys, now, () => this.#requests.latest());
    this.#apiKeys = keyPart(connection, keys, now);
    this.#stops = stopPart(connection, keys, now);
    this.#changes = changePart(connection, keys);
    this.#counters = counterPart(connection, keys, now);
    this.#codes = codePart(connection, keys, now);
    this.#families = familyPart(connection, keys, now);
    this.#identities = identityPart(connection, keys, (id) => this.#users.userById(id));
    this.#remembered = rememberPart(connection, keys);
    this.#instances = instancePart(connection, keys, now);
    this.#requests.onAsked((error) => log?.error({ reason: String(error) }, "nobody was told what runs here"));
    connection.onReady(() => {
      this.#catchUp().catch((error: unknown) =>
        log?.error({ reason: String(error) }, "the store was not caught up with"),
      );
    });
    this.#renewal = setInterval(() => {
      this.renew().catch((error: unknown) => log?.error({ reason: String(error) }, "leases were not renewed"));
    }, RENEWAL).unref();
  }

  /** What is to be known of a server before it is used. */
  async #catchUp(): Promise<void> {
    await Promise.all([unlessUnavailable(this.#requests.setClock()), this.#leases.refreshDead()]);
  }

  /** Prolongs the leases of what runs here; by itself every 15 seconds. */
  async renew(): Promise<void> {
    await Promise.all([this.#requests.renew(), this.#leases.refreshDead()]);
  }

  admit(admission: Admission) {
    return this.#requests.admit(admission);
  }

  settle(settlement: Settlement) {
    return this.#requests.settle(settlement);
  }

  windows(userId: string, limits: Limits) {
    return this.#requests.windows(userId, limits);
  }

  running(userId: string) {
    return this.#requests.running(userId);
  }

  ledger(userId: string) {
    return this.#requests.ledger(userId);
  }

  recorded(userId: string, ids: readonly string[]) {
    return this.#requests.recorded(userId, ids);
  }

  principalByDigest(digest: Uint8Array) {
    return this.#apiKeys.principalByDigest(digest);
  }

  principalOf(userId: string) {
    return this.#users.principalOf(userId);
  }

  touchKeys(used: ReadonlyMap<string, number>) {
    return this.#apiKeys.touchKeys(used);
  }

  addUser(user: NewUser) {
    return this.#users.addUser(user);
  }

  findUser(idOrEmail: string) {
    return this.#users.findUser(idOrEmail);
  }

  listUsers() {
    return this.#users.listUsers();
  }

  setTier(userId: string, tier: string) {
    return this.#users.setTier(userId, tier);
  }

  grant(userId: string, amount: bigint) {
    return this.#users.grant(userId, amount);
  }

  addKey(key: NewKey, maximum: number) {
    return this.#apiKeys.addKey(key, maximum);
  }

  listKeys(userId: string) {
    return this.#apiKeys.listKeys(userId);
  }

  revokeKey(keyId: string, userId?: string) {
    return this.#apiKeys.revokeKey(keyId, userId);
  }

  stopStreams(userId: string) {
    return this.#stops.stopStreams(userId);
  }

  stopTokens(userIds: readonly string[]) {
    return this.#stops.stopTokens(userIds);
  }

  onStop(listener: OnStop, sure?: (is: boolean) => void) {
    return this.#stops.onStop(listener, sure);
  }

  onChange(listener: OnChange) {
    return this.#changes.onChange(listener);
  }

  throttle(counters: readonly Counter[], window: number) {
    return this.#counters.throttle(counters, window);
  }

  addCounts(window: CountWindow, uses: readonly Uses[]) {
    return this.#counters.addCounts(window, uses);
  }

  putCode(code: NewCode) {
    return this.#codes.putCode(code);
  }

  takeCode(email: string, client: string, digests: readonly Uint8Array[]) {
    return this.#codes.takeCode(email, client, digests);
  }

  addFamily(family: NewFamily) {
    return this.#families.addFamily(family);
  }

  rotate(rotation: Rotation) {
    return this.#families.rotate(rotation);
  }

  endFamily(digest: Uint8Array) {
    return this.#families.endFamily(digest);
  }

  findIdentity(issuer: string, subject: string) {
    return this.#identities.findIdentity(issuer, subject);
  }

  linkIdentity(issuer: string, subject: string, userId: string) {
    return this.#identities.linkIdentity(issuer, subject, userId);
  }

  remember(name: string, value: string) {
    return this.#remembered.remember(name, value);
  }

  announce(instance: string, state: string, ttl: number) {
    return this.#instances.announce(instance, state, ttl);
  }

  announced() {
    return this.#instances.announced();
  }

  markInstanceDead(instance: string) {
    return this.#leases.bury(instance, this.#requests.time());
  }

  async ping() {
    await this.#connection.call("PING");
  }

  async close() {
    clearInterval(this.#renewal);
    this.#requests.close();
    await this.#connection.close();
  }
}
