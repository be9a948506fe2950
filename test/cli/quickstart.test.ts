import { spawn } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createKey } from "../../src/accounts/api-keys.ts";
import { createUser } from "../../src/accounts/users.ts";
import { init } from "../../src/cli/init.ts";
import { gatewayYaml } from "../../src/cli/starter.ts";
import { PROVIDER_DIRECTORY } from "../../src/config/providers.ts";
import { urlOf } from "../../src/gateway/listeners.ts";
import { startGateway } from "../../src/gateway/start.ts";
import { startSimulator } from "../../src/simulator/server.ts";
import { ROOT, Workspace } from "../e2e/support/process.ts";

const PAGE = readFileSync(join(ROOT, "docs/quickstart.md"), "utf8");
const blocks = (language: string): readonly string[] =>
  [...PAGE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => name === language).map(([, , code]) => code!);

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace.close());

/** What a program prints. */
async function output(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(program, args, { cwd: workspace.folder, env: { ...process.env, ...env }, stdio: "pipe" });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return stdout + stderr;
}

test("the file that the quickstart shows is the one that its command writes", () => {
  const shown = gatewayYaml({
    entry: PROVIDER_DIRECTORY.get("openai")!,
    baseUrl: "https://api.openai.com/v1",
    keyVariable: "OPENAI_API_KEY",
    key: null,
    fromEnvironment: true,
    free: false,
    models: [{ id: "gpt-5-mini", kind: "chat" }],
    schemas: { gateway: "./node_modules/route-gateway/schemas/gateway.schema.json", tests: "" },
    fileName: "gateway.yaml",
    port: null,
    today: "2026-11-28",
    inContainer: false,
  });
  expect(blocks("yaml")[0]).toBe(shown);
  expect(PAGE).toContain("npx gateway init --provider openai --key-env OPENAI_API_KEY --model gpt-5-mini --yes");
});

test("it names every provider", () => {
  const names = [...PROVIDER_DIRECTORY.keys()].filter((name) => name !== "generic");
  expect(names.filter((name) => !PAGE.includes(`\`${name}\``))).toEqual([]);
});

test("its requests are answered by a gateway of these files: curl and the SDK", async () => {
  for (const name of ["stdout", "stderr"] as const) vi.spyOn(process[name], "write").mockReturnValue(true);
  const simulator = await startSimulator();
  const options = { provider: "openai", url: `${simulator.origin}/v1`, key: "sim", model: ["gpt-5-mini"], yes: true };
  const file = workspace.path("gateway.yaml");
  await init({ ...options, config: file }, { terminal: null, env: {}, now: Date.now });
  const more = 'store: { url: "memory:" }\nserver: { listen: [{ host: 127.0.0.1, port: 0 }] }\n';
  workspace.write("gateway.yaml", readFileSync(file, "utf8") + more);
  const gateway = await startGateway({
    file,
    mode: "serve",
    strict: true,
    env: {},
    logLevel: "silent",
    logPretty: false,
  });
  try {
    const user = await createUser(gateway.store, { email: "a@example.com", tier: "Open", credits: 1_000_000_000n });
    const { body } = await createKey(gateway.store, { userId: user.id, name: "test" });
    const here = (code: string): string => code.replaceAll("http://127.0.0.1:8080", urlOf(gateway.addresses[0]!));
    const curl = blocks("sh").find((code) => code.startsWith("curl "))!;
    symlinkSync(join(ROOT, "node_modules"), workspace.path("node_modules"));
    workspace.write("client.ts", here(blocks("ts")[0]!));
    workspace.write("package.json", { type: "module" });
    const [byCurl, bySdk] = await Promise.all([
      output("sh", ["-c", here(curl).replace("curl ", "curl -s ")], { KEY: body.key }),
      output(process.execPath, ["--no-warnings", "client.ts"], { KEY: body.key }),
    ]);
    expect(JSON.parse(byCurl)).toMatchObject({ choices: [{ message: { role: "assistant" } }] });
    expect(bySdk).toContain("simulated");
  } finally {
    await gateway.close();
    await simulator.close();
  }
});
