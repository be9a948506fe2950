import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { parse } from "yaml";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { init, type InitOptions } from "../../src/cli/init.ts";
import { ExitError } from "../../src/cli/options.ts";
import { runCommand } from "../../src/cli/program.ts";
import { totalsOf } from "../../src/config-tests/report.ts";
import { runTests } from "../../src/config-tests/run.ts";
import { CAPABILITIES } from "../../src/dialects/capabilities.ts";
import { PROVIDER_DIRECTORY, type ProviderEntry } from "../../src/config/providers.ts";
import { createKey } from "../../src/accounts/api-keys.ts";
import { createUser } from "../../src/accounts/users.ts";
import { checkConfig } from "../../src/gateway/configuration.ts";
import { urlOf } from "../../src/gateway/listeners.ts";
import { startGateway } from "../../src/gateway/start.ts";
import { startSimulator } from "../../src/simulator/server.ts";
import type { Terminal } from "../../src/cli/questions.ts";
import { Workspace } from "../e2e/support/process.ts";

const KEY = "sk-not-to-be-seen-1";

interface ListCase {
  readonly dialect: string;
  /** Path of the base URL. */
  readonly base: string;
  readonly pages: readonly { readonly path: string; readonly body: unknown }[];
}

/** What providers answer to the question for their models, as their documentation has it, by name of the case. */
const FOLDER = new URL("../upstream/model-lists/", import.meta.url);
const LISTS = new Map(
  readdirSync(FOLDER).map((name) => [
    name.replace(".json", ""),
    JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as ListCase,
  ]),
);
const PAGES: ReadonlyMap<string, unknown> = new Map(
  [...LISTS].flatMap(([name, { pages }]) => pages.map(({ path, body }) => [`/${name}${path}`, body] as const)),
);

let server: Server;
let origin: string;
let asked: { readonly path: string; readonly headers: string }[];
let workspace: Workspace;

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push({ path, headers: JSON.stringify(request.headers) });
    const body = PAGES.get(path);
    const isRefused = path.startsWith("/refused/");
    response.writeHead(isRefused ? 401 : body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { error: { message: `bad key ${KEY}` } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  asked = [];
  workspace = new Workspace();
  for (const { keyVariable } of PROVIDER_DIRECTORY.values()) vi.stubEnv(keyVariable, undefined);
});
afterEach(() => workspace.close());

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs something that prints, in the workspace. */
async function printed(work: () => Promise<unknown>): Promise<Outcome> {
  const said = { stdout: "", stderr: "" };
  vi.spyOn(process, "cwd").mockReturnValue(workspace.folder);
  const writes = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      said[name] += String(text);
      return true;
    }),
  );
  try {
    await work();
    return { code: Number(process.exitCode ?? 0), ...said };
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    return { code: error.exitCode, ...said, stderr: `${said.stderr}${error.message}\n` };
  } finally {
    for (const write of writes) write.mockRestore();
    process.exitCode = undefined;
  }
}

/** `gateway init ARGS…` without a terminal. */
const command = (...args: readonly string[]): Promise<Outcome> =>
  printed(() => runCommand(["init", ...args, "--config", workspace.path("gateway.yaml")]));

/** The same without the command line; `env` in place of the process's. */
function call(
  options: InitOptions,
  env: Readonly<Record<string, string>> = {},
  terminal: Terminal | null = null,
): Promise<Outcome> {
  const place = { terminal, env, now: () => Date.UTC(2026, 10, 28) };
  return printed(() => init({ config: workspace.path("gateway.yaml"), ...options }, place));
}

const read = (name: string): string => readFileSync(workspace.path(name), "utf8");
const files = (): readonly string[] => readdirSync(workspace.folder).toSorted();
const FILES = [".env", "gateway.test.yaml", "gateway.yaml"];

/** The errors of `check`. */
async function errors(): Promise<readonly string[]> {
  const { diagnostics } = await checkConfig({ file: workspace.path("gateway.yaml"), env: {} });
  return diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
}

/** What `check` and `gateway test` say of the files. */
async function verdict() {
  const results = await runTests([workspace.path("gateway.test.yaml")], { env: {}, clock: () => performance.now() });
  const { tests, failed, broken } = totalsOf(results);
  return { errors: await errors(), failed: failed + broken, tested: tests > 1 };
}
const FINE = { errors: [], failed: 0, tested: true };

