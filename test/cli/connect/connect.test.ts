import {
  chmodSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { parse as parseYaml, stringify as stringifyYaml } from "yaml";
import { type Client, CLIENTS, KEY_VARIABLE, type Place } from "../../../src/cli/connect/clients.ts";
import {
  addSettings,
  type Format,
  PLACEHOLDER,
  readSettings,
  writeSettings,
} from "../../../src/cli/connect/formats.ts";
import { contains, mergeSettings } from "../../../src/cli/connect/merge.ts";
import { createProgram, runCommand } from "../../../src/cli/program.ts";
import type { Json } from "../../../src/kit/index.ts";
import { SMALL } from "../../config/support.ts";
import { Workspace } from "../../e2e/support/process.ts";
import { certificate } from "../../support/certificates.ts";
import { ROOT } from "../../support/modules.ts";

const URL_OPTION = ["--url", "http://127.0.0.1:8080"];
const ALL = [...URL_OPTION, "--model", "route/one"];

let workspace: Workspace;

beforeEach(() => {
  workspace = new Workspace();
  mkdirSync(workspace.path("home"));
  vi.stubEnv("HOME", workspace.path("home"));
  for (const name of [
    "XDG_CONFIG_HOME",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "CONTINUE_GLOBAL_DIR",
    "GATEWAY_CONFIG",
    "PORT",
  ])
    vi.stubEnv(name, undefined);
});
afterEach(() => workspace.close());

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `gateway connect ARGS…` in this process, in the workspace. */
async function connect(...args: readonly string[]): Promise<Ended> {
  const said = { stdout: "", stderr: "" };
  vi.spyOn(process, "cwd").mockReturnValue(workspace.folder);
  const writes = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      said[name] += String(text);
      return true;
    }),
  );
  try {
    await runCommand(["connect", ...args]);
    return { code: Number(process.exitCode ?? 0), ...said };
  } finally {
    for (const write of writes) write.mockRestore();
    process.exitCode = undefined;
  }
}

const place = (): Place => ({ env: { HOME: workspace.path("home") }, platform: "linux", folder: workspace.folder });

