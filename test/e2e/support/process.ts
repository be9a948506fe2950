import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { createKey } from "../../../src/accounts/api-keys.ts";
import { createUser } from "../../../src/accounts/users.ts";
import type { Store } from "../../../src/kit/index.ts";
import { openStore } from "../../../src/store/open.ts";
import type { LedgerEntry } from "../../../src/simulator/server.ts";
import { Child, type Exit, poll } from "./child.ts";
import { ADMIN_TOKEN } from "./configuration.ts";
import { expectAdminConforming } from "./conforming.ts";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MAIN = join(ROOT, "src/cli/main.js");
/** A gateway under way, as its own process. */
export class GatewayProcess {
  readonly child: Child;
  /** `http://127.0.0.1:PORT`, one per listen address. */
  readonly origins: readonly string[];
  readonly admin: string;

  constructor(child: Child, origins: readonly string[], admin: string) {
    this.child = child;
    this.origins = origins;
    this.admin = admin;
  }

  get origin(): string {
    return this.origins[0] ?? "";
  }

  chat(key: string, body: object, init: { signal?: AbortSignal; requestId?: string; origin?: string } = {}) {
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    if (init.requestId) headers["x-request-id"] = init.requestId;
    const url = `${init.origin ?? this.origin}/v1/chat/completions`;
    return fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal: init.signal });
  }

  /**
   * A GET, or with `method` another request, to the admin listener with its token; its answer must be as the OpenAPI
   * document says.
   */
  async ask(path: string, method = "GET", body?: object): Promise<Response> {
    const sent = { authorization: `Bearer ${ADMIN_TOKEN}`, ...(body && { "content-type": "application/json" }) };
    const url = `${this.admin}${path}`;
    const response = await fetch(url, { method, headers: sent, ...(body && { body: JSON.stringify(body) }) });
    const bytes = Buffer.from(await response.arrayBuffer());
    const { status, headers } = response;
    const answer = { status, headers: Object.fromEntries(headers), text: bytes.toString(), bytes };
    expectAdminConforming(method, path, answer);
    return new Response(status === 204 ? null : bytes, { status, headers });
  }

  async config(): Promise<ConfigStatus> {
    return (await (await this.ask("/admin/config")).json()) as ConfigStatus;
  }

  async reload(): Promise<{ readonly ok: boolean; readonly hash?: string }> {
    return (await (await this.ask("/admin/reload", "POST")).json()) as { ok: boolean; hash?: string };
  }

  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Exit> {
    return this.child.stop(signal);
  }
}

export interface ConfigStatus {
  readonly generation: number;
  readonly hash: string;
  readonly file: string;
  readonly pending: readonly string[];
  readonly last_rejection: {
    readonly at: string;
    readonly diagnostics: readonly { readonly message: string }[];
  } | null;
}

/** The simulator as its own process. */
export class SimProcess {
  readonly child: Child;
  readonly origin: string;

  constructor(child: Child, origin: string) {
    this.child = child;
    this.origin = origin;
  }

  async ledger(): Promise<readonly LedgerEntry[]> {
    return (await (await fetch(`${this.origin}/sim/ledger`)).json()) as readonly LedgerEntry[];
  }

  /** Empties the ledger. */
  async forget(): Promise<void> {
    await fetch(`${this.origin}/sim/ledger`, { method: "DELETE" });
  }

  async entry(requestId: string): Promise<LedgerEntry | null> {
    return (await this.ledger()).find((entry) => entry.requestId === requestId) ?? null;
  }
}

export interface Account {
  readonly id: string;
  readonly email: string;
  readonly key: string;
  readonly keyId: string;
}

