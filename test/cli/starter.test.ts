import * as fc from "fast-check";
import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { envValue, gatewayYaml, routesOf, type Starter, type StarterModel, testsYaml } from "../../src/cli/starter.ts";
import { parseEnvFile } from "../../src/config/env-file.ts";
import { PROVIDER_DIRECTORY } from "../../src/config/providers.ts";
import { checkConfig } from "../../src/gateway/configuration.ts";
import type { Kind } from "../../src/kit/index.ts";

const STARTER: Starter = {
  entry: PROVIDER_DIRECTORY.get("openai")!,
  baseUrl: "https://api.openai.com/v1",
  keyVariable: "OPENAI_API_KEY",
  key: null,
  fromEnvironment: true,
  free: false,
  models: [],
  schemas: null,
  fileName: "gateway.yaml",
  port: null,
  today: "2026-11-28",
  inContainer: false,
};

async function checked(starter: Starter) {
  const text = gatewayYaml(starter);
  const env = { OPENAI_API_KEY: "k" };
  const now = Date.UTC(2026, 10, 28);
  const { diagnostics, snapshot } = await checkConfig({ file: "/gateway.yaml", read: async () => text, env, now });
  return { text, findings: diagnostics.map(({ message }) => message), snapshot };
}

/** Names of models as providers write them, and as nobody should. */
const ID = fc.oneof(
  fc.string({ minLength: 1, maxLength: 200, unit: "grapheme" }),
  fc.stringMatching(/^[\w/:@.$#{}'"&*!|>%,\][-]{1,40}$/),
  fc.constantFrom(
    "true",
    "no",
    "null",
    "~",
    "1.5",
    "0x1f",
    "${env:HOME}",
    "$$",
    "- a",
    "a: b",
    "#x",
    "2026-01-01",
    "🦙",
  ),
);
const VISIBLE = ID.filter((id) => /^[^\p{C}\p{Z}](?:[^\p{C}]*[^\p{C}\p{Z}])?$/u.test(id));

test("any name of a model arrives in the chain as it is, under a route that clients can send", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(VISIBLE, { minLength: 1, maxLength: 4 }), async (ids) => {
      const models = ids.map((id): StarterModel => ({ id, kind: "chat" }));
      const { findings, snapshot } = await checked({ ...STARTER, models });
      expect(findings).toEqual([]);
      const served = routesOf(models).map(([route]) => snapshot!.models[route]!.chain[0]!.targets[0]!.model);
      expect(served).toEqual(ids);
    }),
    { numRuns: 40 },
  );
});

const KINDS: readonly Kind[] = ["chat", "embedding", "rerank", "speech", "transcription", "image"];

test.for([true, false])("each kind has a price that check takes; of one's own server: %s", async (free) => {
  const models = KINDS.flatMap((kind): readonly StarterModel[] => [
    { id: `${kind}-a`, kind },
    { id: `${kind}-b`, kind, price: { input: 0.000_000_1, output: 75 }, pricedBy: "provider" },
    { id: `${kind}-c`, kind, price: { input: 0, output: 0 }, pricedBy: "operator" },
  ]);
  const own: Partial<Starter> = {
    entry: PROVIDER_DIRECTORY.get("vllm")!,
    baseUrl: "http://gpu:8000/v1",
    keyVariable: null,
  };
  const { findings } = await checked({ ...STARTER, ...(free && own), free, models });
  expect(findings).toEqual([]);
});

test("the console's line works when its # is removed", async () => {
  const models: readonly StarterModel[] = [{ id: "a", kind: "chat" }];
  const text = gatewayYaml({ ...STARTER, models }).replace("# server:", "server:");
  const env = { OPENAI_API_KEY: "k", GATEWAY_ADMIN_TOKEN: "t" };
  const { diagnostics, snapshot } = await checkConfig({ file: "/gateway.yaml", read: async () => text, env });
  expect(diagnostics).toEqual([]);
  expect(snapshot!.server.admin).toMatchObject({ port: 9090 });
});

test("the container's file passes check, too", async () => {
  const { findings, text } = await checked({ ...STARTER, inContainer: true, models: [{ id: "a", kind: "chat" }] });
  expect(findings).toEqual([]);
  expect(text).toContain("listen: [{ host: 0.0.0.0, port: 8080 }]");
});

test("a key comes out of .env as it was given", () => {
  const key = fc.stringMatching(/^[!-~][ -~]{0,60}$/).map((text) => text.trim());
  fc.assert(
    fc.property(key, (text) => {
      const value = envValue(text);
      fc.pre(value !== null);
      const file = `# first\nKEY=${value}\nNEXT=1\n`;
      expect(parseEnv(file)).toEqual({ KEY: text, NEXT: "1" });
      expect(parseEnvFile(file)).toEqual({ values: { KEY: text, NEXT: "1" }, bad: [] });
    }),
    { numRuns: 500 },
  );
});

test("tests name the configuration only where it is not the usual one", () => {
  const models: readonly StarterModel[] = [{ id: "a", kind: "chat" }];
  expect(testsYaml({ ...STARTER, models })).not.toContain("config:");
  expect(testsYaml({ ...STARTER, models, fileName: "on.yaml" })).toContain('config: "./on.yaml"'.replaceAll('"', ""));
});
