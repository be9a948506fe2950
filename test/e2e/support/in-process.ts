import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createKey } from "../../../src/accounts/api-keys.ts";
import { createTokens } from "../../../src/accounts/tokens.ts";
import { createUser } from "../../../src/accounts/users.ts";
import { type Gateway, type GatewayOptions, startGateway } from "../../../src/gateway/start.ts";
import { type Address, decimal, type Json, type Store, toNano } from "../../../src/kit/index.ts";
import type { GatewayLog } from "../../../src/telemetry/log.ts";
import { type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { type Books, expectBalanced, readBooks, type TestUser } from "./books.ts";
import { TestClock } from "./clock.ts";
import { expectAdminConforming, expectConforming } from "./conforming.ts";
import { ADMIN_TOKEN, baseConfig, type Chain, chainConfig, merge } from "./gateway-config.ts";
import { type Answer, eventually, Exchange, type Sent } from "./http.ts";

export type { Books, TestUser } from "./books.ts";

export const CHAT = "/v1/chat/completions";
/** The prompt of the simulator's default request: two words. */
export const MESSAGES = Object.freeze([Object.freeze({ role: "user", content: "Hello there" })]);

export interface TestGatewayOptions {
  /**
   * Merged into the base configuration: objects by key, everything else replaced, `null` removes. May depend on the
   * simulator's origin.
   */
  readonly config?: Json | ((origin: string) => Json);
  /** In place of the base configuration. */
  readonly base?: Json;
  /** Models by id, see `chainConfig`. */
  readonly chains?: Readonly<Record<string, Chain>>;
  /** Files beside the configuration, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Where lines of log go; nowhere unless given. */
  readonly log?: GatewayLog;
  /** In place of how busy this process is. */
  readonly measureLoad?: GatewayOptions["measureLoad"];
}

/** A gateway in this process on free ports of loopback, in front of a simulator of its own; everything in a folder of its own. */
export class TestGateway {
  readonly gateway: Gateway;
  readonly simulator: Simulator;
  readonly clock: TestClock;
  readonly #folder: string;
  readonly #users: TestUser[] = [];
  #named = 0;
  #config: Json;

  private constructor(parts: {
    gateway: Gateway;
    simulator: Simulator;
    clock: TestClock;
    folder: string;
    config: Json;
  }) {
    this.gateway = parts.gateway;
    this.simulator = parts.simulator;
    this.clock = parts.clock;
    this.#folder = parts.folder;
    this.#config = parts.config;
  }

  static async start({
    config = {},
    base,
    chains = {},
    files = {},
    log,
    measureLoad,
  }: TestGatewayOptions = {}): Promise<TestGateway> {
    const folder = await mkdtemp(join(tmpdir(), "gateway-e2e-"));
    const simulator = await startSimulator();
    const clock = new TestClock();
    const { origin } = simulator;
    const start = base ?? merge(baseConfig(folder), chainConfig(origin, chains));
    const whole = merge(start, typeof config === "function" ? config(origin) : config);
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o644 });
    await writeFile(join(folder, "gateway.yaml"), JSON.stringify(whole));
    const gateway = await startGateway({
      file: join(folder, "gateway.yaml"),
      mode: "serve",
      strict: false,
      env: {},
      logLevel: "silent",
      logPretty: false,
      now: clock.now,
      ...(log && { log }),
      ...(measureLoad && { measureLoad }),
    });
    return new TestGateway({ gateway, simulator, clock, folder, config: whole });
  }

  get url(): string {
    return urlOf(this.gateway.addresses[0]);
  }

  get secondUrl(): string {
    return urlOf(this.gateway.addresses[1]);
  }

  get adminUrl(): string {
    return urlOf(this.gateway.admin ?? undefined);
  }

  get store(): Store {
    return this.gateway.store;
  }

  /** Path of the configuration. */
  get file(): string {
    return join(this.#folder, "gateway.yaml");
  }

  /** A user with one key. @param credits decimal, 10 by default */
  async user({ tier = "Max", credits = "10" }: { tier?: string; credits?: string } = {}): Promise<TestUser> {
    const email = `user-${this.#named++}@example.com`;
    const { id } = await createUser(this.store, { email, tier, credits: toNano(decimal(credits)) });
    const { body } = await createKey(this.store, { userId: id, name: "test" });
    const user = { id, key: body.key, tier };
    this.#users.push(user);
    return user;
  }

  /** A valid access token of a user. */
  async token({ id, tier }: TestUser): Promise<string> {
    const settings = this.gateway.generation.snapshot.auth.tokens;
    const tokens = await createTokens({
      settings: () => settings,
      now: this.clock.now,
      remember: (_name, value) => value,
    });
    return (await tokens.issue({ id, tier })).access_token;
  }

  /** One request; its answer, when it is read to its end, must be as the OpenAPI document says. */
  request(path: string, { url = this.url, ...sent }: Sent & { url?: string } = {}): Exchange {
    const method = sent.method ?? "POST";
    return new Exchange(url + path, sent, (answer) => expectConforming(method, path, answer));
  }

  /** The same, to its end. */
  send(path: string, sent: Sent & { url?: string } = {}): Promise<Answer> {
    return this.request(path, sent).whole();
  }

  /** A GET with a user's key, or of nobody. */
  get(path: string, user?: TestUser): Promise<Answer> {
    return this.send(path, { method: "GET", headers: user ? { authorization: `Bearer ${user.key}` } : {} });
  }

  /** A chat request of a user for `route/one`, as `body` changes it. */
  open(user: TestUser, body: Json = {}, { headers, ...more }: Sent & { url?: string } = {}): Exchange {
    return this.request(CHAT, {
      headers: { authorization: `Bearer ${user.key}`, "content-type": "application/json", ...headers },
      body: { model: "route/one", messages: MESSAGES, ...body },
      ...more,
    });
  }

  /** The same, to its end. */
  chat(user: TestUser, body: Json = {}, more: Sent & { url?: string } = {}): Promise<Answer> {
    return this.open(user, body, more).whole();
  }

  async books({ id, tier }: TestUser): Promise<Books> {
    const limits = this.gateway.generation.snapshot.tiers[tier]?.limits;
    if (!limits) throw new Error(`no tier ${tier}`);
    return readBooks(this.store, id, limits);
  }

  /** Changes the configuration on disk; all earlier changes stay. The watcher may be quicker than a reload. */
  async write(patch: Json): Promise<void> {
    this.#config = merge(this.#config, patch);
    await writeFile(this.file, JSON.stringify(this.#config));
  }

  /** The same, and reloads. @returns what the reload said. */
  async reload(patch: Json): Promise<Awaited<ReturnType<Gateway["reload"]>>> {
    await this.write(patch);
    return this.gateway.reload();
  }

  /** A request to the admin listener, with its token; its answer must be as the OpenAPI document says. */
  admin(path: string, sent: Sent = {}): Promise<Answer> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, ...sent.headers };
    const check = (answer: Answer): void => expectAdminConforming(sent.method ?? "GET", path, answer);
    return new Exchange(this.adminUrl + path, { method: "GET", ...sent, headers }, check).whole();
  }

  /** One sample of the metrics: the sum over the series whose labels include `labels`. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const { text } = await this.admin("/metrics");
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return text
      .split("\n")
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => wanted.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  }

  /** What must hold whenever nothing runs, whatever happened before. Waits for what is still being settled. */
  async audit(): Promise<void> {
    const idle = async (): Promise<boolean> => {
      for (const { id } of this.#users) if ((await this.store.running(id)).requests > 0) return false;
      return this.simulator.open() === 0;
    };
    // Twice in a row: a request whose client has gone may only now be read.
    await eventually(async () => (await idle()) && (await sleep(10), await idle()), 20_000);
    assert.equal(await this.metric("gateway_active_streams"), 0);
    for (const user of this.#users) await expectBalanced(this.store, user);
  }

  /** Audits and stops. */
  async close(): Promise<void> {
    try {
      await this.audit();
    } finally {
      await this.stop();
    }
  }

  /** Stops without an audit. */
  async stop(): Promise<void> {
    await this.gateway.close();
    await this.simulator.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function urlOf(address: Address | undefined): string {
  if (!address) throw new Error("the gateway has no such listener");
  return `http://${address.host}:${address.port}`;
}