const ENTRIES = [...PROVIDER_DIRECTORY.values()];

/** Where the stand-in of a provider is. */
function standIn({ name, dialect, vendor, local }: ProviderEntry): string {
  const named = [name, local ? "local-servers" : "", vendor === undefined ? dialect : ""].find((one) => LISTS.has(one));
  const list = named ?? "openai";
  return `${origin}/${list}${LISTS.get(list)!.base}`;
}

describe("every provider of the directory", () => {
  test.for(ENTRIES.map((entry) => [entry.name, entry] as const))("%s that answers", async ([name, entry]) => {
    const { code, stdout, stderr } = await call({ provider: name, url: standIn(entry), key: KEY, yes: true });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(files()).toEqual(FILES);
    expect(statSync(workspace.path(".env")).mode & 0o777).toBe(0o600);
    expect(stdout + stderr).not.toContain(KEY);
    expect(read("gateway.yaml")).not.toContain(KEY);
    expect(read(".env")).toContain(`\n${entry.keyVariable}=${KEY}\n`);
    expect(await errors()).toEqual([]);
  });

  test.for(ENTRIES.map((entry) => [entry.name, entry] as const))("%s out of reach", async ([name, entry]) => {
    const { code, stderr } = await call({ provider: name, url: "http://127.0.0.1:9/x", yes: true });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain("cannot list the models: 127.0.0.1:9");
    expect(files()).toEqual(FILES);
    expect(await errors()).toEqual([]);
    expect(read("gateway.yaml")).toContain(`dialect: ${entry.dialect}`);
  });

  test.for(Object.keys(CAPABILITIES))(
    "%s: the tests of the configuration pass, for each kind of model",
    async (name) => {
      const model = ["embed-1", "rerank-1", "tts-1", "whisper-1", "dall-e-1", "chat-1"];
      await call({ provider: name, url: "http://127.0.0.1:9/x", key: KEY, model });
      expect(await verdict()).toEqual(FINE);
    },
  );
});

interface Written {
  readonly upstreams: Readonly<
    Record<string, { readonly base_url: string; readonly vendor?: string; readonly api_keys?: readonly string[] }>
  >;
  readonly models: Readonly<
    Record<string, { readonly price?: unknown; readonly chain: readonly { readonly model: string }[] }>
  >;
  readonly server?: unknown;
}
const written = (): Written => parse(read("gateway.yaml")) as Written;
const modelsOf = ({ models }: Written): readonly string[] => Object.values(models).map(({ chain }) => chain[0]!.model);
const at = (list: string): string => `${origin}/${list}${LISTS.get(list)!.base}`;

