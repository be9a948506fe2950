import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createKey } from "../../../src/accounts/api-keys.ts";
import { createUser } from "../../../src/accounts/users.ts";
import { loadFirst } from "../../../src/gateway/configuration.ts";
import { type Gateway, startGateway } from "../../../src/gateway/start.ts";
import type { Json } from "../../../src/kit/index.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { file, formOf, formSent, text as textPart } from "../support/form.ts";
import { send } from "../support/http.ts";
import { AUDIO, ENDPOINTS, PLACES } from "../support/kinds.ts";

/** What the stand-in was sent: the path, and the names of the headers. */
const received: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
const ANSWERS: Readonly<Record<string, Json>> = {
  "/v1/chat/completions": {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "llama3.2",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello from the rack" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
  },
  "/v1/embeddings": {
    object: "list",
    model: "nomic-embed-text",
    data: [{ object: "embedding", index: 0, embedding: [0.5, 0.25] }],
    usage: { prompt_tokens: 3, total_tokens: 3 },
  },
};
const server = createServer((request, response) => {
  const path = request.url ?? "";
  received.push({ path, headers: request.headers });
  request.resume().on("end", () => {
    response.writeHead(path in ANSWERS ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(ANSWERS[path] ?? {}));
  });
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

interface Served {
  readonly gateway: Gateway;
  readonly url: string;
  readonly key: string;
}

/** Serves a file as it is, but on a port that is free. */
async function serve(text: string): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-shortest-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const main = join(folder, "gateway.yaml");
  await writeFile(main, text);
  const log = createLog({ level: "silent", pretty: false });
  const settings = { file: main, env: {}, mode: "serve", strict: true, log } as const;
  const start = await loadFirst(settings);
  const { snapshot } = start.loaded;
  const listening = { ...snapshot, server: { ...snapshot.server, listen: [{ host: "127.0.0.1", port: 0 }] } };
  const gateway = await startGateway({
    ...settings,
    start: { ...start, loaded: { ...start.loaded, snapshot: listening } },
  });
  onTestFinished(() => gateway.close());
  const user = await createUser(gateway.store, {
    email: "a@example.com",
    tier: snapshot.auth.signup.tier,
    credits: 0n,
  });
  const { body } = await createKey(gateway.store, { userId: user.id, name: "first" });
  return { gateway, url: `http://127.0.0.1:${gateway.addresses[0]!.port}`, key: body.key };
}

test("the shortest file of the documentation serves a chat, free of charge and without a key of its own", async () => {
  const text = readFileSync(new URL("../../../docs/shortest.yaml", import.meta.url), "utf8");
  expect(text).toContain('"http://127.0.0.1:11434/v1"');
  const { url, key, gateway } = await serve(text.replace("http://127.0.0.1:11434", origin));
  const ask = async (path: string, body?: Json) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const answer = await send(url + path, body ? { headers, body } : { method: "GET", headers });
    expect([path, answer.status]).toEqual([path, 200]);
    return JSON.parse(answer.text) as Json;
  };
  received.length = 0;
  const chat = await ask("/v1/chat/completions", { model: "route/llama", messages: [{ role: "user", content: "Hi" }] });
  expect(JSON.stringify(chat)).toContain("Hello from the rack");
  await ask("/v1/embeddings", { model: "route/embed", input: "three plain words" });
  expect(received.map(({ path }) => path)).toEqual(["/v1/chat/completions", "/v1/embeddings"]);
  for (const { headers } of received) expect(headers).not.toHaveProperty("authorization");

  const { data } = (await ask("/v1/models")) as { data: readonly Json[] };
  expect(data.map(({ id, owned_by }) => [id, owned_by])).toEqual([
    ["route/llama", "ollama"],
    ["route/embed", "ollama"],
  ]);
  const [user] = await gateway.store.listUsers();
  expect(user).toMatchObject({ tier: "Open", balance: 0n });
  const ledger = await gateway.store.ledger(user!.id);
  expect(ledger.map(({ charge }) => charge)).toEqual([0n, 0n]);
});

const KINDS_OF: Readonly<Record<string, readonly string[]>> = {
  openai: ["chat", "embedding", "rerank", "speech", "transcription", "image"],
  anthropic: ["chat"],
  gemini: ["chat", "embedding"],
  azure: ["chat", "embedding"],
  bedrock: ["chat"],
  cohere: ["chat", "embedding", "rerank"],
  jina: ["embedding", "rerank"],
  voyage: ["embedding", "rerank"],
  elevenlabs: ["speech", "transcription"],
  deepgram: ["speech", "transcription"],
};

test("an upstream on loopback without keys is sent none, whatever its dialect", async () => {
  const upstreams = Object.keys(KINDS_OF).map((dialect) => [dialect, { dialect, base_url: `${origin}/${dialect}` }]);
  const models = Object.entries(KINDS_OF).flatMap(([dialect, kinds]) =>
    kinds.map((kind) => [`route/${dialect}-${kind}`, { kind, chain: [{ upstream: dialect, model: "one" }] }]),
  );
  const config = {
    version: 1,
    upstreams: Object.fromEntries(upstreams) as Json,
    models: Object.fromEntries(models) as Json,
  };
  const { url, key } = await serve(JSON.stringify(config));
  received.length = 0;
  for (const [dialect, kinds] of Object.entries(KINDS_OF)) {
    for (const endpoint of ENDPOINTS.filter((name) => kinds.includes(PLACES[name].kind))) {
      const { path, kind, body } = PLACES[endpoint];
      const model = `route/${dialect}-${kind}`;
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const isForm = endpoint === "transcription";
      const form = formSent(formOf([file(AUDIO), textPart("model", model)]), { authorization: `Bearer ${key}` });
      await send(url + path, isForm ? form : { headers, body: { ...body, model } });
    }
  }
  expect(new Set(received.map(({ path }) => path.split("/")[1]))).toEqual(new Set(Object.keys(KINDS_OF)));
  const CREDENTIALS = ["authorization", "x-api-key", "x-goog-api-key", "api-key", "xi-api-key", "x-amz-security-token"];
  const told = received.filter(({ headers }) => CREDENTIALS.some((name) => name in headers));
  expect(told.map(({ path }) => path)).toEqual([]);
});
