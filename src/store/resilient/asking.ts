import type {
  Admission,
  AdmissionResult,
  Awaitable,
  Counter,
  CountWindow,
  Limits,
  NewCode,
  NewFamily,
} from "../../kit/index.ts";
import type { NewKey, NewUser, OnChange, OnStop, Rotation, Settlement, Store, Uses, Windows } from "../../kit/index.ts";

/** A store before another one, which it asks in its own way. */
export abstract class AskingStore implements Store {
  protected readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  protected abstract ask<T>(question: () => Awaitable<T>): Awaitable<T>;

  abstract admit(admission: Admission): Promise<AdmissionResult>;
  abstract settle(settlement: Settlement): Promise<boolean>;
  abstract windows(userId: string, limits: Limits): Promise<Windows>;
  abstract close(): Promise<void>;

  running(userId: string) {
    return this.ask(() => this.store.running(userId));
  }

  principalByDigest(digest: Uint8Array) {
    return this.ask(() => this.store.principalByDigest(digest));
  }

  principalOf(userId: string) {
    return this.ask(() => this.store.principalOf(userId));
  }

  touchKeys(used: ReadonlyMap<string, number>) {
    return this.ask(() => this.store.touchKeys(used));
  }

  addUser(user: NewUser) {
    return this.ask(() => this.store.addUser(user));
  }

  findUser(idOrEmail: string) {
    return this.ask(() => this.store.findUser(idOrEmail));
  }

  listUsers() {
    return this.ask(() => this.store.listUsers());
  }

  setTier(userId: string, tier: string) {
    return this.ask(() => this.store.setTier(userId, tier));
  }

  grant(userId: string, amount: bigint) {
    return this.ask(() => this.store.grant(userId, amount));
  }

  addKey(key: NewKey, maximum: number) {
    return this.ask(() => this.store.addKey(key, maximum));
  }

  listKeys(userId: string) {
    return this.ask(() => this.store.listKeys(userId));
  }

  revokeKey(keyId: string, userId?: string) {
    return this.ask(() => this.store.revokeKey(keyId, userId));
  }

  ledger(userId: string) {
    return this.ask(() => this.store.ledger(userId));
  }

  recorded(userId: string, ids: readonly string[]) {
    return this.ask(() => this.store.recorded(userId, ids));
  }

  stopStreams(userId: string) {
    return this.ask(() => this.store.stopStreams(userId));
  }

  stopTokens(userIds: readonly string[]): Awaitable<ReadonlyMap<string, number>> {
    return this.ask(() => this.store.stopTokens(userIds));
  }

  onStop(listener: OnStop, sure?: (is: boolean) => void) {
    return this.store.onStop(listener, sure);
  }

  onChange(listener: OnChange) {
    return this.store.onChange(listener);
  }

  throttle(counters: readonly Counter[], window: number) {
    return this.ask(() => this.store.throttle(counters, window));
  }

  addCounts(window: CountWindow, uses: readonly Uses[]) {
    return this.ask(() => this.store.addCounts(window, uses));
  }

  putCode(code: NewCode) {
    return this.ask(() => this.store.putCode(code));
  }

  takeCode(email: string, client: string, digests: readonly Uint8Array[]) {
    return this.ask(() => this.store.takeCode(email, client, digests));
  }

  addFamily(family: NewFamily) {
    return this.ask(() => this.store.addFamily(family));
  }

  rotate(rotation: Rotation) {
    return this.ask(() => this.store.rotate(rotation));
  }

  endFamily(digest: Uint8Array) {
    return this.ask(() => this.store.endFamily(digest));
  }

  findIdentity(issuer: string, subject: string) {
    return this.ask(() => this.store.findIdentity(issuer, subject));
  }

  linkIdentity(issuer: string, subject: string, userId: string) {
    return this.ask(() => this.store.linkIdentity(issuer, subject, userId));
  }

  remember(name: string, value: string) {
    return this.ask(() => this.store.remember(name, value));
  }

  announce(instance: string, state: string, ttl: number) {
    return this.ask(() => this.store.announce(instance, state, ttl));
  }

  announced() {
    return this.ask(() => this.store.announced());
  }

  markInstanceDead(instance: string) {
    return this.ask(() => this.store.markInstanceDead(instance));
  }

  ping() {
    return this.ask(() => this.store.ping());
  }
}
