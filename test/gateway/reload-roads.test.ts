import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkConfig } from "../../src/gateway/configuration.ts";
import { type Gateway, startGateway } from "../../src/gateway/start.ts";
import { ADMIN_TOKEN, baseConfig, chainConfig, merge } from "../e2e/support/gateway-config.ts";

// Whatever was written and loaded by request in between: what was written last is what serves in the end.

const WAIT = { timeout: 20_000, interval: 50 };
const TEXTS = ["a", "b", "c"];

const plugin = (text: string): string => `
import { mark } from "./mark.ts";
export default { name: "marks", stage: "transform", schema: new URL("./marks.json", import.meta.url), setup: () => ({}) };
// ${text}
`;

/** Each kind of file that a configuration is read from, and its text when it says `text`. */
const FILES: Readonly<Record<string, (text: string) => string>> = {
  "gateway.yaml": (text) => `# ${text}\n${main}`,
  "parts/one.yaml": (text) => `# ${text}\nversion: 1\n`,
  "conf.d/two.yaml": (text) => `# ${text}\nversion: 1\n`,
  "conf.d/deep/three.yaml": (text) => `# ${text}\nversion: 1\n`,
  "secrets/key": (text) => `key-${text}`,
  ".env": (text) => `ROADS_KEY="key of .env ${text}"\n`,
  "marks.ts": plugin,
  "mark.ts": (text) => `export const mark = "${text}";\n`,
  "marks.json": (text) => JSON.stringify({ type: "object", description: text }),
};

let folder: string;
let main: string;
let gateway: Gateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "roads-"));
  const config = merge(merge(baseConfig(folder), chainConfig("http://127.0.0.1:9", { "route/one": ["-"] })), {
    include: ["parts/one.yaml", "conf.d/**/*.yaml"],
    upstreams: { "one-1": { api_keys: ["${file:secrets/key}", "${env:ROADS_KEY}"] } },
    pipeline: ["auth", "plan-check", "quota", "breaker", "./marks.ts", "stream-relay", "meter"],
  });
  main = JSON.stringify(config);
  for (const name of Object.keys(FILES)) await write(name, "a");
  gateway = await startGateway({ file: join(folder, "gateway.yaml"), mode: "serve", env: {}, logLevel: "silent" });
});

afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true, force: true });
});

async function write(name: string, text: string): Promise<void> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, FILES[name]!(text), { mode: 0o644 });
  await rename(`${path}.new`, path);
}

/** What POST /admin/reload does; SIGHUP calls the same as the command line does. */
const ROADS = {
  async admin() {
    const { host, port } = gateway.admin!;
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const answer = await fetch(`http://${host}:${port}/admin/reload`, { method: "POST", headers });
    return answer.status === 200;
  },
  async signal() {
    return (await gateway.reload()).ok;
  },
} as const;

const served = (): string => gateway.generation.snapshot.hash;

test.for(Object.keys(FILES))("%s: written, loaded by request, and written back before a look", async (name) => {
  for (const road of ["admin", "signal"] as const) {
    const before = served();
    await write(name, "b");
    expect(await ROADS[road]()).toBe(true);
    expect(served()).not.toBe(before);
    await write(name, "a");
    await expect.poll(served, WAIT).toBe(before);
  }
});

test("any order of writes and reloads ends with what was written last", async () => {
  const step = fc.oneof(
    fc.record({ name: fc.constantFrom(...Object.keys(FILES)), text: fc.constantFrom(...TEXTS) }),
    fc.constantFrom("admin" as const, "signal" as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      for (const one of steps) {
        if (typeof one === "string") await ROADS[one]();
        else await write(one.name, one.text);
      }
      const { hash } = await checkConfig({ file: join(folder, "gateway.yaml"), env: {} });
      await expect.poll(served, WAIT).toBe(hash);
    }),
    { numRuns: Number(process.env["NUM_RUNS"] ?? 12) },
  );
});

test("a bad text, loaded by request, and the good one written back", async () => {
  const before = served();
  await writeFile(join(folder, "gateway.yaml"), "version: 1\nmodels: {");
  expect(await gateway.reload()).toMatchObject({ ok: false });
  await write("gateway.yaml", "c");
  await expect.poll(served, WAIT).not.toBe(before);
});
