import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { type OfflineResult, openPlugin, type PluginTest } from "../../../../src/testing/index.ts";
import { type FormatName, FORMAT_NAMES, FORMATS, streamedText } from "../../support/formats.ts";

/** Its answers repeat the prompt. */
const UPSTREAMS: Readonly<Record<string, Json>> = {
  chat: {},
  messages: { dialect: "anthropic" },
  responses: { vendor: "openai", api: "responses" },
  gemini: { dialect: "gemini" },
  bedrock: { dialect: "bedrock", api_keys: ["AKID:secret"] },
  cohere: { dialect: "cohere" },
};
const ADDRESS = "ann.lee@example.com";
const PROMPT = `Write to ${ADDRESS} or call +49 30 12345678`;

function said(name: FormatName, stream: boolean, { body }: OfflineResult): string {
  return stream ? streamedText(name, body) : FORMATS[name].text(JSON.parse(body) as Json);
}

/** What comes of the prompt, streamed in small pieces and complete. */
async function asked(plugin: string, name: FormatName, route: string, options: PluginTest["options"]) {
  const config = {
    upstreams: { other: { dialect: "openai", base_url: "sim:", api_keys: ["test"], ...UPSTREAMS[route] } },
    models: { "route/chat": { chain: [{ upstream: "other", model: "other-model" }] } },
  };
  await using room = await openPlugin(plugin, { options, config, faults: { other: "?chunks=40" } });
  const results: OfflineResult[] = [];
  for (const stream of [false, true]) {
    const body = FORMATS[name].prompt(PROMPT);
    results.push(await room.request({ model: "route/chat", endpoint: name, stream, body }));
  }
  return results;
}

describe.each(FORMAT_NAMES)("a client of %s", (name) => {
  describe.each(Object.keys(UPSTREAMS))("and an upstream of %s", (route) => {
    test("pii-mask: the upstream reads placeholders, the client what it wrote", async () => {
      for (const [at, result] of (await asked("pii-mask", name, route, {})).entries()) {
        expect([result.status, result.upstream]).toEqual([200, "other"]);
        const sent = JSON.stringify(result.sent.map(({ body }) => body));
        expect(sent).toContain("Write to [EMAIL_1] or call [PHONE_1]");
        expect(said(name, at === 1, result)).toContain(PROMPT);
        expect(result.body).not.toContain("EMAIL_1");
      }
    });

    test("guard-words: a word of the answer is masked, wherever it breaks", async () => {
      const options = { words: [ADDRESS], in: ["answer"], action: "mask" };
      for (const [at, result] of (await asked("guard-words", name, route, options)).entries()) {
        expect([result.status, result.upstream]).toEqual([200, "other"]);
        expect(said(name, at === 1, result)).toContain("Write to *** or call");
        expect(result.body).not.toContain("ann.lee");
      }
    });

    test("prompt-prefix: the instructions arrive", async () => {
      const options = { prompts: [{ text: "Be brief, please." }] };
      for (const result of await asked("prompt-prefix", name, route, options)) {
        expect([result.status, result.upstream]).toEqual([200, "other"]);
        expect(JSON.stringify(result.sent.map(({ body }) => body))).toContain("Be brief, please.");
      }
    });
  });
});
