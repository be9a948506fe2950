import type { DatabaseSync } from "node:sqlite";
import type {
  Admission,
  AdmissionResult,
  Counter,
  CountWindow,
  Limits,
  NewCode,
  NewFamily,
  NewKey,
} from "../kit/index.ts";
import type { NewUser, OnChange, Rotation, Settlement, Store, Uses } from "../kit/index.ts";
import { codeTable } from "./codes.ts";
import { CommitQueue, transaction } from "./commits.ts";
import { counterTable } from "./counters.ts";
import type { OpenDatabase } from "./database.ts";
import { guarded } from "./failures.ts";
import { familyTables } from "./families.ts";
import { identityTable } from "./identities.ts";
import { Instances } from "./instances.ts";
import { RETENTION } from "./ledger.ts";
import { keyTable } from "./keys.ts";
import { rememberInFile } from "./remember.ts";
import { requestTables } from "./requests.ts";
import { stopTokens } from "./stops.ts";
import { userTable } from "./users.ts";
import { WindowCounts } from "./window-counts.ts";

/** Milliseconds between looks for old entries of the ledger, and while there are more. */
const TRIM_EVERY = 60_000;
const TRIM_NEXT = 50;

/** The store on an SQLite database, in a file or in memory. Takes over `database` and closes it. */
export class SqliteStore implements Store {
  readonly #database: OpenDatabase;
  readonly #db: DatabaseSync;
  readonly #now: () => number;
  #trimming: NodeJS.Timeout | null = null;
  readonly #queue: CommitQueue;
  readonly #requests: ReturnType<typeof requestTables>;
  readonly #users: ReturnType<typeof userTable>;
  readonly #keys: ReturnType<typeof keyTable>;
  readonly #stops: ReturnType<typeof stopTokens>;
  readonly #counters: ReturnType<typeof counterTable>;
  readonly #codes: ReturnType<typeof codeTable>;
  readonly #families: ReturnType<typeof familyTables>;
  readonly #identities: ReturnType<typeof identityTable>;
  readonly #instances: Instances;
  readonly #counts: WindowCounts;
  readonly #changed = new Set<{ readonly listener: OnChange }>();
  readonly #remembered = new Map<string, string>();

  constructor(database: OpenDatabase, now: () => number) {
    this.#database = database;
    this.#db = database.db;
    this.#now = now;
    this.#requests = requestTables(database.db, now);
    this.#queue = new CommitQueue(database.db, this.#requests);
    this.#users = userTable(database.db, now);
    this.#keys = keyTable(database.db, now);
    this.#stops = stopTokens(database.db);
    this.#counters = counterTable(database.db, now);
    this.#codes = codeTable(database.db, now);
    this.#families = familyTables(database.db, now);
    this.#identities = identityTable(database.db);
    this.#instances = new Instances(now);
    this.#counts = new WindowCounts(now);
  }

  /** Ends what a dead process left running; only for the process that holds the file's lock. */
  recover(): void {
    this.#write(() => this.#requests.giveUpAll());
  }

