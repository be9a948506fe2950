import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../src/kit/index.ts";
import { loadOffline } from "../../src/offline/load.ts";
import { openOffline } from "../../src/offline/offline.ts";
import type { Offline } from "../../src/offline/room.ts";
import { baseConfig } from "../e2e/support/gateway-config.ts";
import { dataUrl, png } from "../support/media.ts";

/* What a request may make its provider bill, in a whole gateway: media in a hold and in an estimate, betas, cache marks. */

const NOW = Date.UTC(2026, 0, 5);
const ONE_PER_TOKEN = 1_000n;
/** One unit of currency a million input tokens; an answer costs nothing. */
const PRICE = { input_per_million: 1, output_per_million: 0 };
const TARGETS = {
  claude: ["anthropic", "claude-haiku-4-5"],
  openai: ["openai", "gpt-4o"],
};

let folder = "";
let room: Offline;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "billed-"));
  const upstreams = Object.entries(TARGETS).map(([name, [dialect]]) => [
    name,
    { dialect, base_url: "sim:", api_keys: ["k"], ...(dialect === "openai" && { vendor: "openai" }) },
  ]);
  const models = Object.entries(TARGETS).map(([name, [, model]]) => [
    `route/${name}`,
    { kind: "chat", tier: "Free", owned_by: name, price: PRICE, chain: [{ upstream: name, model }] },
  ]);
  const failing = [
    { upstream: "openai", model: "gpt-4o" },
    { upstream: "claude", model: "claude-haiku-4-5" },
  ];
  const config = {
    ...baseConfig(folder),
    upstreams: Object.fromEntries(upstreams),
    models: {
      ...Object.fromEntries(models),
      "route/both": { kind: "chat", tier: "Free", owned_by: "x", price: PRICE, chain: failing },
      "route/strict": {
        kind: "chat",
        tier: "Free",
        owned_by: "x",
        price: PRICE,
        strict: true,
        chain: [{ upstream: "openai", model: "gpt-4o" }],
      },
    },
  };
  const file = join(folder, "gateway.yaml");
  await writeFile(file, JSON.stringify(config));
  room = await openOffline(await loadOffline({ file, env: {} }), {
    now: NOW,
    tier: "Max",
    faults: { openai: "?usage=none" },
  });
});

afterAll(async () => {
  await room.close();
  await rm(folder, { recursive: true });
});

/** By format: a question with a part. */
const ASKED: Readonly<Record<string, (part: Json) => Json>> = {
  chat: (part) => ({ messages: [{ role: "user", content: [part] }] }),
  messages: (part) => ({ max_tokens: 9, messages: [{ role: "user", content: [part] }] }),
  responses: (part) => ({ input: [{ role: "user", content: [part] }] }),
};
const URL = "https://media.example/a";
const BY_ADDRESS: Readonly<Record<string, readonly (readonly [Json, tokens: bigint])[]>> = {
  chat: [
    [{ type: "image_url", image_url: { url: URL } }, 1_600n],
    [{ type: "file", file: { file_url: URL } }, 3_000n],
    [{ type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } }, 1n],
  ],
  messages: [
    [{ type: "image", source: { type: "url", url: URL } }, 1_600n],
    [{ type: "document", source: { type: "url", url: URL } }, 3_000n],
  ],
  responses: [
    [{ type: "input_image", image_url: URL }, 1_600n],
    [{ type: "input_file", file_url: URL }, 3_000n],
  ],
};

describe.each(Object.keys(BY_ADDRESS))("a hold for a %s client", (endpoint) => {
  test("has what its media count where their size is not known", async () => {
    for (const [part, tokens] of BY_ADDRESS[endpoint]!) {
      const { hold } = await room.request({
        model: "route/claude",
        endpoint: endpoint as "chat",
        body: ASKED[endpoint]!(part),
      });
      // The words of the format around it are a few tokens.
      expect(hold).toBeGreaterThanOrEqual(tokens * ONE_PER_TOKEN);
      expect(hold).toBeLessThan((tokens + 20n) * ONE_PER_TOKEN);
    }
  });
});

test("a hold has what a known image counts at the provider, the most of a chain", async () => {
  const part = { type: "image_url", image_url: { url: dataUrl("image/png", png(1_000, 1_000)) } };
  const due: readonly (readonly [string, bigint])[] = [
    ["route/claude", 1_296n],
    ["route/openai", 765n],
    ["route/both", 1_296n],
  ];
  for (const [model, tokens] of due) {
    const { hold } = await room.request({ model, body: ASKED["chat"]!(part) });
    expect([model, hold / ONE_PER_TOKEN >= tokens, hold / ONE_PER_TOKEN < tokens + 20n]).toEqual([model, true, true]);
  }
});

test("an estimate has them too, as the target counts them that served", async () => {
  const part = { type: "image_url", image_url: { url: dataUrl("image/png", png(1_000, 1_000)) } };
  for (const stream of [false, true]) {
    const { ledger } = await room.request({ model: "route/both", stream, body: ASKED["chat"]!(part) });
    expect(ledger).toMatchObject({ upstream: "openai", estimated: true });
    expect(ledger!.usage.prompt).toBeGreaterThanOrEqual(765);
    expect(ledger!.usage.prompt).toBeLessThan(800);
  }
});

describe("what stays behind is told", () => {
  const CLAUDE_CODE = "claude-code-20250219,context-1m-2025-08-07,interleaved-thinking-2025-05-14";

  test("of betas, whoever serves", async () => {
    const body = { max_tokens: 9, messages: [{ role: "user", content: "hi" }] };
    const ask = (model: string) =>
      room.request({ model, endpoint: "messages", headers: { "anthropic-beta": CLAUDE_CODE }, body });
    const claude = await ask("route/claude");
    expect(claude.headers["x-gateway-dropped"]).toBe("anthropic-beta:context-1m-2025-08-07");
    const openai = await ask("route/openai");
    expect(openai.dropped).toEqual(CLAUDE_CODE.split(",").map((name) => `anthropic-beta:${name}`));
  });

  test("of cache marks; a strict model is not refused for them", async () => {
    const part = { type: "text", text: "hi", cache_control: { type: "ephemeral" } };
    const body = { max_tokens: 9, messages: [{ role: "user", content: [part] }] };
    const { status, dropped } = await room.request({
      model: "route/strict",
      endpoint: "messages",
      headers: { "anthropic-beta": "claude-code-20250219" },
      body,
    });
    expect([status, dropped]).toEqual([
      200,
      ["anthropic-beta:claude-code-20250219", "/messages/0/content/0/cache_control"],
    ]);
  });
});
