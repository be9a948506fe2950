/**
 * The floor: what no gateway of this kind on Node can leave out, and nothing else. To the bare proxy's work it adds the
 * JSON of request and answer, the model's other name, a charge that is stored before the answer leaves, and a line of log.
 * It checks nothing, knows no limits, streams nothing and tries nothing twice.
 * `node floor.ts ORIGIN STORE`: listens on a free port of loopback and prints it. STORE is a file of SQLite, or the URL of
 * a Redis, which is asked before and after the upstream.
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { Redis } from "ioredis";
import { destination } from "pino";
import { Pool } from "undici";
import type { Dispatcher } from "undici";
import { CommitQueue } from "../../src/store/sqlite/commits.ts";
import { MODEL } from "./wire.ts";

interface Charge {
  readonly user: string;
  readonly model: string;
  readonly prompt: number;
  readonly completion: number;
  readonly charge: bigint;
}

interface FloorStore {
  admit(user: string): Promise<unknown> | null;
  settle(charge: Charge): Promise<unknown>;
}

interface Answer {
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

const UPSTREAM_NAMES: ReadonlyMap<unknown, string> = new Map([[MODEL, "bench-1"]]);
/** Nano-units a token. */
const PRICE = { prompt: 150n, completion: 600n };

/** As the gateway writes its own. */
const log = destination({ dest: 2, sync: false, minLength: 32 * 1024, maxWrite: 64 * 1024, periodicFlush: 250 });

class FloorRelay implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;
  readonly #user: string;
  readonly #store: FloorStore;
  readonly #chunks: Buffer[] = [];
  #status = 0;

  constructor(response: ServerResponse, user: string, store: FloorStore) {
    this.#response = response;
    this.#user = user;
    this.#store = store;
  }

  onRequestStart(): void {
    // undici wants it.
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#chunks.push(bytes);
  }

  onResponseEnd(): void {
    const answer = JSON.parse(Buffer.concat(this.#chunks).toString()) as Answer;
    const { prompt_tokens: prompt, completion_tokens: completion } = answer.usage;
    const charge = BigInt(prompt) * PRICE.prompt + BigInt(completion) * PRICE.completion;
    const settling = this.#store.settle({ user: this.#user, model: MODEL, prompt, completion, charge });
    settling.then(
      () => this.#end(answer, charge),
      (error: unknown) => this.onResponseError(null, error),
    );
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.#response.writeHead(502).end(String(error));
  }

  #end(answer: Answer, charge: bigint): void {
    const body = JSON.stringify({ ...answer, model: MODEL });
    const length = String(Buffer.byteLength(body));
    this.#response.writeHead(this.#status, ["Content-Type", "application/json", "Content-Length", length]).end(body);
    const { usage } = answer;
    log.write(`${JSON.stringify({ time: Date.now(), user: this.#user, model: MODEL, usage, cost: String(charge) })}\n`);
  }
}

function sqliteStore(file: string): FloorStore {
  const db = new DatabaseSync(file);
  db.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
     CREATE TABLE users (id TEXT PRIMARY KEY, balance INTEGER NOT NULL) STRICT;
     CREATE TABLE ledger (seq INTEGER PRIMARY KEY, user TEXT, model TEXT, prompt INTEGER, completion INTEGER, charge INTEGER) STRICT`,
  );
  const insert = db.prepare("INSERT INTO ledger VALUES (NULL, ?, ?, ?, ?, ?)");
  const update = db.prepare(
    "INSERT INTO users VALUES (?1, -?2) ON CONFLICT DO UPDATE SET balance = balance + excluded.balance",
  );
  const charged = new Map<string, bigint>();
  const queue = new CommitQueue(db, {
    write() {
      for (const [user, charge] of charged) update.run(user, charge);
      charged.clear();
    },
  });
  return {
    admit: () => null,
    settle: ({ user, model, prompt, completion, charge }) =>
      queue.add(() => {
        insert.run(user, model, prompt, completion, charge);
        charged.set(user, (charged.get(user) ?? 0n) + charge);
      }),
  };
}

function redisStore(url: string): FloorStore {
  const redis = new Redis(url);
  return {
    admit: (user) => redis.hincrby("floor", user, 1),
    settle: ({ user, model, prompt, completion, charge }) =>
      redis.xadd("ledger", "*", "u", user, "m", model, "p", prompt, "c", completion, "n", String(charge)),
  };
}

function serve(pool: Pool, store: FloorStore, request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (bytes: Buffer) => chunks.push(bytes));
  request.on("end", () => {
    const { authorization = "" } = request.headers;
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Readonly<Record<string, unknown>>;
    const body = JSON.stringify({ ...asked, model: UPSTREAM_NAMES.get(asked["model"]) });
    const headers = { authorization, "content-type": "application/json", accept: "application/json" };
    const send = () =>
      pool.dispatch(
        { path: "/v1/chat/completions", method: "POST", headers, body },
        new FloorRelay(response, authorization, store),
      );
    const admitting = store.admit(authorization);
    if (admitting === null) send();
    else admitting.then(send, (error: unknown) => response.writeHead(502).end(String(error)));
  });
}

const [origin = "", location = ""] = process.argv.slice(2);
const pool = new Pool(origin, { connections: null, allowH2: false });
const store = location.startsWith("redis:") ? redisStore(location) : sqliteStore(location);
const server = createServer((request, response) => serve(pool, store, request, response));
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
