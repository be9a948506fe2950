import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Explanation } from "#schema";
import type { Json } from "../../../src/kit/index.ts";
import {
  ADDRESS_FIELDS,
  type Field,
  ID_FIELDS,
  NOT_PUBLIC,
  ORDINARY,
  PUBLIC,
} from "../../dialects/references/cases.ts";
import { FORMAT_NAMES, type FormatName } from "../support/formats.ts";
import type { Answer } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { askKind, type KindEndpoint } from "../support/kinds.ts";

/* What clients may name, in every format, at every dialect, in every field: what an upstream got is what counts. */

/** Every dialect that serves conversations; two kinds of servers of OpenAI's, at both of its endpoints. */
const UPSTREAMS: Readonly<Record<string, Json>> = {
  generic: { dialect: "openai" },
  openai: { dialect: "openai", vendor: "openai", model: "gpt-4o" },
  responses: { dialect: "openai", vendor: "openai", api: "responses", model: "gpt-5" },
  azure: { dialect: "azure", model: "gpt-4o" },
  anthropic: { dialect: "anthropic", model: "claude-sonnet-4-5" },
  gemini: { dialect: "gemini", model: "gemini-2.5-flash" },
  bedrock: { dialect: "bedrock", model: "amazon.nova-pro-v1:0" },
  cohere: { dialect: "cohere", model: "command-a-03-2025" },
};
const GEMINI = "https://generativelanguage.googleapis.com/v1beta/files/";
const LISTED = ["s3://my-bucket/pub/*", "file-mine*", "http://files.internal/*", `${GEMINI}mine*`];

let upstream: Server;
let gateway: TestGateway;
let user: TestUser;
const got: { readonly url: string; readonly body: string }[] = [];

beforeAll(async () => {
  upstream = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      got.push({ url: req.url ?? "", body: Buffer.concat(parts).toString() });
      const isChat = req.url?.startsWith("/good") === true;
      const choices = [{ index: 0, message: { role: "assistant", content: "yes" }, finish_reason: "stop" }];
      res.writeHead(isChat ? 200 : 500, { "content-type": "application/json" });
      res.end(isChat ? JSON.stringify({ choices, usage: { prompt_tokens: 1, completion_tokens: 1 } }) : "{}");
    });
  });
  await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const upstreams: Record<string, Json> = {};
  const models: Record<string, Json> = {};
  const chat = { kind: "chat", tier: "Free", owned_by: "x", price: { input_per_million: 1, output_per_million: 2 } };
  const upstreamAt = (path: string, settings: Json): Json => ({
    base_url: origin + path,
    api_keys: ["k:k"],
    ...settings,
  });
  for (const [name, { model = "m", ...settings }] of Object.entries(UPSTREAMS)) {
    upstreams[name] = upstreamAt("", settings);
    upstreams[`${name}-listed`] = upstreamAt("", { ...settings, accepts: { references: LISTED } });
    models[`route/${name}`] = { ...chat, chain: [{ upstream: name, model }] };
    models[`route/${name}-listed`] = { ...chat, chain: [{ upstream: `${name}-listed`, model }] };
  }
  upstreams["good"] = upstreamAt("/good", { dialect: "openai", accepts: { references: LISTED } });
  const [own, listed] = ["generic", "good"].map((upstream) => ({ upstream, model: "m" }));
  models["route/chain"] = { ...chat, chain: [own, { balance: "weighted", targets: [own, listed] }, own] };
  models["route/none"] = { ...chat, chain: [own, { balance: "latency", targets: [own, { ...own, model: "n" }] }] };
  for (const [id, kind, price] of KINDS) {
    const chain = [{ upstream: "generic-listed", model: "m" }];
    models[id] = { kind, tier: "Free", owned_by: "x", price, chain };
  }
  const breaker = { consecutive: 1_000, minimum: 10_000 };
  gateway = await TestGateway.start({ config: { upstreams, models, defaults: { upstream: { breaker } } } });
});
beforeEach(async () => {
  got.length = 0;
  user = await gateway.user();
});
afterAll(async () => {
  await gateway.close();
  await new Promise((done) => upstream.close(done));
});