describe("what is written", () => {
  test("the newest chat model of a provider, all models of a server of one's own, those that are named", async () => {
    await call({ provider: "openai", url: at("openai"), key: KEY });
    const listed = (LISTS.get("openai")!.pages[0]!.body as { data: { id: string; created: number }[] }).data;
    expect(modelsOf(written())).toHaveLength(1);
    expect(listed.map(({ id }) => id)).toContain(modelsOf(written())[0]);

    workspace = new Workspace();
    await call({ provider: "ollama", url: at("local-servers") });
    expect(modelsOf(written()).length).toBeGreaterThan(1);

    workspace = new Workspace();
    const { stderr } = await call({
      provider: "openai",
      url: at("openai"),
      key: KEY,
      model: ["a/b c", "gpt-4o-mini", "A:1"],
    });
    expect(Object.keys(written().models)).toEqual(["route/a-b-c", "route/gpt-4o-mini", "route/A:1"]);
    expect(modelsOf(written())).toEqual(["a/b c", "gpt-4o-mini", "A:1"]);
    expect(stderr).toContain("OpenAI does not list 'a/b c'");
    expect(await verdict()).toEqual(FINE);
  });

  test("a price that the provider lists, with its day; else 0, a comment and a warning; nothing for a local server", async () => {
    const { stderr } = await call({ provider: "openrouter", url: at("openrouter"), key: KEY });
    expect(Object.values(written().models)[0]?.price).toMatchObject({ verified_at: "2026-11-28" });
    expect(stderr).not.toContain("price");

    workspace = new Workspace();
    const other = await call({ provider: "groq", url: at("groq"), key: KEY, model: ["x"] });
    expect(other.stderr).toContain("the price of x is 0: requests cost your users nothing until you write it");
    expect(read("gateway.yaml")).toContain("# Write the provider's price here");

    workspace = new Workspace();
    const local = await call({ provider: "compatible", url: at("local-servers") });
    expect(local.stderr).not.toContain("price");
    expect(written().upstreams["compatible"]).not.toHaveProperty("api_keys");
  });

  test("--key-env and the provider's own variable are references: no secret is written", async () => {
    await call({ provider: "openai", url: at("openai"), keyEnv: "MY_KEY" }, { MY_KEY: KEY });
    expect(written().upstreams["openai"]!.api_keys).toEqual(["${env:MY_KEY}"]);
    expect(asked.at(-1)!.headers).toContain(KEY);
    expect(FILES.map(read).join("")).not.toContain(KEY);

    workspace = new Workspace();
    const { stdout, stderr } = await call({ provider: "openai", url: at("openai") }, { OPENAI_API_KEY: KEY });
    expect(written().upstreams["openai"]!.api_keys).toEqual(["${env:OPENAI_API_KEY}"]);
    expect(FILES.map(read).join("") + stdout + stderr).not.toContain(KEY);

    workspace = new Workspace();
    await call({ provider: "lmstudio", url: at("local-servers") }, { LM_API_TOKEN: KEY });
    expect(written().upstreams["lmstudio"]!.api_keys).toEqual(["${env:LM_API_TOKEN}"]);

    workspace = new Workspace();
    expect((await call({ provider: "openai", url: at("openai"), keyEnv: "MY_KEY" })).stderr).toContain(
      "MY_KEY is not set",
    );
    workspace = new Workspace();
    expect((await call({ provider: "openai", url: at("openai") })).stderr).toContain(
      "write it into .env as OPENAI_API_KEY=",
    );
  });

  test("a refused key is a warning without the key", async () => {
    const { code, stderr, stdout } = await call({ provider: "openai", url: `${origin}/refused/v1`, key: KEY });
    expect(code).toBe(0);
    expect(stderr).toContain("refused the API key (401)");
    expect(stdout + stderr).not.toContain(KEY);
    expect(await verdict()).toEqual(FINE);
  });

  test.for([
    ["compatible", "/local-servers", "/local-servers/v1"],
    ["compatible", "/local-servers/v1/", "/local-servers/v1"],
    ["compatible", "/local-servers/v1/chat/completions", "/local-servers/v1"],
    ["anthropic", "/anthropic/", "/anthropic"],
    ["anthropic", "/anthropic/v1/messages", "/anthropic/v1"],
  ])("%s at %s", async ([provider, path, base]) => {
    await call({ provider: provider!, url: origin + path!, key: KEY });
    expect(Object.values(written().upstreams)[0]!.base_url).toBe(origin + base!);
  });

  test.for([
    "HTTP://127.0.0.1:9/v1",
    "http://[::1]:9/v1",

    "http://127.0.0.1:9/a%20b/v1",
    "http://127.0.0.1:9/$x/v1",
  ])("%s is an address", async (url) => {
    expect(await call({ provider: "vllm", url, model: ["m"] })).toMatchObject({ code: 0 });
    expect(await errors()).toEqual([]);
  });

  test("a bare address is asked below /v1, and as it is", async () => {
    await call({ provider: "lmstudio", url: origin });
    expect(asked.map(({ path }) => path)).toEqual(["/v1/models", "/models"]);
    expect(written().upstreams["lmstudio"]).toMatchObject({ base_url: `${origin}/v1`, vendor: "lmstudio" });
  });

  test("a place that the operator has to fill in is a warning", async () => {
    for (const provider of ["azure", "bedrock"]) {
      const { code, stderr } = await call({ provider, key: KEY });
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stderr).toContain("write your own in place of the word in capitals");
      expect(stderr).toContain("still contains a placeholder");
      workspace = new Workspace();
    }
    await call({ provider: "bedrock", key: KEY, url: "https://127.0.0.1:9" }, { AWS_REGION: "eu-west-1" });
    workspace = new Workspace();
  });

  test("a gateway beside a llama.cpp server has a port of its own", async () => {
    const { stdout } = await call({ provider: "llamacpp", url: "http://127.0.0.1:8080/v1", model: ["m"] });
    expect(written().server).toEqual({ listen: [{ host: "127.0.0.1", port: 8090 }] });
    expect(stdout).toContain("http://127.0.0.1:8090/v1");
  });

  test("another name of the configuration, and an editor's first line where the package is installed", async () => {
    // As the package has it.
    const schemas = "node_modules/route-gateway/schemas";
    workspace.write(`${schemas}/gateway.schema.json`, "{}");
    const { stdout } = await call({
      provider: "openai",
      key: KEY,
      url: at("openai"),
      config: workspace.path("mine.yml"),
    });
    expect(files()).toEqual([".env", "mine.test.yaml", "mine.yml", "node_modules"]);
    expect(read("mine.yml")).toMatch(
      new RegExp(`^# yaml-language-server: \\$schema=\\./${schemas}/gateway\\.schema\\.json\n`),
    );
    expect(read("mine.test.yaml")).toContain(`$schema=./${schemas}/config-test.schema.json`);
    expect(read("mine.test.yaml")).toContain("config: ./mine.yml");
    expect(stdout).toContain("npx gateway dev --config mine.yml");
  });
});

