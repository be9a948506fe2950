import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConfigurationError, type Diagnostic } from "../../src/config/diagnostics.ts";
import { checkConfig } from "../../src/gateway/configuration.ts";
import { type Gateway, startGateway } from "../../src/gateway/start.ts";
import type { Stage } from "../../src/kit/index.ts";
import { conformance } from "../../src/testing/index.ts";
import { TestLog } from "../support/host.ts";

/*
 * Wrong plugins as files. The first line of each says what is wrong, the last one what `check` says to it; the same table
 * stands in plugins/README.md. A start and a reload refuse them alike.
 */

const FOLDER = join(import.meta.dirname, "breaches");

interface Breach {
  readonly name: string;
  readonly file: string;
  readonly what: string;
  readonly says: string;
  readonly stage: Stage;
}

const BREACHES: readonly Breach[] = globSync("*.ts", { cwd: FOLDER })
  .toSorted()
  .map((name) => {
    const file = join(FOLDER, name);
    const text = readFileSync(file, "utf8");
    const [, what = ""] = /^\/\/ (.+)\n/.exec(text) ?? [];
    const [, says = ""] = /\n\/\/ check: (.+)\n$/.exec(text) ?? [];
    const [, stage = "admit"] = /^ {2}stage: "(\w+)"/m.exec(text) ?? [];
    return { name: basename(name, ".ts"), file, what, says, stage: stage as Stage };
  });

const rows = BREACHES.map((breach) => [breach.name, breach] as const);

const PIPELINE = ["auth", "plan-check", "quota", "breaker", "transform", "stream-relay", "meter"];
const BEHIND: Readonly<Record<string, string>> = {
  identify: "auth",
  admit: "quota",
  guard: "breaker",
  transform: "breaker",
  account: "meter",
};

/** The plugin at the place of its stage; a relay in the place of the gateway's own. */
function pipelineWith({ stage, file }: Pick<Breach, "stage" | "file">): readonly string[] {
  if (stage === "relay") return PIPELINE.map((name) => (name === "stream-relay" ? file : name));
  return PIPELINE.flatMap((name) => (name === BEHIND[stage] ? [name, file] : [name]));
}

function configOf(pipeline: readonly string[]): string {
  return JSON.stringify({
    version: 1,
    server: { listen: [{ host: "127.0.0.1", port: 0 }] },
    store: { url: "memory:" },
    auth: { tokens: { secrets: [{ kid: "a", value: "${env:TOKEN_SECRET}" }] } },
    tiers: { Free: { access: "all", limits: { day: 50, hour: 50, minute: 50, streams: 5 } } },
    upstreams: { alpha: { dialect: "openai", base_url: "sim:", api_keys: ["sim"] } },
    models: {
      "route/one": {
        kind: "chat",
        tier: "Free",
        owned_by: "alpha",
        price: { input_per_million: 1, output_per_million: 2 },
        chain: [{ upstream: "alpha", model: "one" }],
      },
    },
    pipeline,
  });
}

const env = { TOKEN_SECRET: "a secret of tests, longer than 32 bytes" };

function said(diagnostics: readonly Diagnostic[]): string {
  return diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ rule, message, hint }) => {
      const words = message.replace(/^plugin '[^']*': /, "");
      return `${rule}: ${words}${hint === null ? "" : ` (${hint})`}`;
    })
    .join("; ");
}

let folder: string;
let gateway: Gateway;
const log = Object.assign(new TestLog(), { enabled: () => false });
const settings = () => ({ file: join(folder, "gateway.yaml"), env, log: log as never, strict: true });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "breaches-"));
  await writeFile(join(folder, "gateway.yaml"), configOf(PIPELINE));
  gateway = await startGateway(settings());
});

afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true });
});

describe("a wrong plugin is refused", () => {
  test("there are many of them, each with a sentence and an answer", () => {
    expect(BREACHES.length).toBeGreaterThanOrEqual(15);
    expect(BREACHES.filter(({ what, says }) => what === "" || says === "").map(({ name }) => name)).toEqual([]);
    expect(new Set(BREACHES.map(({ what }) => what)).size).toBe(BREACHES.length);
  });

  test.each(rows)("by a check, a start and a reload: %s", async (_, breach) => {
    const bad = join(folder, "bad.yaml");
    await writeFile(bad, configOf(pipelineWith(breach)));
    const { ok, diagnostics } = await checkConfig({ file: bad, env, strict: true });
    expect({ ok, said: said(diagnostics) }).toEqual({ ok: false, said: breach.says });
    expect(diagnostics.every(({ line, hint }) => line > 0 && hint !== "")).toBe(true);

    const refused: unknown = await startGateway({ ...settings(), file: bad }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ConfigurationError);
    expect(said((refused as ConfigurationError).diagnostics)).toBe(breach.says);

    const { generation } = gateway;
    await writeFile(join(folder, "gateway.yaml"), configOf(pipelineWith(breach)));
    const reloaded = await gateway.reload();
    expect(reloaded.ok ? "taken" : said(reloaded.diagnostics)).toBe(breach.says);
    expect(gateway.generation).toBe(generation);
    await writeFile(join(folder, "gateway.yaml"), configOf(PIPELINE));
  });

  test("the configuration before them still serves", async () => {
    const [{ host, port }] = gateway.addresses as readonly [{ host: string; port: number }];
    const answer = await fetch(`http://${host}:${port}/v1/models`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("route/one");
  });

  test("fail: open does not help", async () => {
    const bad = join(folder, "open.yaml");
    const { file } = BREACHES.find(({ name }) => name === "misspelt-hook")!;
    const config = JSON.parse(configOf(PIPELINE)) as { pipeline: unknown[] };
    config.pipeline.splice(4, 0, { use: file, fail: "open" });
    await writeFile(bad, JSON.stringify(config));
    expect(said((await checkConfig({ file: bad, env })).diagnostics)).toMatch(/^unknown-hook: /);
  });

  test("by the conformance kit, in its case about hooks", async () => {
    for (const name of ["misspelt-hook", "misspelt-method", "relay-in-transform", "async-event"]) {
      const cases = conformance(pathToFileURL(join(FOLDER, `${name}.ts`)));
      const hooks = cases.find((one) => one.name === "every hook that it returns is one of its stage")!;
      await expect(hooks.run()).rejects.toThrow(/hook/);
    }
  });
});

test("the guide for authors has the same table", () => {
  const readme = readFileSync(new URL("../../plugins/README.md", import.meta.url), "utf8");
  const [, section = ""] = /### What `check` says to a wrong plugin\n(.*?)\n##/s.exec(readme) ?? [];
  const found = [...section.matchAll(/^\| (?!-|a plugin with)(.+?) +\| (.+?) +\|$/gm)].map(([, what, says]) => [
    what,
    says,
  ]);
  expect(found).toEqual(BREACHES.map(({ what, says }) => [what, `\`${says}\``]));
});