function fileOf(name: string): string {
  return CLIENTS.find((client) => client.name === name)!.file(place());
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const named = CLIENTS.map((client) => [client.name, client] as const);

describe.each(named)("%s", (name, client: Client) => {
  test("prints settings of its format with address, model and key, and writes nothing", async () => {
    const { code, stdout, stderr } = await connect(name, ...ALL, "--key", "rk_secret");
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(client.format === "program" || Object.keys(readSettings(client.format, stdout)).length > 0).toBe(true);
    expect(stdout).toContain("http://127.0.0.1:8080");
    expect(stdout).toContain("route/one");
    expect(stdout).toMatch(/[^\n]\n$/);
    expect(stderr).toContain(client.shown);
    expect(stderr).not.toContain("rk_secret");
    const holdsKey = stdout.includes("rk_secret");
    expect(holdsKey || stderr.includes(client.keyFrom)).toBe(true);
    expect(readdirSync(workspace.path("home"))).toEqual([]);
  });

  test("without a key names a variable or holds a placeholder, and says where the key goes", async () => {
    const { stdout, stderr } = await connect(name, ...ALL);
    expect(stderr).toContain(client.keyFrom);
    expect(stdout.includes(KEY_VARIABLE) || stdout.includes(PLACEHOLDER) || /_API_KEY/.test(client.keyFrom)).toBe(true);
  });

  test("--write makes the file, private if it holds the key, and once", async () => {
    const file = client.file(place());
    const first = await connect(name, ...ALL, "--key", "rk_secret", "--write");
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout + first.stderr).not.toContain("rk_secret");
    const text = readFileSync(file, "utf8");
    expect(text).toBe((await connect(name, ...ALL, "--key", "rk_secret")).stdout);
    expect(!text.includes("rk_secret") || (statSync(file).mode & 0o777) === 0o600).toBe(true);
    expect(readdirSync(dirname(file)).filter((entry) => entry.endsWith(".tmp"))).toEqual([]);
    const second = await connect(name, ...ALL, "--key", "rk_secret", "--write");
    expect(second).toMatchObject({ code: 1, stdout: "" });
    expect(second.stderr).toContain("nothing was written");
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  test("never over a key that is there", async () => {
    const file = client.file(place());
    const before = writeSettings(
      client.format,
      client.settings({ ...CONNECTION, key: "rk_other", model: "route/other" }),
    );
    put(file, before);
    const { code, stdout, stderr } = await connect(name, ...ALL, "--key", "rk_secret", "--write");
    expect(stdout + stderr).not.toMatch(/rk_(?:secret|other)/);
    expect(readFileSync(file, "utf8")).toContain(before.includes("rk_other") ? "rk_other" : "route/other");
    expect(readFileSync(file, "utf8")).not.toContain("rk_secret");
    expect(client.format === "program" || code === 0 || stderr.includes("kept: ")).toBe(true);
  });

  test("its facts have sources, and its place follows the home folder", () => {
    expect(client.sources.length).toBeGreaterThan(0);
    expect(client.sources.every((source) => source.startsWith("https://"))).toBe(true);
    const windows = client.file({
      ...place(),
      platform: "win32",
      env: { HOME: "/home/ada", APPDATA: "/home/ada/app" },
    });
    const own = client.file({ ...place(), env: { HOME: "/home/ada" } });
    const isLocal = !client.shown.startsWith("~");
    expect([own, windows].every((file) => file.startsWith(isLocal ? workspace.folder : "/home/ada/"))).toBe(true);
    expect(basename(own)).toBe(basename(client.shown));
  });
});

const CONNECTION = { url: "http://127.0.0.1:8080", key: null, model: "route/one", contextWindow: 128_000 };

interface Case {
  readonly name: string;
  readonly client: string;
  readonly args?: string;
  readonly before: string;
  /** Left out: what was there. */
  readonly after?: string;
  readonly code?: number;
  readonly stderr?: readonly string[];
  /** Not to be said. */
  readonly never?: readonly string[];
  /** Nothing is said to be kept. */
  readonly silent?: boolean;
  /** Not in the file; instead of `after`. */
  readonly absent?: readonly string[];
}

const CASES = globSync("test/cli/connect/cases/*.yaml", { cwd: ROOT }).map((path) => {
  return parseYaml(readFileSync(join(ROOT, path), "utf8")) as Case;
});

test.each(CASES)(
  "$client: $name",
  async ({ client, args = "", before, after, code = 0, stderr, never, silent, absent }) => {
    const file = fileOf(client);
    put(file, before);
    const more = args.split(" ").filter((word) => word !== "");
    const ended = await connect(client, ...ALL, ...more, "--write");
    for (const part of stderr ?? []) expect(ended.stderr).toContain(part);
    expect(silent && ended.stderr.includes("kept: ")).not.toBe(true);
    for (const part of never ?? []) expect(ended.stdout + ended.stderr).not.toContain(part);
    expect(ended.code).toBe(code);
    const text = readFileSync(file, "utf8");
    expect(absent === undefined ? text : "").toBe(absent === undefined ? (after ?? before) : "");
    for (const part of absent ?? []) expect(text).not.toContain(part);
  },
);

describe("files", () => {
  test("variables of the clients move them", async () => {
    vi.stubEnv("CLAUDE_CONFIG_DIR", workspace.path("elsewhere/claude"));
    vi.stubEnv("CODEX_HOME", workspace.path("elsewhere/codex"));
    vi.stubEnv("XDG_CONFIG_HOME", workspace.path("elsewhere/xdg"));
    for (const client of ["claude", "codex", "opencode", "zed"]) await connect(client, ...ALL, "--write");
    expect(globSync("**/*.*", { cwd: workspace.path("elsewhere") }).toSorted()).toEqual([
      "claude/settings.json",
      "codex/config.toml",
      "xdg/opencode/opencode.json",
      "xdg/zed/settings.json",
    ]);
  });

  test("opencode's commented file is the one that is added to", async () => {
    const file = join(dirname(fileOf("opencode")), "opencode.jsonc");
    put(file, "// mine\n{}\n");
    expect(await connect("opencode", ...ALL, "--write")).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toMatch(/^\/\/ mine\n\{\n {2}"\$schema"/);
  });

  test("a link stays a link, whether its file is there or not", async () => {
    const dotfiles = workspace.path("dotfiles");
    mkdirSync(dotfiles);
    put(join(dotfiles, "claude.json"), `{ "theme": "dark" }\n`);
    for (const [client, target] of [
      ["claude", "claude.json"],
      ["codex", "codex.toml"],
    ] as const) {
      const link = fileOf(client);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(dotfiles, target), link);
      expect(await connect(client, ...ALL, "--write")).toMatchObject({ code: 0 });
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      expect(readFileSync(join(dotfiles, target), "utf8")).toContain("route/one");
    }
    expect(readFileSync(join(dotfiles, "claude.json"), "utf8")).toContain("dark");
  });

  test("the mode of a file without the key stays, and a byte order mark and line ends do, too", async () => {
    const file = fileOf("goose");
    put(file, "\uFEFFextensions: {}\r\nGOOSE_MODE: auto\r\n");
    const mode = 0o640;
    chmodSync(file, mode);
    expect(await connect("goose", ...ALL, "--write")).toMatchObject({ code: 0 });
    const text = readFileSync(file, "utf8");
    expect(text).toMatch(/^\uFEFFextensions: \{\}\r\nGOOSE_MODE: auto\r\nGOOSE_PROVIDER: openai\r\n/);
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
    expect(statSync(file).mode & 0o777).toBe(mode);
  });

  test("a TOML file with Windows line ends keeps them", async () => {
    const file = fileOf("codex");
    put(file, `model = "route/one"\r\n\r\n[model_providers.gateway] # ours\r\nname = "Gateway"\r\n`);
    expect(await connect("codex", ...ALL, "--write")).toMatchObject({ code: 0 });
    const text = readFileSync(file, "utf8");
    expect(text).toMatch(/# ours\r\nwire_api = "responses"\r\n.*\r\nbase_url = .*\r\nname = "Gateway"\r\n$/s);
    expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  });

  test("a file that is not UTF-8 is left alone", async () => {
    const file = fileOf("goose");
    mkdirSync(dirname(file), { recursive: true });
    const bytes = Buffer.from([0x23, 0xe9, 0x0a]);
    writeFileSync(file, bytes);
    const { code, stderr } = await connect("goose", ...ALL, "--write");
    expect({ code, stderr }).toMatchObject({ code: 1 });
    expect(stderr).toContain("is not UTF-8");
    expect(readFileSync(file)).toEqual(bytes);
  });

  test("a folder in the place of the file, and a file in the place of its folder, end with 3", async () => {
    mkdirSync(fileOf("codex"), { recursive: true });
    const folder = await connect("codex", ...ALL, "--write");
    expect(folder).toMatchObject({ code: 3, stdout: "" });
    expect(folder.stderr).toContain("it is a folder");
    writeFileSync(workspace.path("home/.claude"), "");
    const file = await connect("claude", ...ALL, "--write");
    expect(file).toMatchObject({ code: 3, stdout: "" });
    expect(file.stderr).toContain("a part of its path is a file");
  });
});

function configure(more: string): void {
  workspace.write("gateway.yaml", `${SMALL}store: { url: "memory:" }\n${more}`);
}

/** The variables that are printed for Claude Code. */
async function printed(...args: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await connect("claude", ...args);
  return (JSON.parse(stdout) as { readonly env: Readonly<Record<string, string>> }).env;
}

describe("the connection", () => {
  test.each([
    ["", "http://127.0.0.1:8080"],
    ["server: { listen: [{ host: 0.0.0.0, port: 9000 }] }\n", "http://127.0.0.1:9000"],
    [`server: { listen: [{ host: "::1", port: 9000 }] }\n`, "http://[::1]:9000"],
    ["server: { public_url: https://ai.example.com }\n", "https://ai.example.com"],
  ])("is that of the configuration beside: %j", async (server, url) => {
    configure(server);
    expect(await printed()).toMatchObject({ ANTHROPIC_BASE_URL: url, ANTHROPIC_MODEL: "route/one" });
  });

  test("a model that the configuration lacks is printed, and the nearest one named", async () => {
    configure("");
    const { code, stdout, stderr } = await connect("claude", "--model", "route/ome");
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain("route/ome");
    expect(stderr).toContain("the configuration has no model 'route/ome': did you mean 'route/one'?");
  });

  test("PORT replaces the port, as it does for dev and serve", async () => {
    configure("server: { listen: [{ host: 127.0.0.1, port: 9000 }] }\n");
    for (const [port, shown] of [
      ["9100", 9100],
      ["", 9000],
      ["none", 9000],
    ] as const) {
      vi.stubEnv("PORT", port);
      expect(await printed()).toMatchObject({ ANTHROPIC_BASE_URL: `http://127.0.0.1:${shown}` });
    }
  });

  test("with TLS the address is https", async () => {
    const { cert, key } = certificate();
    workspace.write("cert.pem", cert);
    workspace.write("key.pem", key);
    configure("server: { listen: [{ host: 127.0.0.1, port: 9000, tls: { cert: cert.pem, key: key.pem } }] }\n");
    expect(await printed()).toMatchObject({ ANTHROPIC_BASE_URL: "https://127.0.0.1:9000" });
  });

  test("a configuration that cannot serve is told and not used", async () => {
    configure("nothing: true\n");
    const { code, stdout, stderr } = await connect("claude", "--model", "route/two");
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain("gateway.yaml is not valid, so it was not used: run gateway check");
    expect(stdout).toContain("http://127.0.0.1:8080");
  });

  test.each([
    "http://127.0.0.1:9000",
    "http://127.0.0.1:9000/",
    "http://127.0.0.1:9000/v1",
    "http://127.0.0.1:9000/v1/",
  ])("%s is one address", async (url) => {
    expect(await printed("--url", url, "--model", "route/one")).toMatchObject({
      ANTHROPIC_BASE_URL: "http://127.0.0.1:9000",
    });
  });

  test.each([
    [["--url", "127.0.0.1:9000"], "An address looks like http://127.0.0.1:8080."],
    [["--url", "ftp://127.0.0.1"], "An address looks like"],
    [["--url", "http://ada:secret@127.0.0.1"], "An address looks like"],
    [["--key", "rk_a b"], "A key has visible ASCII characters and no blanks."],
    [["--key", ""], "A key has"],
    [["--key", "rk_a\nX=1"], "A key has"],
    [["--model", ""], "A model looks like route/swift-mini."],
  ] as const)("%j is wrong use", async (args, says) => {
    const { code, stdout, stderr } = await connect("claude", ...args);
    expect({ code, stdout, stderr }).toMatchObject({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
  });

  test.each([
    ["cluade", "did you mean 'claude'? (clients: claude, codex,"],
    ["kubernetes", "no client is named 'kubernetes': clients: claude, codex,"],
  ])("%s is no client, and the nearest one is named", async (name, says) => {
    const { code, stdout, stderr } = await connect(name, ...ALL);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
  });

  test("other names of a client lead to it, and no two clients share one", async () => {
    const names = CLIENTS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    expect((await connect("Claude-Code", ...ALL)).stdout).toBe((await connect("claude", ...ALL)).stdout);
  });

  test("help names every client", () => {
    const help = createProgram()
      .commands.find((command) => command.name() === "connect")!
      .registeredArguments.map(({ description }) => description);
    expect(help).toEqual([`one of ${CLIENTS.map(({ name }) => name).join(", ")}`]);
  });

  describe("a running gateway is asked for a model", () => {
    const asked: string[] = [];
    async function running(status: number, body: string): Promise<string> {
      const server = createServer((req, res) => {
        asked.push(`${req.url} ${req.headers.authorization ?? ""}`);
        res.writeHead(status).end(body);
      });
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      onTestFinished(() => void server.close());
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }

    test("its first one for chats", async () => {
      const data = [
        { id: "route/voice", kind: "speech" },
        { id: "route/swift", kind: "chat", context_window: 64_000 },
      ];
      const url = await running(200, JSON.stringify({ object: "list", data }));
      const { stdout } = await connect("zed", "--url", url);
      expect(readSettings("jsonc", stdout)).toMatchObject({
        language_models: {
          openai_compatible: { gateway: { available_models: [{ name: "route/swift", max_tokens: 64_000 }] } },
        },
      });
      await connect("claude", "--url", url, "--key", "rk_x");
      expect(asked.splice(0)).toEqual(["/v1/models ", "/v1/models?available=true Bearer rk_x"]);
    });

    test.each([
      [401, "", "does not take this key"],
      [500, "", "status 500"],
      [200, "<html>", "is not valid JSON"],
      [200, "{}", "lists no model for chats"],
      [200, `{"data":[]}`, "lists no model for chats"],
    ])("%i %j is told, and a placeholder is printed", async (status, body, says) => {
      const url = await running(status, body);
      const { code, stdout, stderr } = await connect("claude", "--url", url, "--key", "rk_x");
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stdout).toContain("route/YOUR_MODEL");
      expect(stderr).toContain(says);
      expect(stderr).toContain("--model");
    });

    test("nobody there is told", async () => {
      const { code, stderr } = await connect("claude", "--url", "http://127.0.0.1:9");
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stderr).toMatch(/http:\/\/127\.0\.0\.1:9\/v1\/models gives no models: (?:bad port|connect)/);
    });
  });
});

const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,6}$/);
const { tree } = fc.letrec<{ tree: Json; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    word,
    fc.integer({ min: -9, max: 9 }),
    fc.boolean(),
    tie("tree"),
    fc.array(word),
  ),
  tree: fc.dictionary(word, tie("value"), { maxKeys: 4 }) as fc.Arbitrary<Json>,
}));