describe("files that exist", () => {
  test("are kept and named; the others are written", async () => {
    for (const name of FILES) {
      workspace = new Workspace();
      workspace.write(name, "MINE=1\n");
      const { code, stderr, stdout } = await call({ provider: "openai", key: KEY, url: at("openai") });
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stderr).toContain(`${name} exists: kept as it is`);
      expect(read(name)).toBe("MINE=1\n");
      expect(files()).toEqual(FILES);
      expect(stdout).toBe(stdout.replace(`wrote ${name}\n`, ""));
      expect(stdout + stderr).not.toContain(KEY);
    }
  });

  test("all of them: nothing is asked or written, exit 1", async () => {
    for (const name of FILES) workspace.write(name, "");
    const { code, stderr } = await call({ provider: "openai", key: KEY, url: at("openai") });
    expect(code).toBe(1);
    expect(stderr).toContain("nothing was written");
    expect(asked).toEqual([]);
  });

  test("a .env without the variable: the line is printed, without the key", async () => {
    workspace.write(".env", "OTHER=1\n");
    const { stderr } = await call({ provider: "openai", key: KEY, url: at("openai") });
    expect(stderr).toContain("add this line to .env, with your key: OPENAI_API_KEY=…");
    workspace = new Workspace();
    workspace.write(".env", "export OPENAI_API_KEY=mine\n");
    expect((await call({ provider: "openai", key: KEY, url: at("openai") })).stderr).toContain(
      "has OPENAI_API_KEY already",
    );
    // Without --key it is the key.
    workspace = new Workspace();
    workspace.write(".env", `OPENAI_API_KEY='${KEY}'\n`);
    const { stdout, stderr: said } = await call({ provider: "openai", url: at("openai") });
    expect(asked.at(-1)!.headers).toContain(`Bearer ${KEY}`);
    expect(stdout + said).not.toContain(KEY);
  });

  test("a variable of the environment that wins over .env is told", async () => {
    const { stderr } = await call({ provider: "openai", key: KEY, url: at("openai") }, { OPENAI_API_KEY: "other" });
    expect(stderr).toContain("the environment has OPENAI_API_KEY too, and wins over .env: unset it");
  });

  test("a link that leads nowhere is a file that exists", async () => {
    symlinkSync(workspace.path("nowhere"), workspace.path(".env"));
    const { code, stderr } = await call({ provider: "openai", key: KEY, url: at("openai") });
    expect(code).toBe(0);
    expect(stderr).toContain(".env exists");
    expect(files()).not.toContain("nowhere");
  });

  test("a place where nothing can be written is told before anything is asked", async () => {
    mkdirSync(workspace.path("folder"));
    const { terminal, shown } = person();
    for (const [name, message] of [
      ["a/b.yaml", "a is no folder: create it first"],
      ["folder", "folder is a folder: name the file, as folder/gateway.yaml"],
    ] as const) {
      const outcome = await call({ config: workspace.path(name) }, {}, terminal);
      expect(outcome).toMatchObject({ code: 3, stderr: `${message}\n` });
    }
    expect(shown()).toBe("");
  });

  test("a key in a repository that does not ignore .env is a warning", async () => {
    mkdirSync(workspace.path(".git"));
    const options = { provider: "openai", url: at("openai"), key: KEY };
    expect((await call(options)).stderr).toContain("this is a git repository: add .env to .gitignore");
    for (const line of [".env", "/.env", "*.env", ".env*", "data/\n.env\n"]) {
      workspace = new Workspace();
      mkdirSync(workspace.path(".git"));
      workspace.write(".gitignore", line);
      expect((await call(options)).stderr).not.toContain("git");
    }
  });
});

