import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, rmSync, statSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { stringify } from "yaml";
import { createKey } from "../../../src/accounts/api-keys.ts";
import { SignInLinks } from "../../../src/accounts/sign-in/links.ts";
import { createUser } from "../../../src/accounts/users.ts";
import { type Gateway, startGateway } from "../../../src/gateway/start.ts";
import { decimal, type Json, toNano } from "../../../src/kit/index.ts";
import { scriptedUrl, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { openSmtp } from "../../accounts/sign-in/smtp.ts";
import { merge } from "../../e2e/support/gateway-config.ts";
import { type Answer, eventually, send } from "../../e2e/support/http.ts";
import { Switch } from "../../e2e/support/switch.ts";
import { ROOT } from "../../support/modules.ts";
import { freePort } from "../../support/ports.ts";
import { launch, type Looks, Visitor } from "./browser.ts";

export const OPERATOR_TOKEN = "operator-token-of-the-browser-suites";
export const VIEWER_TOKEN = "viewer-token-of-the-browser-suites";
/** What a provider refuses with, which must not become what it looks like. */
export const REFUSAL = `&lt;img src=x onerror="document.title='run'"&gt; & {{7*7}} < 50`;
/** What a page must show as it is written. */
export const MARKUP = `<img src=x onerror="document.title='run'"><b>bold</b>`;

export interface Guest {
  readonly id: string;
  readonly email: string;
  readonly key: string;
}

interface Parts {
  readonly folder: string;
  readonly config: Json;
  readonly gateway: Gateway;
  readonly links: SignInLinks;
  readonly simulator: Simulator;
  readonly flaky: Switch;
  readonly smtp: Awaited<ReturnType<typeof openSmtp>>;
  readonly browser: Browser;
}

/** A gateway as people meet it: with a mail server, providers that fail when told to, and a browser. On the real clock. */
export class Stage {
  gateway: Gateway;
  /** As `gateway dev` makes them. */
  readonly links: SignInLinks;
  /** In front of the first provider of `route/swift`. */
  readonly flaky: Switch;
  readonly #parts: Parts;
  #config: Json;
  #named = 0;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.gateway = parts.gateway;
    this.links = parts.links;
    this.flaky = parts.flaky;
    this.#config = parts.config;
  }

  /** @param patch merged into the configuration, see `merge`. */
  static async set(patch: Json = {}): Promise<Stage> {
    await build();
    const folder = await mkdtemp(join(tmpdir(), "gateway-browser-"));
    const [simulator, smtp, browser] = await Promise.all([startSimulator(), openSmtp(), launch()]);
    const flaky = await Switch.start(simulator.origin);
    const places = { folder, origin: simulator.origin, flaky: flaky.url, smtp: smtp.url };
    const ports = [await freePort(), await freePort()] as const;
    const config = merge(configuration({ ...places, ports }), patch);
    const file = join(folder, "gateway.yaml");
    await writeFile(file, stringify(config));
    const links = new SignInLinks(Date.now);
    const gateway = await serve(file, links).catch(async (error: unknown) => {
      await browser.close();
      throw error;
    });
    return new Stage({ folder, config, gateway, links, simulator, flaky, smtp, browser });
  }

  get url(): string {
    return urlOf(this.gateway.addresses[0]);
  }

  get adminUrl(): string {
    return urlOf(this.gateway.admin);
  }

  get file(): string {
    return join(this.#parts.folder, "gateway.yaml");
  }

  /** Of the simulator. */
  get origin(): string {
    return this.#parts.simulator.origin;
  }

  breaker(upstream: string): string {
    return this.gateway.generation.host.breaker(upstream).state;
  }

  /** As the configuration began. */
  chainOf(model: string): unknown {
    return (this.#parts.config as { models: Readonly<Record<string, { chain: unknown }>> }).models[model]!.chain;
  }

  /** Somebody with a browser of their own; what their page did wrong fails the test when they leave. */
  async visit(looks: Looks, stay: (visitor: Visitor) => Promise<void>): Promise<void> {
    const visitor = await Visitor.enter(this.#parts.browser, looks);
    try {
      await stay(visitor);
    } catch (error) {
      const shown = await visitor.page.innerText("body", { timeout: 1_000 }).catch(() => "no page");
      console.error(`at ${visitor.page.url()} was shown:\n${shown}`);
      await visitor.leave().catch((fault: unknown) => console.error(fault));
      throw error;
    }
    await visitor.leave();
  }

  async guest({ email, tier = "Max", credits = "25" }: { email?: string; tier?: string; credits?: string } = {}) {
    this.#named += 1;
    const address = email ?? `guest-${this.#named}@example.com`;
    const user = await createUser(this.gateway.store, { email: address, tier, credits: toNano(decimal(credits)) });
    const { body } = await createKey(this.gateway.store, { userId: user.id, name: "laptop" });
    return { id: user.id, email: user.email, key: body.key } satisfies Guest;
  }

  /** The newest code that was mailed to an address, once there are more than `after`. */
  async code(email: string, after = 0): Promise<string> {
    await eventually(() => this.#codes(email).length > after);
    return this.#codes(email).at(-1)!;
  }

  #codes(email: string): readonly string[] {
    return this.#parts.smtp.mails
      .filter(({ to }) => to.includes(email))
      .flatMap(({ raw }) => /code is (\d{6})/.exec(raw)?.[1] ?? []);
  }

  /** Signs a visitor in as a browser does, without the forms, and opens a view of the dashboard. */
  async signIn({ context, page }: Visitor, email: string, view = "/"): Promise<void> {
    const codes = this.#codes(email).length;
    const headers = { origin: this.url };
    await context.request.post(`${this.url}/auth/login`, { data: { email }, headers });
    const code = await this.code(email, codes);
    const answer = await context.request.post(`${this.url}/auth/login/verify`, { data: { email, code }, headers });
    assert.equal(answer.status(), 200, await answer.text());
    await page.goto(`${this.url}/#${view}`);
    await page
      .getByRole("navigation", { name: "Pages", exact: true, includeHidden: true })
      .waitFor({ state: "attached" });
  }

  /** The same for the console. */
  async signInAdmin({ context, page }: Visitor, token = OPERATOR_TOKEN, view = "/"): Promise<void> {
    const answer = await context.request.post(`${this.adminUrl}/admin/session`, {
      data: { token },
      headers: { origin: this.adminUrl },
    });
    assert.equal(answer.status(), 200, await answer.text());
    await page.goto(`${this.adminUrl}/console#${view}`);
    await page
      .getByRole("navigation", { name: "Pages", exact: true, includeHidden: true })
      .waitFor({ state: "attached" });
  }

  /** A request as a program makes it. */
  chat(key: string, model: string, more: Json = {}): Promise<Answer> {
    return send(`${this.url}/v1/chat/completions`, {
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: { model, messages: [{ role: "user", content: "Tell me about rivers." }], ...more },
    });
  }

  /** Changes the configuration on disk; all earlier changes stay. */
  async write(patch: Json): Promise<void> {
    this.#config = merge(this.#config, patch);
    await writeFile(this.file, stringify(this.#config));
  }

  /** As it was last written by `write`, with what no configuration can be. */
  async spoil(text: (good: string) => string): Promise<void> {
    await writeFile(this.file, text(stringify(this.#config)));
  }

  /** Nobody answers, until `start`. */
  stop(): Promise<void> {
    return this.gateway.close();
  }

  /** Again, on the same addresses. */
  async start(): Promise<void> {
    this.gateway = await serve(this.file, this.links);
  }

  async close(): Promise<void> {
    const { gateway } = this;
    const { browser, simulator, flaky, smtp, folder } = this.#parts;
    await browser.close();
    await gateway.close();
    await Promise.all([simulator.close(), flaky.close(), smtp.close()]);
    await rm(folder, { recursive: true, force: true });
  }
}

const LOCK = join(ROOT, "dist/.building");
/** Longer than any build takes: who made the lock is gone. */
const LOCK_MS = 30_000;

/** The pages as the sources are now: what was built before them proves nothing. One suite builds for all. */
async function build(): Promise<void> {
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  let mine = false;
  await eventually(() => isFresh() || (mine = tryToLock()), 2 * LOCK_MS);
  if (!mine) return;
  const { status, stderr } = spawnSync(process.execPath, ["src/ui/build.ts"], { cwd: ROOT, encoding: "utf8" });
  rmSync(LOCK, { recursive: true });
  if (status !== 0) throw new Error(`the pages cannot be built: ${stderr}`);
}

function isFresh(): boolean {
  const built = statSync(join(ROOT, "dist/ui/manifest.json"), { throwIfNoEntry: false });
  if (built === undefined || existsSync(LOCK)) return false;
  return globSync(["src/ui/**/*.*"], { cwd: ROOT }).every(
    (name) => statSync(join(ROOT, name)).mtimeMs <= built.mtimeMs,
  );
}

/** @returns whether it was this process that has made the lock. */
function tryToLock(): boolean {
  const held = statSync(LOCK, { throwIfNoEntry: false });
  if (held !== undefined && Date.now() - held.mtimeMs > LOCK_MS) rmSync(LOCK, { recursive: true, force: true });
  try {
    mkdirSync(LOCK);
    return true;
  } catch {
    return false;
  }
}

function serve(file: string, links: SignInLinks): Promise<Gateway> {
  return startGateway({ file, mode: "serve", strict: false, env: {}, logLevel: "silent", links });
}

function urlOf(address: { readonly host: string; readonly port: number } | null | undefined): string {
  if (!address) throw new Error("the gateway has no such listener");
  return `http://${address.host}:${address.port}`;
}

interface Places {
  readonly folder: string;
  readonly origin: string;
  readonly flaky: string;
  readonly smtp: string;
  /** Of both listeners: a gateway that is started again is where it was. */
  readonly ports: readonly [number, number];
}

const UNLIMITED = { day: "none", hour: "none", minute: "none", streams: 20 };

function chat(display_name: string, upstreams: readonly string[], more: Json = {}): Json {
  return {
    kind: "chat",
    tier: "Free",
    display_name,
    owned_by: upstreams[0],
    context_window: 128_000,
    max_output: 16_384,
    features: ["tools"],
    price: { input_per_million: 2, output_per_million: 8 },
    chain: upstreams.map((upstream) => ({ upstream, model: `${upstream}-large` })),
    ...more,
  };
}

function configuration({ folder, origin, flaky, smtp, ports }: Places): Json {
  const sim = (name: string, script: string) => ({
    dialect: "openai",
    display_name: name,
    base_url: scriptedUrl(origin, script),
    api_keys: ["upstream-key"],
  });
  return {
    version: 1,
    server: {
      listen: [{ host: "127.0.0.1", port: ports[0] }],
      admin: {
        host: "127.0.0.1",
        port: ports[1],
        tokens: [
          { name: "olga", token: OPERATOR_TOKEN, role: "operator" },
          { name: "victor", token: VIEWER_TOKEN, role: "viewer" },
        ],
      },
      ip_limit: "none",
    },
    store: { url: `sqlite:${join(folder, "gateway.db")}` },
    auth: {
      tokens: { secrets: [{ kid: "a", value: "a secret of the test, longer than 32 bytes" }] },
      signup: { tier: "Free", credits: 2.5 },
      email: { from: "gateway@example.com", smtp },
    },
    tiers: {
      Free: { access: ["Free"], limits: { day: 50, hour: 50, minute: 100, streams: 5 } },
      Tiny: { access: ["Free"], limits: { ...UNLIMITED, day: 3 } },
      Premium: { access: ["Free", "Premium"], limits: { day: 1500, hour: 500, minute: 100, streams: 50 } },
      Max: { access: "all", limits: UNLIMITED },
    },
    defaults: {
      upstream: {
        breaker: { consecutive: 3, window: "30s", open_for: "2s", max_open_for: "4s" },
      },
    },
    upstreams: {
      aurora: { dialect: "openai", display_name: "Aurora", base_url: flaky, api_keys: ["upstream-key"] },
      borealis: sim("Borealis", "chunk_delay=5ms"),
      cirrus: sim("Cirrus", "chunks=4000&chunk_delay=50ms"),
      dune: sim("Dune", `status=400&message=${encodeURIComponent(REFUSAL)}`),
    },
    models: {
      "route/swift": chat("Swift", ["aurora", "borealis"]),
      "route/deep": chat("Deep", ["borealis", "aurora"], { tier: "Premium", features: ["tools", "vision"] }),
      "route/long": chat("Long river", ["cirrus"]),
      "route/odd": chat(MARKUP, ["dune"]),
    },
    pipeline: ["auth", "plan-check", "quota", "breaker", "stream-relay", "meter"],
    status: {
      incidents: [
        {
          id: "move",
          title: "Move to another region",
          description: "Answers may take a second longer on Saturday.",
          severity: "warning",
          status: "resolved",
          created_at: new Date(Date.now() - 50 * 3_600_000).toISOString(),
          resolved_at: new Date(Date.now() - 44 * 3_600_000).toISOString(),
        },
      ],
    },
  };
}
