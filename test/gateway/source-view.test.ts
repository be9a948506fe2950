import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { compare } from "../../src/effects/compare.ts";
import type { Side } from "../../src/effects/change.ts";
import { codeOf, compileOffline } from "../../src/gateway/compile.ts";
import { isLoaded, type Loaded } from "../../src/gateway/configuration.ts";
import { sourceAccess, sourceBody } from "../../src/gateway/source-view.ts";
import { ROOT, Workspace } from "../e2e/support/process.ts";

async function compiled(file: string, access = {}): Promise<Loaded> {
  const result = await compileOffline({ file, env: {}, access });
  if (!isLoaded(result)) throw new Error(JSON.stringify(result.diagnostics));
  return result;
}

const sideOf = (loaded: Loaded): Side => ({ snapshot: loaded.snapshot, code: codeOf(loaded) });

/** What a reader makes of what a gateway says of itself, over JSON. */
async function told(loaded: Loaded) {
  const text = JSON.stringify(sourceBody(loaded));
  const body = JSON.parse(text) as ReturnType<typeof sourceBody>;
  const folder = dirname(loaded.snapshot.file);
  const read = await compiled(join(folder, body.files[0]!.path), sourceAccess(body, folder));
  return { text, changes: compare(sideOf(loaded), { ...sideOf(read), code: body.code }) };
}

test("the shipped configuration is the same when it was told", async () => {
  const { changes } = await told(await compiled(join(ROOT, "gateway.yaml")));
  expect(changes).toEqual([]);
});

const SECRETS = `version: 1
server:
  admin:
    host: 127.0.0.1
    port: 9090
    token: sk-secret-admin
    tokens:
      - { name: grace, token: sk-secret-grace, role: operator }
      - { name: ada, token: "\${env:ADA_TOKEN:-sk-secret-ada}", role: viewer }
      - { name: eve, token: "\${env:EVE_TOKEN:-}", role: viewer }
store: { url: "rediss://user:sk-secret-store@store.example:6379/0" }
auth:
  tokens:
    secrets:
      - { kid: a, value: sk-secret-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa }
      - { kid: b, value: "\${env:JWT_SECRET:-sk-secret-bbbbbbbbbbbbbbbbbbbbbbbbb}" }
      - { kid: c, value: "\${env:JWT_SECRET}" }
  email: { from: gateway@example.com, smtp: "smtp://user:sk-secret-mail@mail.example:587" }
  oauth: { corp: { issuer: "https://id.example.com", client_id: abc, client_secret: sk-secret-corp } }
tiers:
  Free: { access: [Free], limits: { day: 50, hour: 50, minute: 100, streams: 50 } }
upstreams:
  # sk-secret-comment
  alpha:
    dialect: openai
    base_url: "https://alpha.example/v1"
    api_keys: [sk-secret-one, "\${env:ALPHA_KEY}", "\${env:ALPHA_KEY:-sk-secret-two}", "prefix-sk-secret-\${env:ALPHA_KEY}"]
    headers: { authorization: Bearer sk-secret-header }
telemetry:
  otlp:
    endpoint: http://otlp.example:4318
    headers: { authorization: Bearer sk-secret-otlp, x-team: "\${env:OTLP_TEAM}" }
models:
  route/one:
    kind: chat
    tier: Free
    owned_by: alpha
    price: { input_per_million: 0.15, output_per_million: 0.6 }
    chain:
      - upstream: alpha
        model: one
        parameters: { set: { /metadata/api_key: sk-secret-parameter, /metadata/team: blue }, rename: { /max_tokens: max_new_tokens } }
pipeline:
  - auth
  - plan-check
  - quota
  - breaker
  - use: transform
    options: { set: { /metadata/token: sk-secret-option, /metadata/nested: { password: [sk-secret-deep], accessKey: sk-secret-camel, hook: "https://me:sk-secret-hook@hook.example/x", url: "https://hook.example/x?team=sk-secret-query&to=sk-secret-other#part", raw: sk-secret-0123456789abcdef, other: "\${env:HOOK:-https://hook.example/x?k=sk-secret-default}" } } }
  - stream-relay
  - meter
`;

