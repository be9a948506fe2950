import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { poll } from "../support/child.ts";
import { ask, configuration } from "../support/configuration.ts";
import { type Account, type GatewayProcess, ROOT, type SimProcess, Workspace } from "../support/process.ts";

let workspace: Workspace;
let sim: SimProcess;

const hosts = new Workspace();

beforeAll(async () => {
  sim = await hosts.sim();
});
afterAll(() => hosts.close());

/** A workspace for one test. */
function open(): void {
  const own = (workspace = new Workspace());
  onTestFinished(() => own.close());
}

function copy(file: string): void {
  mkdirSync(workspace.path(file).replace(/[^/]*$/, ""), { recursive: true });
  copyFileSync(`${ROOT}${file}`, workspace.path(file));
}

function withRedaction(replacement: string, more: object = {}) {
  const config = configuration(sim.origin);
  const redact = { use: "./plugins/redact-names.ts", options: { names: ["Ada"], replacement } };
  return { ...config, pipeline: ["auth", "plan-check", "quota", "breaker", redact, "stream-relay", "meter"], ...more };
}

/** What the upstream was told that the user said. */
async function said(gateway: GatewayProcess, user: Account, model = "route/one"): Promise<string> {
  const response = await gateway.chat(user.key, { ...ask("I am Ada"), model });
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
  return /You said: (.*)/.exec(choices[0]!.message.content)?.[1] ?? "";
}

test("two addresses serve the same users, limits and counters", async () => {
  open();
  const config = configuration(sim.origin);
  const local = { host: "127.0.0.1", port: 0 };
  const limits = { day: 3, hour: "none", minute: "none", streams: "none" } as const;
  workspace.write("gateway.yaml", {
    ...config,
    server: { ...config.server, listen: [local, local] },
    tiers: { Free: { access: ["Free"], limits }, Max: { access: "all", limits } },
  });
  const gateway = await workspace.serve();
  const { key } = await workspace.account();
  const [first, second] = gateway.origins;
  expect(first).not.toBe(second);
  const remaining: (string | null)[] = [];
  for (const origin of [first, second, first]) {
    const response = await gateway.chat(key, ask("x"), { origin: origin ?? "" });
    expect(response.status).toBe(200);
    remaining.push(response.headers.get("x-ratelimit-remaining-day"));
  }
  expect(remaining).toEqual(["2", "1", "0"]);
  expect((await gateway.chat(key, ask("x"), { origin: second ?? "" })).status).toBe(429);
});

describe("files that are edited while a gateway serves", () => {
  /** Each test begins with this plugin, configured like this, and a good file. */
  const CONFIGURED = "[name]";
  const PLUGIN = "plugins/redact-names.ts";
  const source = readFileSync(`${ROOT}${PLUGIN}`, "utf8");
  const edited = (from: string, to: string): string => {
    const text = source.replace(from, to);
    expect(text).not.toBe(source);
    return text;
  };
  let gateway: GatewayProcess;
  let user: Account;

  beforeAll(async () => {
    workspace = new Workspace();
    copy(PLUGIN);
    copy("schemas/plugins/redact-names.schema.json");
    workspace.write("gateway.yaml", withRedaction(CONFIGURED));
    gateway = await workspace.serve();
    user = await workspace.account();
  });
  afterAll(() => workspace.close());

  beforeEach(async () => {
    workspace.write(PLUGIN, source);
    workspace.write("gateway.yaml", withRedaction(CONFIGURED));
    await gateway.reload();
    await poll(async () => (await said(gateway, user)) === "I am [name]");
  });

  const rejected = () => poll(async () => (await gateway.config()).last_rejection);
  /** What the upstream is told once it is no longer what it was. */
  const saidAfter = (before: string) =>
    poll(async () => {
      const now = await said(gateway, user);
      return now === before ? null : now;
    });

  test("a local plugin's options and its file take effect; a broken edit leaves the old one serving", async () => {
    const { generation } = await gateway.config();
    workspace.replace("gateway.yaml", withRedaction("[somebody]"));
    await poll(async () => (await gateway.config()).generation === generation + 1);
    expect(await said(gateway, user)).toBe("I am [somebody]");

    const other = edited("() => replacement", "() => `<${replacement}>`");
    workspace.write(PLUGIN, other);
    await poll(async () => (await gateway.config()).generation === generation + 2);
    expect(await said(gateway, user)).toBe("I am <[somebody]>");

    workspace.write(PLUGIN, other.replace("export default", "export defualt"));
    const { diagnostics } = await rejected();
    expect(diagnostics[0]?.message).toContain("the plugin cannot be loaded");
    expect(await said(gateway, user), "the old one serves on").toBe("I am <[somebody]>");

    workspace.write(PLUGIN, source);
    await poll(async () => (await gateway.config()).generation === generation + 3);
    expect(await said(gateway, user)).toBe("I am [somebody]");
  });

  test("a local plugin is watched on after a mistake in the configuration was taken back", async () => {
    // Such a text is not read far enough to know of any plugin.
    workspace.write("gateway.yaml", "version: 1\nmodels: {");
    await rejected();
    workspace.write("gateway.yaml", withRedaction(CONFIGURED));
    await poll(async () => (await gateway.config()).last_rejection === null);
    workspace.write(PLUGIN, edited("() => replacement", '() => "[edited]"'));
    expect(await saidAfter("I am [name]")).toBe("I am [edited]");
  });

  test("a local plugin whose setup fails after an edit leaves the old one serving", async () => {
    const failing = edited("// Compiled once", 'throw new Error("out of order");\n    // Compiled once');
    workspace.replace(PLUGIN, failing);
    const { diagnostics } = await rejected();
    expect(diagnostics[0]?.message).toContain("out of order");
    expect(await said(gateway, user)).toBe("I am [name]");
  });

  test("a changed content of a ${file:} secret is used, and shown nowhere", async () => {
    // The simulator takes any key: the secret stands where its effect shows, in the plugin's replacement.
    workspace.write("replacement.txt", "[first]\n");
    workspace.write("gateway.yaml", withRedaction("${file:replacement.txt}"));
    expect(await saidAfter("I am [name]")).toBe("I am [first]");
    workspace.replace("replacement.txt", "[second]\n");
    expect(await saidAfter("I am [first]")).toBe("I am [second]");
    expect(JSON.stringify(await gateway.config())).not.toContain("[second]");
  });
});

const EXAMPLE = `${ROOT}../shared/examples/gateway.yaml`;

// The annotated sample is kept beside the checkout; without it there is nothing to compare with.
test.skipIf(!existsSync(EXAMPLE))("the annotated sample passes check and serves", async () => {
  open();
  copy("plugins/redact-names.ts");
  copy("schemas/plugins/redact-names.schema.json");
  workspace.write("gateway.yaml", readFileSync(EXAMPLE, "utf8").replaceAll(/port: \d+/g, "port: 0"));
  const { code, stdout } = await workspace.cli("check", "--format", "json");
  const { ok, diagnostics } = JSON.parse(stdout) as { ok: boolean; diagnostics: { severity: string }[] };
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  expect({ code, ok, errors }).toEqual({ code: 0, ok: true, errors: [] });
  const gateway = await workspace.serve();
  const user = await workspace.account();
  expect(await said(gateway, user, "route/swift-mini"), "by its own redact-names").toBe("I am [name]");
});