const KINDS = [
  ["route/embed", "embedding", { input_per_million: 1 }],
  ["route/rank", "rerank", { input_per_million: 1 }],
  ["route/voice", "speech", { per_million_characters: 1 }],
  ["route/listen", "transcription", { per_second: 0.001 }],
  ["route/paint", "image", { per_image: 0.04 }],
] as const;

const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" };
const WHOLE: Readonly<Record<FormatName, Json>> = {
  chat: { messages: [{ role: "user", content: "Hello" }] },
  messages: { max_tokens: 50, messages: [{ role: "user", content: "Hello" }] },
  responses: { input: [{ role: "user", content: "Hello" }] },
};

/** @param path another one that takes the same body. */
function ask(format: FormatName, model: string, body: Json, path: string = PATHS[format]): Promise<Answer> {
  const headers = { authorization: `Bearer ${user.key}`, "content-type": "application/json" };
  return gateway.send(path, { headers, body: { model, ...WHOLE[format], ...body } });
}

const FIELDS = (format: FormatName, fields: Readonly<Record<FormatName, readonly Field[]>>) =>
  fields[format].map((field) => [field.at.replaceAll("~1", "/"), field] as const);

describe.each(FORMAT_NAMES)("%s clients", (format) => {
  test("no dialect is sent an address of another scheme, a private host or an id, in whatever field", async () => {
    const wrong: string[] = [];
    const cases = [
      ...FIELDS(format, ADDRESS_FIELDS).flatMap(([at, field]) =>
        ["s3://my-bucket/pub/a.png", "http://169.254.169.254/latest/meta-data/"].map(
          (value) => [at, field, value] as const,
        ),
      ),
      ...FIELDS(format, ID_FIELDS).map(([at, field]) => [at, field, "file-mine1"] as const),
    ];
    for (const upstream of Object.keys(UPSTREAMS)) {
      for (const [at, field, value] of cases) {
        const { status, text, headers } = await ask(format, `route/${upstream}`, field.body(value));
        const isTold =
          text.startsWith(`Invalid request: ${field.at} `) && headers["x-error-code"] === "INVALID_REQUEST";
        if (status !== 400 || !isTold) wrong.push(`${upstream} ${at} ${value}: ${status} ${text}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(got).toEqual([]);
    // Refused before anything is counted.
    expect((await gateway.books(user)).ledger).toEqual([]);
  });

  // In every field by test/dialects/references/find.test.ts, in every notation by address.test.ts beside it.
  test("every form of what is not public is refused", async () => {
    const wrong: string[] = [];
    for (const [at, field] of FIELDS(format, ADDRESS_FIELDS).slice(0, 3)) {
      for (const value of NOT_PUBLIC) {
        const { status, text } = await ask(format, "route/generic", field.body(value));
        if (status !== 400 || !text.startsWith(`Invalid request: ${field.at} `)) wrong.push(`${at} ${value}: ${text}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(got).toEqual([]);
  });

  test("public addresses and data: URLs go on, and ordinary text may say anything", async () => {
    const wrong: string[] = [];
    for (const [at, field] of FIELDS(format, ADDRESS_FIELDS)) {
      for (const value of PUBLIC) {
        const { status, text } = await ask(format, "route/generic", field.body(value));
        if (text.includes(field.at)) wrong.push(`${at} ${value}: ${status} ${text}`);
      }
    }
    for (const body of ORDINARY[format]) {
      const { status, text } = await ask(format, "route/generic", body);
      if (status === 400) wrong.push(`${JSON.stringify(body).slice(0, 200)}: ${text}`);
    }
    expect(wrong).toEqual([]);
  });

  test("what an upstream's accepts.references lists is sent to it, and nothing else is", async () => {
    const field = ADDRESS_FIELDS[format][0]!;
    for (const upstream of Object.keys(UPSTREAMS)) {
      const model = `route/${upstream}-listed`;
      const listed = await ask(format, model, field.body("s3://my-bucket/pub/a@b.png"));
      expect([upstream, listed.text]).toEqual([upstream, expect.not.stringContaining(field.at)]);
      for (const value of [
        "s3://other-bucket/a.png",
        "s3://my-bucket@evil/pub/a.png",
        "s3://my-bucket/pub/../other-bucket/a",
      ]) {
        const { status, text } = await ask(format, model, field.body(value));
        expect([upstream, status, text]).toEqual([upstream, 400, expect.stringContaining(field.at)]);
      }
    }
    // Those that have a place for an address of any kind were sent it.
    const sent = got.filter(({ body }) => body.includes("s3://my-bucket/pub/a@b.png"));
    expect(sent.length).toBeGreaterThanOrEqual(6);
    expect(got.some(({ body }) => /other-bucket|evil/.test(body))).toBe(false);
  });

  test("in a chain the targets that do not list it are passed over", async () => {
    const field = ADDRESS_FIELDS[format][0]!;
    const served = await ask(format, "route/chain", field.body("s3://my-bucket/pub/a.png"));
    expect([served.status, got.map(({ url }) => url)]).toEqual([200, ["/good/chat/completions"]]);
    const refused = await ask(format, "route/none", field.body("s3://my-bucket/pub/a.png"));
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(`${field.at} is an address`)]);
    expect(got).toHaveLength(1);
  });
});

/** What `explain` says to the first field of a chat: the status, and each target. */
async function explained(model: string): Promise<unknown> {
  const { at, body } = ADDRESS_FIELDS.chat[0]!;
  const question = { model, tier: "Max", body: body("s3://my-bucket/pub/a.png") };
  const headers = { "content-type": "application/json" };
  const { text } = await gateway.admin("/admin/explain", { method: "POST", headers, body: question });
  const { answer, chain } = JSON.parse(text) as Explanation;
  const targets = chain.flatMap((step) => step.targets.map(({ decision, reason }) => `${decision}: ${reason}`));
  return [answer.status, targets.map((target) => target.replace(at, "AT"))];
}

test("explain says which targets are passed over, and why a request would be refused", async () => {
  const passedOver = "not tried: its accepts.references does not list AT";
  const [status, targets] = (await explained("route/chain")) as [number, string[]];
  expect([status, targets.toSorted()]).toEqual([200, [passedOver, passedOver, passedOver, "served: "]]);
  expect(await explained("route/none")).toEqual([
    400,
    Array.from({ length: 3 }, () => "not tried: the request was refused before"),
  ]);
});

test("a listed id is sent on as it is", async () => {
  const [part] = ID_FIELDS.chat;
  await ask("chat", "route/generic-listed", part!.body("file-mine1"));
  await ask("messages", "route/anthropic-listed", ID_FIELDS.messages[0]!.body("file-mine1"));
  await ask("responses", "route/responses-listed", ID_FIELDS.responses[0]!.body("file-mine1"));
  expect(got.map(({ body }) => body.includes("file-mine1"))).toEqual([true, true, true]);
  const { status } = await ask("chat", "route/generic-listed", part!.body("file-other"));
  expect([status, got.length]).toEqual([400, 3]);
});

const count = (model: string, body: Json): Promise<Answer> =>
  ask("messages", model, { ...body, max_tokens: undefined }, "/v1/messages/count_tokens");

const image = (url: string): Json => ({ type: "image_url", image_url: { url } });

test("texts that are too long to be decoded are looked at, too", async () => {
  const long = "A".repeat(20_000);
  for (const [content, at] of [
    [[image(`s3://b/${long}`)], "/messages/0/content/0/image_url/url"],
    [[image(`data:image/png;base64,${long}`), image(`http://10.0.0.1/${long}`)], "/messages/0/content/1/image_url/url"],
    [[{ type: "file", file: { file_data: `file-${long}` } }], "/messages/0/content/0/file/file_data"],
    [`fileid://file-a,${long}`, "/messages/0/content"],
    [[image(`data:image/png;base64,${long}`), { type: "text", text: `s3://b is what? ${long}` }], null],
  ] as const) {
    const { status, text } = await ask("chat", "route/generic", { messages: [{ role: "user", content }] });
    expect([at, status, text]).toEqual([at, at === null ? 502 : 400, expect.stringContaining(at ?? "")]);
  }
  expect(got).toHaveLength(1);
});

test("listed files of Gemini and private hosts are sent on, each where it is listed", async () => {
  const [field] = ADDRESS_FIELDS.chat;
  for (const [upstream, value] of [
    ["gemini", `${GEMINI}mine-1`],
    ["openai", "http://files.internal/a.png"],
    ["bedrock", "s3://my-bucket/pub/a.png"],
  ] as const) {
    await ask("chat", `route/${upstream}-listed`, field!.body(value));
    expect([upstream, got.pop()?.body]).toEqual([upstream, expect.stringContaining(value)]);
  }
  const others = [`${GEMINI}other`, "http://files.internal:8080/a.png", "http://user@files.internal/a.png"];
  for (const value of [...others, "http://files.internal\\@evil/a.png"]) {
    const { status } = await ask("chat", "route/gemini-listed", field!.body(value));
    expect([value, status]).toEqual([value, 400]);
  }
  expect(got).toEqual([]);
});

test("errors are told as each format's clients read them, streamed or whole", async () => {
  const { body } = ADDRESS_FIELDS.chat[0]!;
  const asked = { model: "route/generic", ...WHOLE.chat, ...body("s3://b/a.png"), stream: true };
  const json = { authorization: `Bearer ${user.key}`, "content-type": "application/json", accept: "application/json" };
  const chat = await gateway.send(PATHS.chat, { headers: json, body: asked });
  expect([chat.status, JSON.parse(chat.text)]).toMatchObject([
    400,
    { error: { type: "invalid_request_error", param: "messages[0].content[1].image_url.url" } },
  ]);
  const headers = { ...json, "anthropic-version": "2023-06-01" };
  const made = { model: "route/generic", ...WHOLE.messages, ...ADDRESS_FIELDS.messages[0]!.body("s3://b/a.png") };
  const messages = await gateway.send(PATHS.messages, { headers, body: { ...made, stream: true } });
  expect([messages.status, JSON.parse(messages.text)]).toMatchObject([
    400,
    { error: { type: "invalid_request_error" } },
  ]);
});

test("a target that takes it, and is left alone, is waited for", async () => {
  const { body } = ADDRESS_FIELDS.chat[0]!;
  const setting = { mode: "open", expires_in_seconds: 60, reason: "a test" };
  const headers = { "content-type": "application/json" };
  await gateway.admin("/admin/upstreams/good/manual", { method: "POST", headers, body: setting });
  const { status, text } = await ask("chat", "route/chain", body("s3://my-bucket/pub/a.png"));
  expect([status, text, got]).toEqual([503, expect.stringContaining("Circuit breaker open"), []]);
  await gateway.admin("/admin/upstreams/good/manual", { method: "DELETE" });
});

test("counting tokens refuses what the model's upstreams would not be sent", async () => {
  const wrong: string[] = [];
  for (const { at, body } of [...ADDRESS_FIELDS.messages, ...ID_FIELDS.messages]) {
    const { status, text } = await count("route/anthropic", body("s3://my-bucket/pub/a.png"));
    if (status !== 400 || !text.includes(`${at} `)) wrong.push(`${at}: ${status} ${text}`);
  }
  expect(wrong).toEqual([]);
  const listed = await count("route/chain", ADDRESS_FIELDS.messages[0]!.body("s3://my-bucket/pub/a.png"));
  expect([listed.status, got]).toEqual([200, []]);
});

/** A field that some provider of the kind reads. */
const OF_KINDS: readonly (readonly [KindEndpoint, model: string, field: string, value: (value: string) => unknown])[] =
  [
    ["embeddings", "route/embed", "/image_url", (value) => value],
    ["embeddings", "route/embed", "/images/0", (value) => [value]],
    ["rerank", "route/rank", "/documents/0/image", (value) => [{ text: "a", image: value }]],
    ["rerank", "route/rank", "/query_image", (value) => value],
    ["speech", "route/voice", "/voice", (value) => value],
    ["speech", "route/voice", "/ref_audio", (value) => value],
    ["transcription", "route/listen", "/cloud_storage_url", (value) => value],
    ["transcription", "route/listen", "/known_speaker_references[]/0", (value) => [value]],
    ["image", "route/paint", "/image", (value) => value],
    ["image", "route/paint", "/images/0/image_url", (value) => [{ image_url: value }]],
    ["image", "route/paint", "/loras/0/path", (value) => [{ path: value }]],
  ];

test("in kinds that are no conversation a field is refused even where it is listed", async () => {
  const wrong: string[] = [];
  for (const [endpoint, model, at, field] of OF_KINDS) {
    const name = at.split("/")[1]!.replace("[]", "");
    for (const value of ["s3://my-bucket/pub/a.png", "http://files.internal/a.png", "http://127.1/"]) {
      const { status, text } = await askKind(gateway, user, endpoint, { model, [name]: field(value) });
      if (status !== 400 || !text.includes(`${at} `)) wrong.push(`${endpoint} ${at} ${value}: ${status} ${text}`);
    }
  }
  for (const endpoint of ["embeddings", "rerank", "speech", "transcription", "image"] as const) {
    const model = OF_KINDS.find(([one]) => one === endpoint)![1];
    const { status, text } = await askKind(gateway, user, endpoint, { model, file_id: "file-mine1" });
    if (status !== 400 || !text.includes("/file_id ")) wrong.push(`${endpoint} /file_id: ${status} ${text}`);
  }
  expect(wrong).toEqual([]);
  expect(got).toEqual([]);
});

test("a plugin that takes a request over, or changes it, does not get a reference past an upstream", async () => {
  const relay = `export default { name: "own-relay", stage: "relay", schema: new URL("none.schema.json", import.meta.url),
    setup: () => ({ relay: (exchange, open) => open(exchange.model.chain[0].targets[0]) }) };`;
  const own = await TestGateway.start({
    files: {
      "own-relay.ts": relay,
      "none.schema.json": JSON.stringify({ type: "object", additionalProperties: false }),
    },
    chains: { "route/two": ["-", "-"] },
    config: (origin) => ({
      upstreams: {
        listing: { dialect: "openai", base_url: `${origin}/v1`, api_keys: ["k"], accepts: { references: LISTED } },
      },
      models: {
        "route/own": {
          kind: "chat",
          tier: "Free",
          owned_by: "x",
          price: { input_per_million: 1, output_per_million: 2 },
          chain: [
            { upstream: "two-1", model: "m" },
            { upstream: "listing", model: "m" },
          ],
        },
      },
      pipeline: ["auth", "plan-check", "quota", "breaker", "./own-relay.ts", "meter"],
    }),
  });
  try {
    const caller = await own.user();
    const body = { model: "route/own", ...ADDRESS_FIELDS.chat[0]!.body("s3://my-bucket/pub/a.png") };
    const { status } = await own.chat(caller, body);
    expect([status >= 400, own.simulator.ledger()]).toEqual([true, []]);
  } finally {
    await own.close();
  }
});
