import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Exit, poll } from "../e2e/support/child.ts";
import { ROOT } from "../e2e/support/process.ts";
import { required } from "../support/programs.ts";
import { startRedis } from "../support/redis.ts";
import { faultsOf } from "./support/contents.ts";
import { Installed, MANIFEST, nodeOf, pack } from "./support/installed.ts";

/** `PACKAGE_NODES=22.20.0,24.12.0` names others than the one that runs this. */
const NODES = (process.env["PACKAGE_NODES"] ?? process.versions.node).split(",");
const IS_WHOLE = process.env["PACKAGE_NODES"] !== undefined;
/** In the suite the stricter one is enough. */
const RESOLUTIONS = !IS_WHOLE ? ["nodenext"] : ["nodenext", "bundler"];
const MAX_INSTALLED_BYTES = 60_000_000;
const PATIENCE = { timeout: 300_000 };
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

const STEP = "- { use: ./plugins/brief.ts, options: { instruction: Be brief. } }";

const TESTS = `config: gateway.yaml
tests:
  - name: a plan is served
    given: { tier: Free, model: route/swift-mini }
    expect: { status: 200, outcome: served }
`;

/** Each export of the package is used, in a module that Node and TypeScript both take. */
const PROGRAM = `import { type Gateway, startGateway } from "route-gateway";
import { definePlugin, GatewayError } from "route-gateway/plugin";
import { openPlugin, type PluginRoom } from "route-gateway/testing";

const gateway: Gateway = await startGateway({ file: "gateway.yaml", logLevel: "silent" });
const status = await fetch(\`http://127.0.0.1:\${gateway.addresses[0]?.port}/v1/status\`);
await gateway.close();
const room: PluginRoom = await openPlugin("transform", { options: { set: { "/seed": 7 } } });
await room[Symbol.asyncDispose]();
const failure = await startGateway({ file: "otlp.yaml", logLevel: "silent" }).catch((error: Error) => error.message);
console.log(JSON.stringify([status.status, typeof definePlugin, GatewayError.name, failure]));
`;

const FREE_PORTS = `
server:
  listen: [{ host: 127.0.0.1, port: 0 }]
  admin: { host: 127.0.0.1, port: 0 }
`;

const HELLO = "Hello from the provider.";

/** An OpenAI-compatible server with one model. @returns its base address */
async function startProvider(): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === "/v1/models")
      return void response.end('{"object":"list","data":[{"id":"tiny","object":"model"}]}');
    const choices = [{ index: 0, delta: { role: "assistant", content: HELLO }, finish_reason: "stop" }];
    const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "tiny", choices };
    response.setHeader("content-type", "text/event-stream");
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

interface Bom {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly licenses: readonly object[];
  }[];
}