test("no secret that stands in a file leaves, and what is left still means the same", async () => {
  const workspace = new Workspace();
  onTestFinished(() => workspace.close());
  workspace.write("gateway.yaml", SECRETS);
  const { text, changes } = await told(await compiled(workspace.path("gateway.yaml")));
  expect(text).not.toContain("sk-secret");
  expect(changes).toEqual([]);
  for (const kept of [
    "${env:ALPHA_KEY}",
    "max_new_tokens",
    "blue",
    "${env:OTLP_TEAM}",
    "mail.example:587",
    "store.example:6379/0",
  ]) {
    expect(text).toContain(kept);
  }
});

test("includes by an absolute path and patterns mean the same for who reads from another folder", async () => {
  const workspace = new Workspace();
  onTestFinished(() => workspace.close());
  const [, models = ""] = /(models:[^]*?)pipeline:/.exec(SECRETS) ?? [];
  workspace.write("shared/models.yaml", models);
  const include = `include: ["${workspace.path("shared")}/*.yaml"]\n`;
  workspace.write("one/gateway.yaml", SECRETS.replace(models, "").replace("version: 1\n", `version: 1\n${include}`));
  const loaded = await compiled(workspace.path("one/gateway.yaml"));
  const body = sourceBody(loaded);
  const elsewhere = workspace.path("some/where/else");
  const read = await compiled(join(elsewhere, "gateway.yaml"), sourceAccess(body, elsewhere));
  expect(Object.keys(read.snapshot.models)).toEqual(["route/one"]);
  expect(compare(sideOf(loaded), sideOf(read))).toEqual([]);
});

test("the text has its lines and columns, its references and comments, and dots for secrets", async () => {
  const workspace = new Workspace();
  onTestFinished(() => workspace.close());
  workspace.write("gateway.yaml", SECRETS);
  const [file] = sourceBody(await compiled(workspace.path("gateway.yaml"))).files;
  const lines = file!.text.split("\n");
  expect(lines.map(({ length }) => length)).toEqual(SECRETS.split("\n").map(({ length }) => length));
  expect(file!.text).not.toContain("secret-");
  const line = (start: string): string => lines.find((one) => one.includes(start))!.trim();
  const dots = "•".repeat("sk-secret-two".length);
  const glued = "•".repeat('"prefix-sk-secret-'.length);
  expect(line("api_keys")).toBe(
    `api_keys: [${dots}, "\${env:ALPHA_KEY}", "\${env:ALPHA_KEY:-${dots}}", ${glued}\${env:ALPHA_KEY}"]`,
  );
  expect(line("kid: c")).toBe('- { kid: c, value: "${env:JWT_SECRET}" }');
  expect(line("dialect")).toBe("dialect: openai");
});

test("what was refused is told with the text that its diagnostics are about, and neither quotes a secret", async () => {
  const workspace = new Workspace();
  onTestFinished(() => workspace.close());
  workspace.write("gateway.yaml", SECRETS);
  const loaded = await compiled(workspace.path("gateway.yaml"));
  const told = (text: string, ...found: { rule: string; pointer: string }[]) => {
    const { file } = loaded.snapshot;
    const diagnostics = found.map((one) => ({
      ...one,
      file,
      line: 1,
      column: 1,
      severity: "error",
      message: "",
      hint: null,
    }));
    const sources = [{ path: file, kind: "config" as const, text }];
    return sourceBody(loaded, { at: "2026-01-01T00:00:00.000Z", diagnostics, sources } as never).rejected!;
  };
  const misspelt = SECRETS.replace("api_keys", "api_kyes").replaceAll("sk-secret-", "plain-");
  const { files } = told(misspelt, { rule: "unknown-key", pointer: "/upstreams/alpha/api_kyes" });
  expect(files[0]!.path).toBe("gateway.yaml");
  expect(files[0]!.text).toContain("api_kyes: [•••••••••,");
  const unread = told(`${SECRETS}  - [`).files[0]!.text;
  expect(unread).not.toContain("secret-one");
  expect(unread).toContain("dialect: openai");
});
