import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse as parseYaml } from "yaml";
import type { GatewayConfig } from "#schema";
import { type Client, CLIENTS, KEY_VARIABLE } from "../src/cli/connect/clients.ts";
import { PLACEHOLDER, writeSettings } from "../src/cli/connect/formats.ts";
import { PROVIDER_DIRECTORY } from "../src/config/providers.ts";
import { checkConfig, isLoaded } from "../src/gateway/configuration.ts";
import type { Json, Upstream } from "../src/kit/index.ts";
import { ADMIN_TOKEN } from "./e2e/support/gateway-config.ts";
import { TestGateway } from "./e2e/support/in-process.ts";
import { ROOT } from "./support/modules.ts";
import { issue, serviceAccount, startTokenEndpoint, type TokenEndpoint } from "./upstream/signing/endpoint.ts";

const FOLDER = join(ROOT, "docs/recipes");
/** A line that is nothing but the name of a file, and the block behind it. */
const FILE = /^(?:In Python, as )?`([^`\n]+)`:\n\n```(\w+)\n(.*?)^```$/gms;

interface Recipe {
  readonly name: string;
  readonly text: string;
  /** Whole files, by their names. */
  readonly files: ReadonlyMap<string, string>;
}

const RECIPES: readonly Recipe[] = globSync("*.md", { cwd: FOLDER })
  .filter((path) => path !== "README.md")
  .toSorted()
  .map((path) => {
    const text = readFileSync(join(FOLDER, path), "utf8");
    const files = new Map([...text.matchAll(FILE)].map(([, file = "", , content = ""]) => [file, content]));
    return { name: basename(path, ".md"), text, files };
  });

const PROVIDERS = RECIPES.flatMap(({ name, text, files }) => {
  const yaml = files.get("gateway.yaml");
  return yaml === undefined ? [] : [{ name, text, yaml }];
});
const OTHERS = RECIPES.filter(({ files }) => !files.has("gateway.yaml"));

/** What the pages of clients show. */
const SHOWN = { url: "http://127.0.0.1:8080", key: null, model: "route/swift-mini", contextWindow: 128_000 };

test("the index leads to every page, and every page has a whole file and what to watch", () => {
  const index = readFileSync(join(FOLDER, "README.md"), "utf8");
  expect(PROVIDERS.length).toBeGreaterThanOrEqual(14);
  expect(OTHERS.length).toBeGreaterThanOrEqual(10);
  expect(RECIPES.filter(({ name }) => !index.includes(`](${name}.md)`)).map(({ name }) => name)).toEqual([]);
  expect(RECIPES.filter(({ files }) => files.size === 0).map(({ name }) => name)).toEqual([]);
  expect(RECIPES.filter(({ text }) => !/\n## What to watch\n\n- /.test(text)).map(({ name }) => name)).toEqual([]);
});

/** As a start sees it whose variables are set. */
async function load(yaml: string) {
  const file = join(ROOT, "recipe.yaml");
  const env = Object.fromEntries([...yaml.matchAll(/\$\{env:(\w+)/g)].map(([, name = ""]) => [name, "a-key"]));
  return checkConfig({ file, env, strict: true, read: async (path) => (path === file ? yaml : "") });
}

describe.each(PROVIDERS)("$name", ({ text, yaml }) => {
  test("passes a strict check", async () => {
    const { ok, diagnostics } = await load(yaml);
    expect({ ok, found: diagnostics.map(({ message }) => message) }).toEqual({ ok: true, found: [] });
  });

  test("says where its models and prices are from, which variable holds the key, and how it is run", () => {
    const { models = {}, upstreams } = parseYaml(yaml) as GatewayConfig;
    const paid = Object.values(models).filter(({ price }) => price !== undefined);
    expect(paid.every(({ price }) => price?.verified_at !== undefined)).toBe(true);
    expect(paid.length === 0 || /^# List prices.*: https:\/\/\S+/m.test(yaml)).toBe(true);
    expect(paid.length === 0 || /^# .*(?:ids|regions|Models).*: https:\/\/\S+/m.test(yaml)).toBe(true);
    for (const [upstream, { dialect, vendor, api_keys: keys = [] }] of Object.entries(upstreams)) {
      const entry = PROVIDER_DIRECTORY.get(vendor ?? (dialect === "openai" ? upstream : dialect));
      const own = keys.filter((one) => one !== "application-default");
      expect(own).toEqual(own.length === 0 ? [] : [`\${env:${entry?.keyVariable}}`]);
    }
    const variables = [...yaml.matchAll(/\$\{env:(\w+)/g)].map(([, name = ""]) => name);
    expect(variables.filter((name) => !text.includes(`${name}=`) && !text.includes(`${name}: `))).toEqual([]);
    expect(text).toContain("\nnpx gateway dev");
  });
});

interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
}

/** Says hello in the way of the path that it is asked at. */
class Provider {
  readonly asked: Asked[] = [];
  readonly #server: Server = createServer(async (req, res) => {
    const body = JSON.parse((await buffer(req)).toString()) as Json;
    this.asked.push({ path: req.url!, headers: req.headers, body });
    const answer = ANSWERS.find(([path]) => path.test(req.url!))?.[1] ?? {};
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });

  async start(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const CLAUDE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content: [{ type: "text", text: "hello" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
};
const ANSWERS: readonly (readonly [path: RegExp, answer: object])[] = [
  [
    /\/chat\/completions/,
    {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
  ],
  [/\/messages$|:rawPredict$/, CLAUDE],
  [
    /:generateContent$/,
    {
      candidates: [{ content: { role: "model", parts: [{ text: "hello" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  ],
  [
    /\/converse$/,
    {
      output: { message: { role: "assistant", content: [{ text: "hello" }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    },
  ],
];

/** Where a chat is asked for, how the key is sent, and whether the body names the model; by the provider's documentation. */
function expected(
  { dialect, base }: { dialect: Upstream["dialect"]; base: string },
  model: string,
  key: string | null,
) {
  const isVertex = base.includes("/publishers/");
  const bearer = { authorization: key === null ? undefined : `Bearer ${key}` };
  const encoded = encodeURIComponent(model);
  switch (dialect) {
    case "anthropic":
      return isVertex
        ? { path: `${base}/models/${model}:rawPredict`, headers: bearer, model: undefined }
        : { path: `${base.replace(/\/v1$/, "")}/v1/messages`, headers: { "x-api-key": key }, model };
    case "gemini":
      return isVertex
        ? { path: `${base}/models/${model}:generateContent`, headers: bearer, model: undefined }
        : {
            path: `${base}/v1beta/models/${model}:generateContent`,
            headers: { "x-goog-api-key": key },
            model: undefined,
          };
    case "bedrock":
      return { path: `${base}/model/${encoded}/converse`, headers: bearer, model: undefined };
    case "azure":
      return { path: `${base}/chat/completions`, headers: { "api-key": key }, model };
    default:
      return { path: `${base}/chat/completions`, headers: bearer, model };
  }
}

interface Case {
  readonly recipe: string;
  readonly route: string;
  readonly model: string;
  readonly upstream: { readonly dialect: Upstream["dialect"]; readonly base: string };
  readonly key: string | null;
  readonly provider: Provider;
}

describe("through a gateway that has all of them", () => {
  const cases: Case[] = [];
  const providers: Provider[] = [];
  let gateway: TestGateway;
  let tokens: TokenEndpoint;
  let key: string;

  beforeAll(async () => {
    const upstreams: Record<string, Json> = {};
    const models: Record<string, Json> = {};
    tokens = await startTokenEndpoint((response) => issue(response, GOOGLE_TOKEN));
    for (const { name, yaml } of PROVIDERS) await addRecipe(name, yaml, upstreams, models);
    const sim = { dialect: "openai", base_url: "sim:", api_keys: ["sim"] };
    const price = { input_per_million: 1, output_per_million: 1 };
    gateway = await TestGateway.start({
      base: {
        version: 1,
        server: {
          listen: [{ host: "127.0.0.1", port: 0 }],
          admin: { host: "127.0.0.1", port: 0, token: ADMIN_TOKEN },
          ip_limit: "none",
        },
        store: { url: "memory:" },
        upstreams: { ...upstreams, sim },
        models: {
          ...models,
          [SHOWN.model]: { kind: "chat", price, chain: [{ upstream: "sim", model: "small" }] },
        },
      },
    });
    ({ key } = await gateway.user({ tier: "Open" }));
  });
  afterAll(async () => {
    await gateway.close();
    await tokens.close();
    for (const provider of providers) provider.close();
  });

  /** With its addresses replaced by that of a stand-in. What the gateway knew by the host is said instead. */
  async function addRecipe(
    recipe: string,
    yaml: string,
    upstreams: Record<string, Json>,
    models: Record<string, Json>,
  ): Promise<void> {
    const config = parseYaml(yaml) as GatewayConfig;
    const loaded = await load(yaml);
    expect(isLoaded(loaded)).toBe(true);
    const providerOf = new Map<string, Provider>();
    for (const [name, settings] of Object.entries(config.upstreams)) {
      const provider = new Provider();
      providers.push(provider);
      providerOf.set(name, provider);
      const base = new URL(settings.base_url).pathname.replace(/\/$/, "");
      const { vendor } = loaded.snapshot!.upstreams[name]!;
      upstreams[`${recipe}-${name}`] = {
        ...settings,
        base_url: (await provider.start()) + base,
        ...(settings.dialect === "openai" && { vendor }),
        ...(settings.api_keys && { api_keys: [isGoogles(settings) ? serviceAccount(tokens.url) : keyOf(recipe)] }),
      };
    }
    for (const [id, settings] of Object.entries(config.models ?? {})) {
      const [step] = settings.chain;
      const { upstream, model } = step as { readonly upstream: string; readonly model: string };
      const route = `route/${recipe}-${id.replace("route/", "")}`;
      models[route] = { ...settings, chain: [{ upstream: `${recipe}-${upstream}`, model }] };
      const first = config.upstreams[upstream]!;
      const { dialect, base_url: url, api_keys: keys } = first;
      cases.push({
        recipe,
        route,
        model,
        upstream: { dialect, base: new URL(url).pathname.replace(/\/$/, "") },
        key: keys === undefined ? null : isGoogles(first) ? GOOGLE_TOKEN : keyOf(recipe),
        provider: providerOf.get(upstream)!,
      });
    }
  }

  test("a chat reaches the provider's path with its key and the model, and is answered", async () => {
    for (const { recipe, route, model, upstream, key: providerKey, provider } of cases) {
      const answer = await gateway.send("/v1/chat/completions", {
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: { model: route, messages: [{ role: "user", content: "Say hello." }] },
      });
      expect({ recipe, status: answer.status, text: answer.text }).toMatchObject({ recipe, status: 200 });
      expect(answer.text).toContain(`"content":"hello"`);
      const want = expected(upstream, model, providerKey);
      const { path, headers, body } = provider.asked.at(-1)!;
      expect({ recipe, path: decodeURIComponent(path), model: body["model"] }).toEqual({
        recipe,
        path: decodeURIComponent(want.path),
        model: want.model,
      });
      for (const [name, value] of Object.entries(want.headers)) expect([name, headers[name]]).toEqual([name, value]);
    }
    expect(new Set(cases.map(({ recipe }) => recipe)).size).toBe(PROVIDERS.length);
  });

  test("programs of the pages run", async () => {
    // Below node_modules, where their packages are found.
    const folder = mkdtempSync(join(ROOT, "node_modules/.recipes-"));
    const load = createRequire(import.meta.url)("./config/native-import.cjs") as (url: string) => Promise<unknown>;
    const said: string[] = [];
    vi.stubEnv(KEY_VARIABLE, key);
    const log = vi.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
    try {
      const programs = OTHERS.flatMap(({ files }) => [...files]).filter(([file]) => file.endsWith(".mjs"));
      expect(programs.length).toBeGreaterThanOrEqual(3);
      for (const [file, text] of programs) {
        const path = join(folder, file);
        writeFileSync(path, text.replaceAll(SHOWN.url, gateway.url));
        await load(pathToFileURL(path).href);
        expect({ file, said: said.splice(0).every((line) => line.length > 0) }).toEqual({ file, said: true });
      }
    } finally {
      log.mockRestore();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

const GOOGLE_TOKEN = "token-of-google";

function keyOf(recipe: string): string {
  return `key-of-${recipe}`;
}

/** The machine's own credentials: a service account stands in for them. */
function isGoogles({ api_keys: keys = [] }: GatewayConfig["upstreams"][string]): boolean {
  return keys.includes("application-default");
}

describe.each(CLIENTS.map((client) => [client.name, client] as const))("the page of %s", (_name, client: Client) => {
  test("shows what connect prints", () => {
    const pages = OTHERS.filter(({ files }) => files.has(client.shown));
    expect(pages).toHaveLength(1);
    const [{ text, files }] = pages as [Recipe];
    expect(files.get(client.shown)).toBe(writeSettings(client.format, client.settings(SHOWN)));
    expect(text).toContain(`npx gateway connect ${client.name} `);
  });
});

test("files of clients name the address and the model, and their pages where the key comes from", () => {
  const shipped = parseYaml(readFileSync(join(ROOT, "gateway.yaml"), "utf8")) as GatewayConfig;
  expect(shipped.models).toHaveProperty([SHOWN.model]);
  for (const { name, text, files } of OTHERS) {
    for (const [file, content] of files) {
      expect([name, file, content.includes(SHOWN.url), content.includes(SHOWN.model)]).toEqual([
        name,
        file,
        true,
        true,
      ]);
    }
    expect([name, new RegExp(`${KEY_VARIABLE}|${PLACEHOLDER}|OPENAI_API_KEY`).test(text)]).toEqual([name, true]);
  }
});