/** A comment at every level, in the way of the format. */
const COMMENTED: Readonly<Record<Exclude<Format, "program" | "env">, (settings: Json) => string>> = {
  json: (settings) => JSON.stringify(settings, null, "\t"),
  jsonc: (settings) => `// first\n${JSON.stringify(settings, null, 2).replaceAll("{\n", "{ // here\n")}\n`,
  yaml: (settings) => `# first\n${stringifyYaml(settings)}# last\n`,
  toml: (settings) => `# first\n${writeSettings("toml", settings).replaceAll(/\]$/gm, "] # here")}`,
};

test.each(Object.entries(COMMENTED))(
  "%s: whatever is there stays, comments too; what is asked for is there, or kept",
  (format, text) => {
    const asFormat = format as keyof typeof COMMENTED;
    fc.assert(
      fc.property(tree, tree, (present, wanted) => {
        fc.pre(Object.keys(present).length > 0);
        const before = text(present);
        const merge = mergeSettings(readSettings(asFormat, before), wanted);
        let after: string;
        try {
          after = addSettings(asFormat, before, merge.additions);
        } catch {
          // Refused: nothing is written.
          return;
        }
        const found = readSettings(asFormat, after);
        const again = mergeSettings(found, wanted);
        expect(again).toEqual({ additions: [], kept: merge.kept });
        expect(mergeSettings(found, present)).toEqual({ additions: [], kept: [] });
        const comments = /(?:#|\/\/) (?:first|here|last)/g;
        expect(after.match(comments)).toEqual(before.match(comments));
      }),
      { numRuns: 150 },
    );
  },
);

test("contains looks at every depth, and at keys of nothing", () => {
  expect(contains({ a: [{ b: "xyz" }] }, "y")).toBe(true);
  expect(contains({ y: [1, null] }, "y")).toBe(false);
});