describe("wrong use: exit 2, nothing is written, no secret is repeated", () => {
  const SECRET = "sk-secret";
  test.for([
    [[], "name a provider with --provider, one of: openai, anthropic"],
    [["--provider", "opnai"], "no provider is called 'opnai': did you mean 'openai'?\nproviders: openai,"],
    [["--provider", "Google"], "did you mean 'gemini'?"],
    [["--provider", "LM Studio"], "did you mean 'lmstudio'?"],
    [["--provider", ""], "providers: openai,"],
    [["--provider", "qqqqqqqqqq"], "for any other server use compatible and --url"],
    [["--provider", "compatible"], "give the server's address: --url"],
    [["--provider", "openai", "--key", SECRET, "--key-env", "X"], "give --key or --key-env, not both"],
    [["--provider", "openai", "--key", " "], "--key is empty"],
    [["--provider", "openai", "--key", `${SECRET}\nX=1`], "--key holds characters that no key has"],
    [["--provider", "openai", "--key", `${SECRET}\u2026`], "--key holds characters that no key has"],
    [["--provider", "openai", "--key", `${SECRET}'\`"`], "--key holds quotes that .env cannot hold"],
    [["--provider", "openai", "--key-env", SECRET], "--key-env takes the name of a variable"],
    [["--provider", "openai", "--key-env", ""], "--key-env takes the name of a variable"],
    [["--provider", "openai", "--model", " "], "--model is empty"],
    [["--provider", "openai", "--model", "a\u0000b"], "--model holds characters"],
    [["--provider", "openai", "--url", "localhost:8000"], "--url must begin with http:// or https://"],
    [["--provider", "openai", "--url", ""], "--url must begin with http:// or https://"],
    [["--provider", "openai", "--url", "http://"], "--url is not a URL"],
    [["--provider", "openai", "--url", "http://a b/v1"], "--url is not a URL"],
    [["--provider", "openai", "--url", "http://h:99999/v1"], "--url is not a URL"],
    [["--provider", "openai", "--url", `https://u:${SECRET}@h/v1`], "--url holds a user or a password"],
    [["--provider", "openai", "--url", `https://h/v1?key=${SECRET}`], "--url must end at the path"],
    [["--provider", "openai", "--nothing"], "unknown option '--nothing'"],
    [["openai"], "too many arguments"],
  ] as const)("%s", async ([args, message]) => {
    const { code, stdout, stderr } = await command(...args);
    expect({ code, stdout, stderr }).toMatchObject({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(SECRET);
    expect(files()).toEqual([]);
  });
});

/** A person at a terminal: answers each question whose beginning is given, in turn. */
function person(...answers: readonly (readonly [question: string, answer: string])[]) {
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = "";
  let seen = 0;
  const left = [...answers];
  output.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
    const next = left[0];
    const found = next === undefined ? -1 : shown.indexOf(next[0], seen);
    if (next === undefined || found === -1) return;
    seen = found + next[0].length;
    left.shift();
    setImmediate(() => input.write(next[1]));
  });
  return { terminal: { input, output }, shown: () => shown, left };
}

