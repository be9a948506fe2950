import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PROVIDERS } from "../../src/config/addresses.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { DialectName } from "../../src/kit/index.ts";
import { vendorOf } from "../../src/dialects/vendors/rules.ts";
import { options, SMALL } from "./support.ts";

/** What a check says of an address, as message and hint; null when nothing. */
async function said(dialect: string, url: string, more = ""): Promise<string | null> {
  const upstream = `{ dialect: ${dialect}, base_url: "${url}", api_keys: ["\${env:KEY:-sim}"]${more} }`;
  const text = SMALL.replace(/alpha: \{.*\}/, `alpha: ${upstream}`);
  const { diagnostics } = await loadConfig(options("/gateway.yaml", { read: async () => text }));
  const found = diagnostics.filter(({ rule }) => rule === "upstream-address" || rule === "upstream-url");
  expect(found.length).toBeLessThanOrEqual(1);
  return found[0] ? `${found[0].message} (${found[0].hint})` : null;
}

/** An operator's own address in place of the example. */
const own = (url: string): string => url.replace("RESOURCE", "my-team").replace("REGION", "eu-central-1");

const RIGHT = PROVIDERS.flatMap(({ name, addresses }) =>
  Object.entries(addresses).map(([dialect, { url }]) => [name, dialect as DialectName, url] as const),
);

describe("the right address of each provider and dialect", () => {
  test.for(RIGHT)("%s, %s: %s", async ([, dialect, url]) => {
    expect(await said(dialect, own(url))).toBeNull();
    expect(await said(dialect, `${own(url)}/`)).toBeNull();
  });

  test.each([
    ["anthropic", "https://api.anthropic.com/v1"],
    ["gemini", "https://generativelanguage.googleapis.com/v1beta"],
    ["gemini", "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google"],
    ["azure", "https://my-team.openai.azure.com/openai/v1"],
    ["azure", "https://my-team.openai.azure.com/openai/deployments/gpt-4o"],
    ["openai", "https://eu.api.openai.com/v1"],
    ["openai", "https://api.deepseek.com"],
    ["openai", "https://api.z.ai/api/coding/paas/v4"],
    ["openai", "http://127.0.0.1:11434/v1"],
    ["openai", "http://127.0.0.1:8000"],
    ["openai", "https://models.example.com"],
    ["openai", "https://gateway.example.com/openai/v1"],
    ["elevenlabs", "https://api.eu.residency.elevenlabs.io"],
  ])("%s at %s", async (dialect, url) => {
    expect(await said(dialect, url)).toBeNull();
  });
});