/** A temporary folder with a configuration, and the processes that work on it. */
export class Workspace {
  readonly folder: string;
  /** Added to every child's environment. */
  readonly env: Record<string, string> = {};
  readonly #children = new Set<Child>();
  #users = 0;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "gateway-process-"));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a file in place; an object as JSON, which is YAML. */
  write(name: string, content: string | object): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), typeof content === "string" ? content : JSON.stringify(content, null, 1));
  }

  /** Writes a file beside and renames it into place, as editors and deployments do. */
  replace(name: string, content: string | object): void {
    this.write(`${name}.new`, content);
    renameSync(this.path(`${name}.new`), this.path(name));
  }

  /** Starts a program in the folder, with nothing of this process's environment but what programs need. */
  spawn(command: string, args: readonly string[], env: Record<string, string> = {}): Child {
    const base = {
      PATH: process.env["PATH"] ?? "",
      HOME: this.folder,
      NODE_COMPILE_CACHE: join(tmpdir(), "gateway-compile-cache"),
    };
    const child = new Child(command, args, { cwd: this.folder, env: { ...base, ...this.env, ...env } });
    this.#children.add(child);
    void child.exited.then(() => this.#children.delete(child));
    return child;
  }

  /** `gateway ARGS…` in the folder. */
  gateway(...args: readonly string[]): Child {
    return this.spawn(process.execPath, [MAIN, ...args]);
  }

  /** Runs a command to its end. */
  cli(...args: readonly string[]): Promise<Exit> {
    return this.gateway(...args).exited;
  }

  /** Runs a command that must succeed and reads its `--json`. */
  async json<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await this.cli(...args, "--json");
    if (code !== 0) throw new Error(`gateway ${args.join(" ")} ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** Starts `gateway serve` and waits until it is ready. */
  async serve(...args: readonly string[]): Promise<GatewayProcess> {
    return ready(this.gateway("serve", ...args));
  }

  async sim(): Promise<SimProcess> {
    const child = this.gateway("sim");
    const [, origin = ""] = await child.printed("stdout", /^(http:\S+)\n/);
    return new SimProcess(child, origin);
  }

  /** Works on the store as an account command does. */
  async onStore<T>(work: (store: Store) => T | Promise<T>): Promise<T> {
    const url = `sqlite:${this.path("data/gateway.db")}`;
    const store = await openStore(url, { serving: false, now: Date.now });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  /** A user with a key; credits in nano-units. */
  account(tier = "Free", credits = 1_000_000_000_000n): Promise<Account> {
    const email = `user${++this.#users}@example.com`;
    return this.onStore(async (store) => {
      const { id } = await createUser(store, { email, tier, credits });
      const { body } = await createKey(store, { userId: id, name: "test" });
      return { id, email, key: body.key, keyId: body.id };
    });
  }

  /** Waits until so many requests have run for long enough to leave a record of a killed process. */
  async recorded(requests: number): Promise<void> {
    const db = new DatabaseSync(this.path("data/gateway.db"), { readOnly: true });
    const count = db.prepare("SELECT count(*) AS requests FROM reservations");
    await poll(() => count.get()?.["requests"] === requests).finally(() => db.close());
  }

  /** A user's account; `drift` is what the invariant misses: credits granted = balance + sum of charges. */
  books(userId: string) {
    return this.onStore(async (store) => {
      const user = (await store.findUser(userId))!;
      const ledger = await store.ledger(userId);
      const outcomes = Object.fromEntries(ledger.map(({ requestId, outcome }) => [requestId, outcome]));
      const charged = ledger.reduce((sum, { charge }) => sum + charge, 0n);
      const drift = user.granted - user.balance - charged;
      return { user, ledger, outcomes, drift, running: await store.running(userId) };
    });
  }

  /** The ledger entry of a client's request id, once it is there. */
  charged(userId: string, requestId: string) {
    return poll(() =>
      this.onStore(
        async (store) => (await store.ledger(userId)).find((entry) => entry.requestId === requestId) ?? null,
      ),
    );
  }

  /** Ends what still runs and removes the folder. */
  async close(): Promise<void> {
    await Promise.all([...this.#children].map((child) => child.stop("SIGKILL")));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Waits until a gateway listens. */
export async function ready(child: Child, patience?: number): Promise<GatewayProcess> {
  const [line] = await child.printed("stderr", /^\{.*"msg":"listening".*\}$/m, patience);
  const { listen, admin } = JSON.parse(line) as { listen: string[]; admin: string };
  return new GatewayProcess(child, listen, admin);
}