describe("a person at a terminal", () => {
  test("is asked for provider, key, models and price; the key is not shown", async () => {
    const { terminal, shown, left } = person(
      ["Number or name:", "opnai\r"],
      ["Number or name:", "1\r"],
      ["API key of OpenAI", `${KEY}\r`],
      ["Numbers or names", "nothing-like-it\r"],
      ["Numbers or names", "gpt-4o-mini\r"],
      ["Price of gpt-4o-mini", "free\r"],
      ["Price of gpt-4o-mini", "0.15 0.60\r"],
    );
    const { code, stdout, stderr } = await call({ url: at("openai") }, {}, terminal);
    expect({ code, stderr, left }).toMatchObject({ code: 0, left: [] });
    expect(shown()).toContain("did you mean 'openai'?");
    expect(shown()).toContain("No model has 'nothing-like-it' in its name.");
    expect(shown()).toContain("A price is two numbers");
    expect(shown() + stdout + stderr).not.toContain(KEY);
    expect(read(".env")).toContain(`OPENAI_API_KEY=${KEY}\n`);
    expect(modelsOf(written())).toEqual(["gpt-4o-mini"]);
    expect(read("gateway.yaml")).toContain("price: { input_per_million: 0.15, output_per_million: 0.6 } # USD");
    expect(await verdict()).toEqual(FINE);
  });

  test("is asked for the address of a server, and for a model where none is listed", async () => {
    const { terminal, left } = person(
      ["Number or name:", "compatible\r"],
      ["Address of an OpenAI-compatible server", "localhost:1\r"],
      ["must begin with http:// or https://", "http://127.0.0.1:9/v1\r"],
      ["it needs none", "\r"],
      ["Name of a model", "mine\r"],
    );
    expect(await call({}, {}, terminal)).toMatchObject({ code: 0 });
    expect(left).toEqual([]);
    expect(modelsOf(written())).toEqual(["mine"]);
  });

  test("may type another key when the provider refuses it, or keep it", async () => {
    const { terminal, shown, left } = person(
      ["API key of OpenAI", "sk-wrong-1\r"],
      ["Enter: keep it", "sk-wrong-2\r"],
      ["Enter: keep it", "\r"],
      ["Name of a model", "m\r"],
      ["Price of m", "\r"],
    );
    expect(await call({ provider: "openai", url: `${origin}/refused/v1` }, {}, terminal)).toMatchObject({ code: 0 });
    expect(left).toEqual([]);
    expect(read(".env")).toContain("OPENAI_API_KEY=sk-wrong-2\n");
    expect(shown()).not.toContain("sk-wrong");
  });

  test("may paste all answers at once", async () => {
    const { terminal } = person(["Number or name:", `ollama\r${at("local-servers")}\r\r2,1\r`]);
    expect(await call({}, {}, terminal)).toMatchObject({ code: 0 });
    expect(modelsOf(written())).toHaveLength(2);
  });

  test.for([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
  ])("gives up by %s: nothing is written", async ([, byte]) => {
    const { terminal } = person(["Number or name:", byte!]);
    const { code, stderr } = await call({}, {}, terminal);
    expect({ code, stderr }).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("cancelled: nothing was written"),
    });
    expect(files()).toEqual([]);
  });

  test("is asked nothing with --yes", async () => {
    const { terminal, shown } = person();
    await call({ provider: "openai", url: at("openai"), yes: true }, {}, terminal);
    expect(shown()).toBe("");
    expect(files()).toEqual(FILES);
  });
});

test.for(["openai", "anthropic", "gemini", "compatible"])("the files of %s serve a chat", async (provider) => {
  const simulator = await startSimulator();
  const base = provider === "openai" || provider === "compatible" ? "/v1" : "";
  await call({ provider, url: simulator.origin + base, key: KEY });
  workspace.write(
    "gateway.yaml",
    `${read("gateway.yaml")}store: { url: "memory:" }\nserver: { listen: [{ host: 127.0.0.1, port: 0 }] }\n`,
  );
  const gateway = await startGateway({
    file: workspace.path("gateway.yaml"),
    mode: "serve",
    strict: true,
    env: {},
    logLevel: "silent",
    logPretty: false,
  });
  try {
    const user = await createUser(gateway.store, { email: "a@example.com", tier: "Open", credits: 1_000_000_000n });
    const { body } = await createKey(gateway.store, { userId: user.id, name: "test" });
    const response = await fetch(`${urlOf(gateway.addresses[0]!)}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${body.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: Object.keys(written().models)[0], messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(await response.json()).toMatchObject({ choices: [{ message: { role: "assistant" } }] });
    expect(simulator.ledger().length).toBeGreaterThan(0);
  } finally {
    await gateway.close();
    await simulator.close();
  }
});