describe("usual mistakes, with the right address in the hint", () => {
  test.for(RIGHT)("%s, %s: operations, versions, http", async ([name, dialect, url]) => {
    const right = own(url);
    for (const wrong of [`${right}/chat/completions`, `${right}/v9/v9`, `${right}/messages`])
      expect(await said(dialect, wrong)).toMatch(/\((?:write https:|end base_url|.*spoken|write it once)/);
    expect(await said(dialect, right.replace("https:", "http:"))).toBe(
      `${name} is reachable by https only (write ${url})`.replace(/^/, "upstream 'alpha', base_url: "),
    );
  });

  test.each([
    ["openai", "https://api.openai.com", "write https://api.openai.com/v1"],
    ["openai", "https://api.openai.com/v1/chat/completions", "write https://api.openai.com/v1"],
    ["openai", "https://api.openai.com/v1/v1", "write https://api.openai.com/v1"],
    ["openai", "https://platform.openai.com/v1", "write https://api.openai.com/v1"],
    ["openai", "http://api.openai.com/v1", "write https://api.openai.com/v1"],
    ["anthropic", "https://api.openai.com/v1", "dialect: openai with https://api.openai.com/v1"],
    ["anthropic", "https://console.anthropic.com", "write https://api.anthropic.com"],
    ["anthropic", "https://api.anthropic.com/v1/messages", "write https://api.anthropic.com"],
    ["openai", "https://api.anthropic.com", "write https://api.anthropic.com/v1"],
    ["gemini", "https://aistudio.google.com", "write https://generativelanguage.googleapis.com"],
    [
      "gemini",
      "https://generativelanguage.googleapis.com/v1beta/models",
      "write https://generativelanguage.googleapis.com",
    ],
    [
      "openai",
      "https://generativelanguage.googleapis.com/v1beta",
      "write https://generativelanguage.googleapis.com/v1beta/openai",
    ],
    ["azure", "https://portal.azure.com", "write https://RESOURCE.openai.azure.com"],
    ["azure", "https://ai.azure.com/resource", "write https://RESOURCE.openai.azure.com"],
    [
      "azure",
      "https://my-team.openai.azure.com/openai/deployments/gpt-4o/chat/completions",
      "write https://RESOURCE.openai.azure.com",
    ],
    ["openai", "https://my-team.openai.azure.com", "write https://RESOURCE.openai.azure.com/openai/v1"],
    ["azure", "https://RESOURCE.openai.azure.com", "replace it by your own name"],
    ["bedrock", "https://bedrock-runtime.amazonaws.com", "write https://bedrock-runtime.REGION.amazonaws.com"],
    ["bedrock", "https://bedrock.us-east-1.amazonaws.com", "write https://bedrock-runtime.REGION.amazonaws.com"],
    [
      "bedrock",
      "https://bedrock-runtime.us-east-1.amazonaws.com/model/x/converse",
      "write https://bedrock-runtime.REGION.amazonaws.com",
    ],
    [
      "bedrock",
      "https://us-east-1.console.aws.amazon.com/bedrock",
      "write https://bedrock-runtime.REGION.amazonaws.com",
    ],
    ["openai", "https://openrouter.ai/v1", "write https://openrouter.ai/api/v1"],
    ["openai", "https://openrouter.ai", "write https://openrouter.ai/api/v1"],
    ["openai", "https://api.groq.com/v1", "write https://api.groq.com/openai/v1"],
    ["openai", "https://console.groq.com", "write https://api.groq.com/openai/v1"],
    ["openai", "https://api.fireworks.ai/v1", "write https://api.fireworks.ai/inference/v1"],
    ["openai", "https://api.mistral.ai", "write https://api.mistral.ai/v1"],
    ["openai", "https://dashscope.aliyuncs.com/api/v1", "write https://dashscope-intl.aliyuncs.com/compatible-mode/v1"],
    ["cohere", "https://api.cohere.com/v1", "write https://api.cohere.com"],
    ["openai", "https://models.example.com/v1/chat/completions", "end base_url before it"],
    ["openai", "https://models.example.com/v1/v1", "write it once"],
    ["gemini", "https://models.example.com/v1beta/models/gemini-2.5-pro:generateContent", "end base_url before it"],
    ["openai", "http://127.0.0.1:11434", "end base_url with the port and /v1"],
    ["openai", "http://localhost:11434/api", "end base_url with the port and /v1"],
    ["openai", "http://localhost:11434/api/chat", "end base_url with the port and /v1"],
    ["openai", "http://127.0.0.1:1234", "end base_url with the port and /v1"],
    ["openai", "https://<your-host>/v1", "https://api.example.com/v1"],
  ])("%s at %s", async (dialect, url, hint) => {
    expect(await said(dialect, url)).toContain(`(${hint})`);
  });

  test.each(["ollama", "lmstudio", "vllm"])("a bare address of vendor %s", async (vendor) => {
    expect(await said("openai", "http://gpu.internal:8000", `, vendor: ${vendor}`)).toContain("/v1");
    expect(await said("openai", "http://gpu.internal:8000/v1", `, vendor: ${vendor}`)).toBeNull();
  });
});

test("every provider has a source, and an example that the table of vendors knows by its host", () => {
  const unknown: string[] = [];
  for (const { name, source, addresses } of PROVIDERS) {
    expect([name, source]).toEqual([name, expect.stringMatching(/^https:\/\//)]);
    const url = addresses.openai?.url;
    const isMaker = !["Anthropic", "Google", "Azure", "Bedrock", "Cohere", "Jina", "Voyage"].includes(name);
    if (url !== undefined && isMaker && vendorOf({ baseUrl: url, headers: {} }) === "generic") unknown.push(name);
  }
  expect(unknown).toEqual([]);
});

test("no address in the documentation or in the shipped files is a mistake", async () => {
  const texts = globSync(["README.md", "docs/**/*.md", "deploy/**/*.{md,yaml}", "gateway.yaml"]).map((file) =>
    readFileSync(file, "utf8"),
  );
  const blocks = texts.flatMap((text) => [...text.matchAll(/dialect: (\w+),?\s+base_url: "(https?:[^"$]+)"/g)]);
  expect(blocks.length).toBeGreaterThan(3);
  for (const [, dialect, url] of blocks) expect([url, await said(dialect!, url!)]).toEqual([url, null]);
});
