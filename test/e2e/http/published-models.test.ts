import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compileOffline } from "../../../src/gateway/compile.ts";
import { checkConfig } from "../../../src/gateway/configuration.ts";
import type { Json } from "../../../src/kit/index.ts";
import type { GatewayLog } from "../../../src/telemetry/log.ts";
import { type LogLine, memoryLog } from "../../server/support.ts";
import { eventually } from "../support/http.ts";
import { TestGateway, type TestGatewayOptions } from "../support/in-process.ts";

const PRICE = { input_per_million: 1, output_per_million: 2 };

/** A provider whose list the test writes; chats are answered with the model that was asked for. */
class Provider {
  /** What is answered with a list; null: 503. */
  models: readonly (string | Json)[] | null;
  /** Requests for the list that wait for `answer`; null: none is kept waiting. */
  waiting: (() => void)[] | null = null;
  /** Chats about something slow, which wait to be answered. */
  readonly chats: (() => void)[] = [];
  readonly #server: Server;

  private constructor(models: Provider["models"]) {
    this.models = models;
    this.#server = createServer((request, response) => {
      if (request.url === "/v1/models") {
        if (this.waiting !== null) return void this.waiting.push(() => this.#list(response));
        return this.#list(response);
      }
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { model } = JSON.parse(body) as { model: string };
        const answer = (): void => this.#chat(response, model);
        if (body.includes('"slow"')) this.chats.push(answer);
        else answer();
      });
    });
  }

  #chat(response: ServerResponse, model: string): void {
    const message = { role: "assistant", content: `I am ${model}` };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ id: "c1", object: "chat.completion", created: 1, model, choices, usage }));
  }

  #list(response: ServerResponse): void {
    if (this.models === null) return void response.writeHead(503).end();
    const data = this.models.map((model) => (typeof model === "string" ? { id: model } : model));
    response.end(JSON.stringify({ object: "list", data }));
  }

  static async start(models: Provider["models"]): Promise<Provider> {
    const provider = new Provider(models);
    provider.#server.listen(0, "127.0.0.1");
    await once(provider.#server, "listening");
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

let provider: Provider;
let gateway: TestGateway | null = null;
let lines: LogLine[];

beforeEach(async () => {
  lines = [];
  provider = await Provider.start(["gpt-one", "gpt-two", "text-embedding-3-small", "gpt-realtime", "other-model"]);
});
afterEach(async () => {
  await gateway?.stop();
  gateway = null;
  provider.close();
});

/** An upstream of the provider, which publishes. */
function alpha(models: Json = {}): Json {
  return {
    dialect: "openai",
    base_url: provider.url,
    api_keys: ["key-1"],
    models: { include: ["gpt-*", "text-*"], tier: "Max", price: PRICE, ...models },
  };
}

async function start(config: Json, more: Omit<TestGatewayOptions, "config"> = {}): Promise<TestGateway> {
  gateway = await TestGateway.start({ config, log: log(), ...more });
  return gateway;
}

function log(): GatewayLog {
  return { ...memoryLog(lines), enabled: () => true };
}

/** Without the model of every test gateway. */
async function published(): Promise<readonly string[]> {
  const { text } = await gateway!.get("/v1/models");
  return (JSON.parse(text) as { data: { id: string }[] }).data
    .map(({ id }) => id)
    .filter((id) => id !== "route/one")
    .toSorted();
}

async function status(): Promise<Json> {
  return JSON.parse((await gateway!.admin("/admin/config")).text) as Json;
}

const messages = (): readonly string[] => lines.map(({ message }) => message);

describe("a start", () => {
  test("publishes what the list and include name, and serves it", async () => {
    await start({ upstreams: { alpha: alpha({ exclude: ["*-two"] }) } });
    // A realtime model is served by no endpoint.
    expect(await published()).toEqual(["route/gpt-one", "route/text-embedding-3-small"]);
    const user = await gateway!.user();
    const answer = await gateway!.chat(user, { model: "route/gpt-one" });
    expect(JSON.parse(answer.text)).toMatchObject({
      model: "route/gpt-one",
      choices: [{ message: { content: "I am gpt-one" } }],
    });
    expect((await gateway!.chat(user, { model: "route/gpt-two" })).status).toBe(400);
    const listed = { listed: 5, listed_at: expect.any(String) as string, error: null };
    expect(await status()).toMatchObject({ generation: 1, warnings: [], model_lists: { alpha: listed } });
  });

  test("needs no section models; without tiers they are on the plan Open, and cost what is said", async () => {
    await start({ tiers: null, pipeline: null, models: null, upstreams: { alpha: alpha({ tier: undefined }) } });
    expect(await published()).toEqual(["route/gpt-one", "route/gpt-two", "route/text-embedding-3-small"]);
    const { models } = gateway!.gateway.generation.snapshot;
    expect(models["route/gpt-one"]).toMatchObject({ tier: "Open", ownedBy: "alpha", listedBy: "alpha" });
    const user = await gateway!.user({ tier: "Open" });
    expect((await gateway!.chat(user, { model: "route/gpt-one" })).status).toBe(200);
  });

  test("a model that is written out wins", async () => {
    const chain = [{ upstream: "alpha", model: "other-model" }];
    const own = { kind: "chat", tier: "Max", owned_by: "me", price: PRICE, chain };
    await start({ upstreams: { alpha: alpha() }, models: { "route/gpt-one": own } });
    const user = await gateway!.user();
    const { text } = await gateway!.chat(user, { model: "route/gpt-one" });
    expect(text).toContain("I am other-model");
    expect((await status())["warnings"]).toEqual([]);
  });

  test("with an unreachable provider serves the rest, says why, and publishes when it answers", async () => {
    provider.models = null;
    await start({ upstreams: { alpha: alpha() } }, { chains: { "route/two": ["-"] } });
    expect(await published()).toEqual(["route/two"]);
    const host = new URL(provider.url).host;
    expect(messages()).toContain(`no list of models from alpha, none of its models is published: ${host} answered 503`);
    expect(await status()).toMatchObject({
      model_lists: { alpha: { listed: null, listed_at: null, error: `${host} answered 503` } },
      warnings: [{ rule: "model-list", severity: "note", pointer: "/upstreams/alpha/models" }],
    });
    provider.models = ["gpt-one"];
    const { ok } = await gateway!.gateway.reload();
    expect(ok).toBe(true);
    expect(await published()).toEqual(["route/gpt-one", "route/two"]);
    expect(messages()).toContain("models changed: 1 added, 0 removed");
    expect(messages()).toContain("the provider lists its models again");
  });

  test("of two upstreams that list the same the first has it, and a warning names the other", async () => {
    const beta = { ...alpha(), models: { include: ["*"], tier: "Max", price: PRICE } };
    await start({ upstreams: { alpha: alpha(), beta } });
    const { models } = gateway!.gateway.generation.snapshot;
    expect([models["route/gpt-one"]?.listedBy, models["route/other-model"]?.listedBy]).toEqual(["alpha", "beta"]);
    expect((await status())["warnings"]).toMatchObject([
      {
        rule: "model-list",
        pointer: "/upstreams/beta/models",
        message:
          "beta lists 3 models (gpt-one, gpt-two, text-embedding-3-small) that alpha publishes: not published again",
      },
    ]);
  });

  test("two names that become one id: the first has it; a kind without a price is not published", async () => {
    provider.models = ["org/m", "org-m", "whisper-1", "Ünï/ço"];
    await start({ upstreams: { alpha: alpha({ include: ["*"] }) } });
    expect(await published()).toEqual(["route/n---o", "route/org-m"]);
    expect(gateway!.gateway.generation.snapshot.models["route/org-m"]?.chain[0]?.targets[0]?.model).toBe("org/m");
    expect(((await status())["warnings"] as Json[]).map(({ message }) => message)).toEqual([
      "alpha lists 1 model (org-m) whose id another of its models has: not published again",
      "alpha lists 1 model (whisper-1) of kind transcription, which has no price here: not published",
    ]);
  });

  test("patterns that name nothing are a warning", async () => {
    await start({ upstreams: { alpha: alpha({ include: ["claude-*"] }) } });
    expect(await published()).toEqual([]);
    expect((await status())["warnings"]).toMatchObject([
      { message: "none of the 5 models that alpha lists is included", hint: "compare the patterns with its names" },
    ]);
  });
});

describe("a restart", () => {
  test("with an unreachable provider has the last list", async () => {
    await start({ upstreams: { alpha: alpha() } });
    const { file } = gateway!;
    await gateway!.gateway.close();
    provider.models = null;
    const { startGateway } = await import("../../../src/gateway/start.ts");
    const again = await startGateway({ file, mode: "serve", env: {}, log: log() });
    expect(Object.keys(again.generation.snapshot.models)).toContain("route/gpt-one");
    expect(messages().join("\n")).toContain("no new list of models from alpha, the one of 2026-01-15T");
    await again.close();
  });
});

/** What offline commands know of a file, and what they say of its lists. */
async function offline(file: string): Promise<{ models: readonly string[]; told: readonly string[] }> {
  const told: string[] = [];
  const { snapshot } = await compileOffline({ file, env: {}, tell: (line) => told.push(line) });
  return { models: Object.keys(snapshot?.models ?? {}), told };
}

describe("offline", () => {
  test("the last list that a gateway kept is used, and said; without one that is said", async () => {
    await start({ upstreams: { alpha: alpha() } });
    const { file } = gateway!;
    await gateway!.gateway.close();
    const known = await offline(file);
    expect(known.models).toContain("route/gpt-one");
    expect(known.told).toEqual([
      expect.stringMatching(/^the models of alpha are those that its provider listed on 2026-01-15T[\d:.]+Z$/),
    ]);
    await rm(join(dirname(file), "model-lists.json"));
    const unknown = await offline(file);
    expect(unknown.models).toEqual(["route/one"]);
    expect(unknown.told).toEqual([
      `the models that alpha lists are not known offline: a gateway that has served this configuration keeps them in ${dirname(file)}`,
    ]);
  });

  test("the address of the provider need not be known", async () => {
    await start({ upstreams: { alpha: alpha() } });
    const { file } = gateway!;
    await gateway!.write({ upstreams: { alpha: { base_url: "${env:NOT_SET_HERE}" } } });
    await gateway!.gateway.close();
    expect((await offline(file)).models).toContain("route/gpt-one");
  });

  test("a check asks nobody, and knows none of them", async () => {
    await start({ upstreams: { alpha: alpha() } });
    provider.waiting = [];
    const { ok, snapshot, diagnostics } = await checkConfig({ file: gateway!.file, env: {} });
    expect([ok, Object.keys(snapshot!.models)]).toEqual([true, ["route/one"]]);
    expect(diagnostics.filter(({ rule }) => rule === "model-list")).toEqual([]);
    expect(provider.waiting).toEqual([]);
  });
});

describe("a reload", () => {
  test("asks again: a changed list is a new generation", async () => {
    await start({ upstreams: { alpha: alpha() } });
    provider.models = ["gpt-two", "gpt-three"];
    expect(await gateway!.gateway.reload()).toMatchObject({ ok: true, changed: true });
    expect(await published()).toEqual(["route/gpt-three", "route/gpt-two"]);
    expect(messages()).toContain("models changed: 1 added, 2 removed");
    expect(await status()).toMatchObject({ generation: 2 });
    expect(await gateway!.gateway.reload()).toMatchObject({ ok: true, changed: false });
    expect(await status()).toMatchObject({ generation: 2 });
  });

  test("keeps the last list when the provider answers nothing, nonsense or an empty list", async () => {
    await start({ upstreams: { alpha: alpha() } });
    const before = await published();
    for (const models of [null, [], [{ name: "no id" }]]) {
      provider.models = models;
      await gateway!.gateway.reload();
      expect(await published()).toEqual(before);
    }
    expect(await status()).toMatchObject({
      generation: 1,
      model_lists: { alpha: { listed: 5, error: "its list is empty" } },
    });
  });

  test("goes by new patterns, and by none when they are gone", async () => {
    await start({ upstreams: { alpha: alpha() } });
    await gateway!.reload({ upstreams: { alpha: { models: { include: ["other-*"] } } } });
    expect(await published()).toEqual(["route/other-model"]);
    await gateway!.reload({ upstreams: { alpha: { models: null } } });
    expect(await published()).toEqual([]);
    expect(await status()).not.toHaveProperty("model_lists");
  });

  test("of a configuration with a guard: a changed list is no candidate", async () => {
    await start({ upstreams: { alpha: alpha() }, reload: { guard: { share: "50%", for: "1h" } } });
    provider.models = ["gpt-two"];
    expect(await gateway!.gateway.reload()).toEqual({ ok: true, hash: expect.any(String) as string, changed: true });
    expect(await published()).toEqual(["route/gpt-two"]);
  });

  test("while the provider keeps it waiting changes nothing; its answer comes later", async () => {
    await start({ upstreams: { alpha: alpha() } });
    const waiting: (() => void)[] = [];
    provider.waiting = waiting;
    const reloaded = gateway!.reload({ upstreams: { alpha: { display_name: "A" } } });
    await eventually(() => waiting.length === 1);
    expect(await published()).toHaveLength(3);
    provider.models = ["gpt-one"];
    waiting[0]?.();
    expect(await reloaded).toMatchObject({ ok: true });
    expect(await published()).toEqual(["route/gpt-one"]);
  });

  test("a stop gives the question up", async () => {
    await start({ upstreams: { alpha: alpha() } });
    const waiting: (() => void)[] = [];
    provider.waiting = waiting;
    const reloaded = gateway!.gateway.reload();
    await eventually(() => waiting.length === 1);
    await gateway!.gateway.close();
    await reloaded;
    expect(messages().filter((message) => message.includes("list of models"))).toEqual([]);
  });

  test("a request in flight ends on the generation that it began on", async () => {
    await start({ upstreams: { alpha: alpha() } });
    const user = await gateway!.user();
    const begun = gateway!.open(user, { model: "route/gpt-one", messages: [{ role: "user", content: "slow" }] });
    await eventually(() => provider.chats.length === 1);
    provider.models = ["gpt-two"];
    await gateway!.gateway.reload();
    expect(await published()).toEqual(["route/gpt-two"]);
    provider.chats[0]?.();
    expect((await begun.whole()).text).toContain("I am gpt-one");
  });
});