  /** Deletes entries of the ledger that are older than `retention` milliseconds, some at a time, until it is closed. */
  keepTrimmed(retention = RETENTION): void {
    const { ledger } = this.#requests;
    const trim = async (): Promise<void> => {
      let more = true;
      try {
        more = await this.#queue.add(() => ledger.trim(this.#now() - retention));
      } catch {
        // The disk is full, or the file is closed: nothing is lost by trying later.
        more = false;
      }
      if (this.#db.isOpen) trimIn(more ? TRIM_NEXT : TRIM_EVERY);
    };
    // What goes wrong in it is tried again later.
    const trimIn = (wait: number): void => {
      this.#trimming = setTimeout(() => {
        trim().catch(() => trimIn(TRIM_EVERY));
      }, wait).unref();
    };
    trimIn(TRIM_NEXT);
  }

  admit(admission: Admission): Promise<AdmissionResult> {
    return this.#queue.add(() => this.#requests.admit(admission));
  }

  settle(settlement: Settlement): Promise<boolean> {
    return this.#queue.add(() => this.#requests.settle(settlement));
  }

  windows(userId: string, limits: Limits) {
    return guarded(() => this.#requests.windows(userId, limits));
  }

  running(userId: string) {
    return guarded(() => this.#requests.running(userId));
  }

  ledger(userId: string) {
    return guarded(() => this.#requests.ledger.of(userId));
  }

  recorded(userId: string, ids: readonly string[]) {
    return guarded(() => this.#requests.ledger.recorded(userId, ids));
  }

  principalByDigest(digest: Uint8Array) {
    return guarded(() => this.#keys.principalByDigest(digest));
  }

  principalOf(userId: string) {
    return guarded(() => this.#users.principalOf(userId));
  }

  touchKeys(used: ReadonlyMap<string, number>) {
    this.#write(() => this.#keys.touchKeys(used));
  }

  addUser(user: NewUser) {
    return this.#writeDurably(() => this.#users.addUser(user));
  }

  findUser(idOrEmail: string) {
    return guarded(() => this.#users.findUser(idOrEmail));
  }

  listUsers() {
    return guarded(() => this.#users.listUsers());
  }

  setTier(userId: string, tier: string) {
    const user = this.#writeDurably(() => this.#users.setTier(userId, tier));
    this.#tell(user?.id ?? null);
    return user;
  }

  grant(userId: string, amount: bigint) {
    return this.#writeDurably(() => this.#users.grant(userId, amount));
  }

  addKey(key: NewKey, maximum: number) {
    return this.#writeDurably(() => this.#keys.addKey(key, maximum));
  }

  listKeys(userId: string) {
    return guarded(() => this.#keys.listKeys(userId));
  }

  revokeKey(keyId: string, userId?: string) {
    const owner = this.#writeDurably(() => this.#keys.revokeKey(keyId, userId));
    this.#tell(owner);
    return owner !== null;
  }

  stopStreams(userId: string) {
    return this.#write(() => this.#stops.stopStreams(userId));
  }

  stopTokens(userIds: readonly string[]) {
    return guarded(() => this.#stops.stopTokens(userIds));
  }

  // One process serves a file: it tells itself what it stops.
  onStop() {
    return () => {};
  }

  // What another process changes in the file is not heard of.
  onChange(listener: OnChange) {
    const change = { listener };
    this.#changed.add(change);
    return () => {
      this.#changed.delete(change);
    };
  }

  announce(instance: string, state: string, ttl: number) {
    this.ping();
    this.#instances.announce(instance, state, ttl);
  }

  announced() {
    this.ping();
    return this.#instances.announced();
  }

  // What a dead process left is given up at the start of the next one.
  markInstanceDead() {
    this.ping();
  }

  throttle(counters: readonly Counter[], window: number) {
    return this.#write(() => this.#counters.throttle(counters, window));
  }

  addCounts(window: CountWindow, uses: readonly Uses[]) {
    this.ping();
    return this.#counts.addCounts(window, uses);
  }

  putCode(code: NewCode) {
    this.#write(() => this.#codes.putCode(code));
  }

  // Not forced to the disk: the wait would tell whether there was a code.
  takeCode(email: string, client: string, digests: readonly Uint8Array[]) {
    return this.#write(() => this.#codes.takeCode(email, client, digests));
  }

  addFamily(family: NewFamily) {
    this.#writeDurably(() => this.#families.addFamily(family));
  }

  rotate(rotation: Rotation) {
    return this.#writeDurably(() => this.#families.rotate(rotation));
  }

  endFamily(digest: Uint8Array) {
    this.#writeDurably(() => this.#families.endFamily(digest));
  }

  findIdentity(issuer: string, subject: string) {
    return guarded(() => this.#identities.findIdentity(issuer, subject));
  }

  linkIdentity(issuer: string, subject: string, userId: string) {
    return this.#writeDurably(() => this.#identities.linkIdentity(issuer, subject, userId));
  }

  remember(name: string, value: string): string {
    const { file } = this.#database;
    if (file !== null) return this.#write(() => rememberInFile(file, name, value));
    const kept = this.#remembered.get(name) ?? value;
    this.#remembered.set(name, kept);
    return kept;
  }

  ping() {
    guarded(() => this.#db.exec("SELECT 1 FROM users LIMIT 1"));
  }

  close() {
    if (!this.#db.isOpen) return;
    if (this.#trimming) clearTimeout(this.#trimming);
    this.#queue.flush();
    guarded(() => this.#database.close());
  }

  /** @param changed null: nobody. */
  #tell(changed: string | null): void {
    if (changed !== null) for (const { listener } of this.#changed) listener(changed);
  }

  #write<T>(work: () => T): T {
    return guarded(() => transaction(this.#db, work));
  }

  /** Forces the change to the disk before it is acknowledged: accounts survive a power cut. */
  #writeDurably<T>(work: () => T): T {
    return guarded(() => {
      this.#db.exec("PRAGMA synchronous = FULL");
      try {
        return transaction(this.#db, work);
      } finally {
        this.#db.exec("PRAGMA synchronous = NORMAL");
      }
    });
  }
}