let folder: string;
let tarball: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gateway-pack-"));
  tarball = await pack(folder);
}, PATIENCE.timeout);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(NODES)("in an empty folder, on Node %s", (version) => {
  let installed: Installed;
  let npmSaid: string;
  /** The shipped configuration on free ports, with a local plugin. */
  let config: string;

  const write = (name: string, text: string): void => writeFileSync(installed.path(name), text);
  const gateway = (...args: readonly string[]): Promise<Exit> => installed.run("gateway", ...args);

  beforeAll(async () => {
    installed = new Installed(await nodeOf(version));
    npmSaid = await installed.install(tarball);
    const shipped = readFileSync(installed.path("node_modules/route-gateway/gateway.yaml"), "utf8");
    config = shipped.replaceAll(/port: \d+/g, "port: 0").replace(/^ *- stream-relay/m, `  ${STEP}\n$&`);
  }, PATIENCE.timeout);

  afterAll(() => installed.close(), PATIENCE.timeout);

  test("npm warns of nothing, and the folder is small", () => {
    expect(npmSaid).toMatch(/^\s*added \d+ packages in \S+\s*$/);
    expect(installed.size()).toBeLessThan(MAX_INSTALLED_BYTES);
  });

  test("the package has all that its files name, and nothing needless", () => {
    const own = installed.path("node_modules/route-gateway");
    expect(faultsOf(own)).toEqual([]);
    const bom = JSON.parse(readFileSync(join(own, "dist/bundled/sbom.cdx.json"), "utf8")) as Bom;
    const licences = readFileSync(join(own, "dist/bundled/LICENSES.txt"), "utf8");
    const parts = bom.components.map(({ name }) => name);
    expect(parts).toEqual(
      expect.arrayContaining(["google-auth-library", "gpt-tokenizer", "listhen", "pino", "sonic-boom"]),
    );
    for (const { name, version, licenses } of bom.components) {
      expect(licences).toContain(`${name} ${version} (`);
      expect(licenses).toHaveLength(1);
    }
  });

  test("`plugin new` prints a command that runs the plugin's test", PATIENCE, async () => {
    const made = await gateway("plugin", "new", "brief");
    expect(made).toMatchObject({
      code: 0,
      stdout: "plugins/brief.ts\nplugins/brief.schema.json\nplugins/brief.test.ts\n",
    });
    const command = /^run its test: +(.+)$/m.exec(made.stderr)![1]!;
    expect(command).toBe("node --test plugins/brief.test.ts");
    const { code, stdout } = await installed.shell(command);
    expect([code, /^\S+ fail \d+$/m.exec(stdout)?.[0]]).toEqual([0, expect.stringMatching(/ fail 0$/)]);
  });

  test("commands work, and Node warns of nothing", PATIENCE, async () => {
    write("gateway.yaml", config);
    write("gateway.test.yaml", TESTS);
    await installed.shell("git init -q . && git add gateway.yaml plugins && git commit -qm first");
    write("gateway.yaml", config.replace("minute: 100,", "minute: 101,"));
    const runs = await Promise.all([
      gateway("check", "gateway.yaml"),
      gateway("diff", "HEAD:gateway.yaml", "gateway.yaml"),
      gateway("test", "gateway.test.yaml"),
      gateway("explain", "route/swift-mini", "--tier", "Free"),
      gateway("schema"),
      installed.run("npx", "gateway", "--version"),
    ]);
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, ""]));
    const [checked, differs, tested, explained, schema, named] = runs.map(({ stdout }) => stdout);
    expect(checked).toContain("0 errors, 0 warnings");
    expect(differs).toMatch(/100.*101/);
    expect(tested).toContain("1 passed");
    expect(explained).toContain("route/swift-mini");
    expect(named).toBe(`${MANIFEST.version}\n`);
    expect(JSON.parse(schema!)).toHaveProperty("properties.models");
  });

  test(
    "`gateway init` and `gateway dev`: the printed request is answered, and pages are served",
    PATIENCE,
    async () => {
      const provider = await startProvider();
      const options = ["--provider", "compatible", "--url", provider, "--key", "a-key-of-the-provider", "--yes"];
      mkdirSync(installed.path("own"));
      const made = await gateway("init", "--config", "own/gateway.yaml", ...options);
      expect(made.code).toBe(0);
      expect(await gateway("check", "own/gateway.yaml")).toMatchObject({ code: 0, stderr: "" });
      const written = readFileSync(installed.path("own/gateway.yaml"), "utf8");
      expect(written).toContain("route/tiny");
      write("own/gateway.yaml", `${written}${FREE_PORTS}`);
      const dev = installed.start("gateway", "dev", "--config", "own/gateway.yaml");
      await dev.printed("stderr", /listening/);
      const [curl] = await dev.printed("stdout", /^ *curl [^]+?}'$/m);
      const answer = await installed.shell(curl);
      expect(answer.stdout).toContain(HELLO);
      const urlOf = (name: string): string => new RegExp(`^ *${name} +(\\S+)`, "m").exec(dev.stdout)![1]!;
      for (const url of [urlOf("Dashboard"), urlOf("Console")]) {
        const page = await (await fetch(url, { headers: { accept: "text/html" } })).text();
        const script = await fetch(new URL(/src="(\/assets\/[^"]+\.js)"/.exec(page)![1]!, url));
        expect(script.headers.get("content-type")).toContain("javascript");
      }
      const key = /Bearer (rk_\w+)/.exec(curl)![1]!;
      const counted = await fetch(new URL("/v1/messages/count_tokens", urlOf("Dashboard")), {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({
          model: "route/tiny",
          messages: [{ role: "user", content: "lorem ipsum ".repeat(99) }],
        }),
      });
      const { input_tokens: tokens } = (await counted.json()) as { readonly input_tokens: number };
      expect(tokens).toBeGreaterThan(99);
      expect(dev.stderr).not.toMatch(/Warning/);
      expect((await dev.stop("SIGINT")).code).toBe(0);
    },
  );

  test.runIf(required("redis-server", "valkey-server"))("`serve` runs several workers", PATIENCE, async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    write(
      "gateway.yaml",
      config
        .replace(/^  workers: 1/m, "  workers: 2")
        .replace(/^store:[^]+?(?=^\S)/m, `store: { url: "${redis.url}" }\n`),
    );
    const serve = installed.start("gateway", "serve");
    const [line] = await serve.printed("stderr", /^\{.*"msg":"listening".*\}$/m);
    const { listen, admin } = JSON.parse(line) as { readonly listen: readonly string[]; readonly admin: string };
    expect((await fetch(`${listen[0]}/v1/status`)).status).toBe(200);
    await poll(async () => (await fetch(`${admin}/readyz`)).ok);
    expect(serve.stderr).not.toMatch(/Warning/);
    expect((await serve.stop()).code).toBe(0);
  });

  test("a program starts a gateway, and names the packages that OTLP needs", PATIENCE, async () => {
    write("gateway.yaml", config);
    write("otlp.yaml", `${config}\ntelemetry: { otlp: { endpoint: "http://127.0.0.1:9" } }\n`);
    write("program.mts", PROGRAM);
    const { stdout, code } = await installed.run("node", "program.mts");
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      [200, "function", "GatewayError", expect.stringContaining("npm install @opentelemetry/api")],
    ]);
  });

  test.each(RESOLUTIONS)("TypeScript finds every type with moduleResolution %s", PATIENCE, async (resolution) => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      target: "es2024",
      module: resolution === "bundler" ? "preserve" : resolution,
      moduleResolution: resolution,
    };
    write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["program.mts", "plugins"] }));
    const { stdout } = await installed.run(process.execPath, TSC, "-p", "tsconfig.json", "--pretty", "false");
    // Other packages' declarations may be at fault, and are not ours to mend.
    const faults = stdout.split("\n").filter((line) => !/^(?:node_modules\/(?!route-gateway\/)| |$)/.test(line));
    expect(faults).toEqual([]);
  });
});

