import { once } from "node:events";
import { readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { init, type InitOptions } from "../../src/cli/init.ts";
import { ExitError } from "../../src/cli/options.ts";
import { runCommand } from "../../src/cli/program.ts";
import { totalsOf } from "../../src/config-tests/report.ts";
import { runTests } from "../../src/config-tests/run.ts";
import { PROVIDER_DIRECTORY, type ProviderEntry } from "../../src/config/providers.ts";
import { checkConfig } from "../../src/gateway/configuration.ts";
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
const PAGES = new Map(
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
function call(options: InitOptions, env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const place = { terminal: null, env, now: () => Date.UTC(2026, 10, 28) };
  return printed(() => init({ config: workspace.path("gateway.yaml"), ...options }, place));
}

const read = (name: string): string => readFileSync(workspace.path(name), "utf8");
const files = (): readonly string[] => readdirSync(workspace.folder).toSorted();
const FILES = [".env", "gateway.test.yaml", "gateway.yaml"];

/** What `check` and `gateway test` say of the files. */
async function verdict(): Promise<{ readonly errors: readonly string[]; readonly failed: number; readonly tests: number }> {
  const { diagnostics } = await checkConfig({ file: workspace.path("gateway.yaml"), env: {} });
  const results = await runTests([workspace.path("gateway.test.yaml")], { env: {}, clock: () => performance.now() });
  const { tests, failed, broken } = totalsOf(results);
  const errors = diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
  return { errors, failed: failed + broken, tests };
}

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
    expect(await verdict()).toMatchObject({ errors: [], failed: 0 });
  });

  test.for(ENTRIES.map((entry) => [entry.name, entry] as const))("%s out of reach", async ([name, entry]) => {
    const { code, stderr } = await call({ provider: name, url: "http://127.0.0.1:9/x", yes: true });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain("cannot list the models: 127.0.0.1:9");
    expect(files()).toEqual(FILES);
    expect(await verdict()).toMatchObject({ errors: [], failed: 0 });
    expect(read("gateway.yaml")).toContain(`dialect: ${entry.dialect}`);
  });
});
