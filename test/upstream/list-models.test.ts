import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { CAPABILITIES, DIALECTS } from "../../src/dialects/capabilities.ts";
import { modelListOf } from "../../src/dialects/model-lists/index.ts";
import type { DialectName, ListedModel, ModelListing } from "../../src/kit/index.ts";
import { scriptedOrigin, scriptedUrl, startSimulator } from "../../src/simulator/server.ts";
import { askProvider } from "../../src/upstream/list-models.ts";
import { createUpstreams, type Upstreams } from "../../src/upstream/upstreams.ts";
import { silent, upstream } from "./support/build.ts";

interface Case {
  readonly source: string;
  readonly dialect: DialectName;
  /** Path of the base URL. */
  readonly base: string;
  readonly key: string;
  readonly pages: readonly {
    readonly path: string;
    /** Beginnings of headers; null: it is absent. */
    readonly headers: Readonly<Record<string, string | null>>;
    readonly body: unknown;
  }[];
  readonly models: readonly ListedModel[];
}

const CASES = new URL("./model-lists/", import.meta.url);

type Script = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let origin: string;
let script: Script;

beforeAll(async () => {
  server = createServer((request, response) => script(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function ask(dialect: DialectName = "openai", changes: { base?: string; key?: string } = {}): Promise<ModelListing> {
  const { base = "/v1", key = "sk-a-secret-key" } = changes;
  return askProvider({ dialect, baseUrl: `${origin}${base}`, apiKey: key }, { dialects: DIALECTS });
}

function at(baseUrl: string): Promise<ModelListing> {
  return askProvider({ dialect: "openai", baseUrl, apiKey: "" }, { dialects: DIALECTS });
}

function registry(now: () => number): Upstreams {
  return createUpstreams({ dialects: DIALECTS, now, log: silent });
}

async function reasonOf(listing: Promise<ModelListing>): Promise<string> {
  const told = await listing;
  if (told.ok) throw new Error("there is a list");
  return told.reason.replaceAll(origin.slice("http://".length), "HOST");
}

describe("formats", () => {
  const files = readdirSync(CASES);

  test.each(files)("%s", async (file) => {
    const { dialect, base, key, pages, models, source } = JSON.parse(
      readFileSync(new URL(file, CASES), "utf8"),
    ) as Case;
    expect(source).toMatch(/^https:/);
    const asked: string[] = [];
    const wrong: unknown[] = [];
    script = (request, response) => {
      const page = pages[asked.length];
      asked.push(request.url ?? "");
      for (const [name, value] of Object.entries(page?.headers ?? {})) {
        const sent = request.headers[name];
        const fits = value === null ? sent === undefined : String(sent).startsWith(value);
        if (!fits) wrong.push({ name, sent });
      }
      if (page && request.method === "GET" && request.headers["content-type"] === undefined) json(response, page.body);
      else json(response, {}, 404);
    };
    expect(await ask(dialect, { base, key })).toEqual({ ok: true, models });
    expect(asked).toEqual(pages.map(({ path }) => path));
    expect(wrong).toEqual([]);
  });

  test("every dialect has a case", () => {
    const covered = files.map((file) => (JSON.parse(readFileSync(new URL(file, CASES), "utf8")) as Case).dialect);
    // Voyage is asked as Jina is.
    expect(new Set([...covered, "voyage"])).toEqual(new Set(Object.keys(DIALECTS)));
    expect(modelListOf("voyage", { baseUrl: "" })).toBe(modelListOf("jina", { baseUrl: "" }));
  });

  test("Bedrock's lists are on the host of its control plane, in every region and partition", () => {
    const list = modelListOf("bedrock", { baseUrl: "" });
    const hosts = [
      ["bedrock-runtime.us-east-1.amazonaws.com", "bedrock.us-east-1.amazonaws.com"],
      ["bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "bedrock-fips.us-gov-west-1.amazonaws.com"],
      ["proxy.example.com:8443", "proxy.example.com:8443"],
    ] as const;
    if (typeof list === "string") throw new Error(list);
    for (const question of list.questions) {
      for (const [runtime, control] of hosts) expect(question.host?.(runtime)).toBe(control);
    }
  });

  test("Azure's address of one deployment has no list", async () => {
    expect(await reasonOf(ask("azure", { base: "/openai/deployments/d1" }))).toBe(
      "HOST has no list of models: its base_url names one deployment",
    );
  });
});

describe("the simulator", () => {
  test.each(Object.keys(DIALECTS) as DialectName[])(
    "has a list as %s gives it, with every kind that it serves",
    async (dialect) => {
      const simulator = await startSimulator();
      onTestFinished(() => simulator.close());
      const simulated = (written: string, of: DialectName) =>
        Promise.resolve((of === "openai" ? scriptedUrl : scriptedOrigin)(simulator.origin, written));
      const told = await askProvider({ dialect, baseUrl: "sim:", apiKey: "sim" }, { dialects: DIALECTS, simulated });
      const kinds = new Set(told.ok ? told.models.map(({ kind }) => kind) : [told.reason]);
      const served = CAPABILITIES[dialect].kinds;
      expect(served.filter((kind) => !kinds.has(kind))).toEqual([]);
    },
  );
});

describe("what is no list", () => {
  const answers: readonly (readonly [what: string, script: Script, reason: string])[] = [
    [
      "a refused key",
      (_, response) =>
        json(response, { error: { message: "Incorrect API key provided: sk-a-secret-key. Mend it." } }, 401),
      "HOST refused the API key (401): Incorrect API key provided: [redacted] Mend it.",
    ],
    [
      "no such path",
      (_, response) => json(response, {}, 404),
      "HOST has no list of models at /v1/models (404), write its models out",
    ],
    ["a limit", (_, response) => json(response, {}, 429), "HOST is limiting requests (429)"],
    ["an error", (_, response) => response.writeHead(503).end("<html>down</html>"), "HOST answered 503"],
    [
      "a redirect",
      (_, response) => response.writeHead(302, { location: `${origin}/elsewhere` }).end(),
      "HOST answered with a redirect (302), which is not followed: check base_url",
    ],
    [
      "a page",
      (_, response) => response.end("<html>Welcome</html>"),
      "HOST answered /v1/models with something other than a list of models",
    ],
    [
      "null",
      (_, response) => json(response, null),
      "HOST answered /v1/models with something other than a list of models",
    ],
    [
      "an object",
      (_, response) => json(response, { data: {} }),
      "HOST answered /v1/models with something other than a list of models",
    ],
    ["nothing", (_, response) => response.end(), "HOST answered /v1/models with something other than a list of models"],
    [
      "an error inside a 200",
      (_, response) => json(response, { error: { message: "no credits left" } }),
      "HOST answered /v1/models with something other than a list of models: no credits left",
    ],
    [
      "a reset",
      (request) => request.socket.destroy(),
      "HOST: upstream connection lost (connection reset): the other side closed the connection (UND_ERR_SOCKET HOST)",
    ],
    [
      "a broken compression",
      (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("not gzip"),
      "HOST: upstream sent a compressed answer that is broken: Z_DATA_ERROR HOST",
    ],
    [
      "more than 16 MiB",
      (_, response) => response.end(JSON.stringify({ data: [{ id: "m", x: "x".repeat(17 * 1024 * 1024) }] })),
      "HOST: its list of models is larger than 16 MiB",
    ],
    [
      "more than 16 MiB that came as a few kilobytes",
      (_, response) =>
        response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(20_000_000, 32))),
      "HOST: its list of models is larger than 16 MiB",
    ],
  ];

  test.each(answers)("%s", async (_, answer, reason) => {
    script = answer;
    expect(await reasonOf(ask())).toBe(reason);
  });

  test("a page that comes again and again, and pages without an end", async () => {
    script = (_, response) => json(response, { data: [{ id: "m" }], has_more: true, last_id: "m" });
    expect(await reasonOf(ask("anthropic", { base: "" }))).toBe("HOST lists the same page of models again and again");
    let page = 0;
    script = (_, response) => json(response, { data: [{ id: "m" }], has_more: true, last_id: `m${(page += 1)}` });
    expect(await reasonOf(ask("anthropic", { base: "" }))).toBe("HOST lists its models on more than 50 pages");
  });

  test("nobody listens, and an address that is none", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, "close");
    expect(await at(`http://127.0.0.1:${port}/v1`)).toEqual({
      ok: false,
      reason: `127.0.0.1:${port}: upstream could not be reached: the connection was refused (ECONNREFUSED 127.0.0.1:${port})`,
    });
    expect(await at("ollama")).toEqual({ ok: false, reason: "ollama is not an http or https URL" });
    expect(await at("sim:")).toEqual({ ok: false, reason: "sim: is not an http or https URL" });
  });

  test("a key that cannot be a header", async () => {
    script = (_, response) => json(response, { data: [] });
    expect(await reasonOf(ask("openai", { key: "sk-with\nnewline" }))).toMatch(
      /^HOST: upstream's configured headers or key/,
    );
  });
});

describe("one question", () => {
  test("takes ten seconds at most, and ends when it is given up", async () => {
    let now = Date.now();
    const upstreams = registry(() => now);
    const arrived = Promise.withResolvers<void>();
    script = () => arrived.resolve();
    const slow = upstreams.listModels(upstream(`${origin}/v1`), new AbortController().signal);
    await arrived.promise;
    now += 10_001;
    expect(await reasonOf(slow)).toBe("HOST did not list its models within 10 s");
    const second = Promise.withResolvers<void>();
    script = () => second.resolve();
    const leaving = new AbortController();
    const left = upstreams.listModels(upstream(`${origin}/v1`), leaving.signal);
    await second.promise;
    leaving.abort();
    expect(await reasonOf(left)).toBe("the question to HOST was given up");
    await upstreams.close();
  });

  test("goes on with the next key, and keeps it for the pages that follow", async () => {
    const keys: string[] = [];
    script = (request, response) => {
      const key = String(request.headers["x-api-key"]);
      keys.push(key);
      if (key === "bad") json(response, {}, 401);
      else json(response, { data: [{ id: `m${keys.length}` }], has_more: keys.length < 3, last_id: "m" });
    };
    const upstreams = registry(Date.now);
    const two = upstream(origin, { keys: ["bad", "good"], dialect: "anthropic" });
    expect(await upstreams.listModels(two, new AbortController().signal)).toMatchObject({
      ok: true,
      models: [{ id: "m2" }, { id: "m3" }],
    });
    expect(keys).toEqual(["bad", "good", "good"]);
    await upstreams.close();
  });

  test("sends the headers that are configured", async () => {
    let team: unknown;
    script = (request, response) => {
      team = request.headers["x-team"];
      json(response, { data: [] });
    };
    const upstreams = registry(Date.now);
    const own = upstream(`${origin}/v1`, { headers: { "X-Team": "gateway" } });
    expect(await upstreams.listModels(own, new AbortController().signal)).toEqual({ ok: true, models: [] });
    expect(team).toBe("gateway");
    await upstreams.close();
  });

  test("passes over entries that name nothing, and names a model once", async () => {
    const ids = ["a", "", " b", "c\u0000d", "a", 7, null, "x".repeat(257), "line\nbreak", "é/ü:1", { id: "o" }];
    script = (_, response) => json(response, { data: [...ids.map((id) => ({ id })), "text", null, []] });
    expect(await ask()).toEqual({
      ok: true,
      models: [
        { id: "a", kind: "chat" },
        { id: "é/ü:1", kind: "chat" },
      ],
    });
  });

  test("reads numbers and texts that say something, and no others", async () => {
    const nonsense = {
      context_length: -1,
      max_completion_tokens: 1.5,
      created: "soon",
      name: "\u0007",
      pricing: "free",
    };
    script = (_, response) =>
      json(response, {
        data: [
          { id: "a", ...nonsense },
          { id: "b", created: 1_700_000_000_000 },
        ],
      });
    expect(await ask()).toEqual({
      ok: true,
      models: [
        { id: "a", kind: "chat" },
        { id: "b", kind: "chat", created: 1_700_000_000 },
      ],
    });
  });
});