// Installs once more: only by `npm run test:package`.
test.runIf(IS_WHOLE)(
  "what the Dockerfile runs makes a folder that works, and a list of what is in it",
  PATIENCE,
  async () => {
    const dockerfile = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
    const stage = dockerfile.split(/^FROM /m).find((text) => /^\S+ AS install$/m.test(text))!;
    const commands = [...stage.matchAll(/^RUN (.+)$/gm)].map(([, command]) =>
      command!.replace("/tmp/route-gateway.tgz", tarball).replace("/tmp/sbom.ts", join(ROOT, "deploy/package/sbom.ts")),
    );
    const image = new Installed(process.execPath);
    onTestFinished(() => image.close());
    for (const name of ["package-lock.json", ".npmrc"]) copyFileSync(join(ROOT, name), image.path(name));
    for (const command of commands) await image.npm("sh", "-c", command);
    expect(readdirSync(image.path("node_modules/@opentelemetry"))).toContain("exporter-trace-otlp-http");
    const bom = JSON.parse(readFileSync(image.path("sbom.cdx.json"), "utf8")) as Bom;
    const parts = bom.components.map(({ name }) => name);
    expect(parts).toEqual(expect.arrayContaining(["undici", "pino", "@opentelemetry/resources"]));
    expect(new Set(parts).size).toBeGreaterThan(90);
    writeFileSync(image.path("gateway.yaml"), readFileSync(join(ROOT, "gateway.yaml")));
    expect(await image.run("node", "src/cli/main.js", "check", "gateway.yaml")).toMatchObject({ code: 0 });
  },
);
