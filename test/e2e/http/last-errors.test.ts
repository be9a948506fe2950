import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { ELSEWHERE, LOCALHOST } from "../../upstream/support/certificates.ts";
import { askFormat, FORMAT_NAMES } from "../support/formats.ts";
import { eventually } from "../support/http.ts";
import { TestGateway } from "../support/in-process.ts";

interface LastError {
  readonly at: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly cause: string;
  readonly message: string;
  readonly request_id: string;
  readonly recovered_at: string | null;
}

interface State {
  readonly keys: readonly { readonly last_error: LastError | null }[];
  readonly targets: Readonly<
    Record<string, { readonly last_error: LastError | null; readonly last_success_at: string | null }>
  >;
  readonly history: readonly { readonly detail: string }[];
}

const running: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of running.splice(0).toReversed()) await close();
});

const KEY = "sk-upstream-0123456789abcdef";
const HEADER = "team-secret-0123456789";

type Script = (request: IncomingMessage, response: ServerResponse) => void;

async function listen(server: ReturnType<typeof createServer | typeof createSecureServer>): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  running.push(() => (server.closeAllConnections(), server.close()));
  return (server.address() as AddressInfo).port;
}

async function provider(script: Script): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => script(request, response));
  });
  return `http://127.0.0.1:${await listen(server)}/v1`;
}

async function closedPort(): Promise<number> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

interface Running {
  readonly gateway: TestGateway;
  readonly user: Awaited<ReturnType<TestGateway["user"]>>;
  readonly lines: readonly Json[];
  readonly state: () => Promise<State>;
}

async function start(base_url: string, upstream: Json = {}): Promise<Running> {
  const lines: Json[] = [];
  const log = createLog({
    level: "info",
    pretty: false,
    destination: { write: (line) => lines.push(JSON.parse(line) as Json) },
  });
  const breaker = { consecutive: 2, minimum: 1_000, open_for: "1s" };
  const gateway = await TestGateway.start({
    log,
    config: {
      upstreams: {
        shaky: {
          dialect: "openai",
          base_url,
          api_keys: [KEY],
          headers: { "x-team-token": HEADER },
          breaker,
          ...upstream,
        },
      },
      models: {
        "route/shaky": {
          kind: "chat",
          tier: "Free",
          owned_by: "x",
          price: { input_per_million: 1, output_per_million: 1 },
          chain: [{ upstream: "shaky", model: "m" }],
        },
      },
    },
  });
  running.push(() => gateway.stop());
  const state = async (): Promise<State> =>
    (JSON.parse((await gateway.admin("/admin/upstreams")).text) as Record<string, State>)["shaky"]!;
  return { gateway, user: await gateway.user(), lines, state };
}

const lineOf = (lines: readonly Json[]): Json => lines.findLast(({ msg }) => msg === "request")!;

const secure = async (certificate: { cert: string; key: string }): Promise<string> => {
  const server = createSecureServer(certificate, (_request, response) => void response.end("{}"));
  return `https://localhost:${await listen(server)}/v1`;
};

describe("what the system told", () => {
  const CASES: readonly (readonly [code: string, place: () => Promise<string>, words: string])[] = [
    ["ECONNREFUSED", async () => `http://127.0.0.1:${await closedPort()}/v1`, "the connection was refused"],
    ["ENOTFOUND", async () => "http://no-such-host.invalid:8443/v1", "the name does not resolve"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", () => secure(LOCALHOST), "its certificate is self-signed"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", () => secure(ELSEWHERE), "its certificate is self-signed"],
  ];

  test.each(CASES)("%s is told to operators, with host and port, and to no client", async (code, place, words) => {
    const url = new URL(await place());
    const { gateway, user, lines, state } = await start(url.href.replace(/\/$/, ""));
    for (const format of FORMAT_NAMES) {
      for (const stream of [false, true]) {
        const { text, status, headers } = await askFormat(gateway, user, format, { model: "route/shaky", stream });
        expect([502, 503]).toContain(status);
        const shown = text + JSON.stringify(headers);
        for (const hidden of [code, url.hostname, `:${url.port}`, "certificate", "resolve"])
          expect(shown).not.toContain(hidden);
      }
    }
    const detail = `${words} (${code} ${url.host}`;
    const failed = lines.find(({ msg, code: of }) => msg === "request" && of === "PROVIDER_ERROR")!;
    expect(failed["failures"]).toEqual([
      { upstream: "shaky", model: "m", result: "connect", cause: expect.stringContaining(detail) },
    ]);
    const { keys, targets, history } = await state();
    const due = { status: null, code, cause: expect.stringContaining(detail), recovered_at: null };
    expect(keys[0]!.last_error).toMatchObject(due);
    expect(targets["m"]).toMatchObject({ last_error: due, last_success_at: null });
    expect(history[0]!.detail).toContain(detail);
  });

  test("a certificate for another name", async () => {
    const { explained } = await import("../../../src/upstream/send/causes.ts");
    const { AttemptError } = await import("../../../src/kit/index.ts");
    const cause = Object.assign(new Error("Hostname/IP does not match"), { code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    const error = new AttemptError("connect", "upstream could not be reached", { cause });
    expect(explained(error, { name: "alpha", host: "api.example", secure: true })).toMatchObject({
      causeCode: "ERR_TLS_CERT_ALTNAME_INVALID",
      explanation:
        "upstream could not be reached: its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID api.example:443)",
    });
  });
});

const refusing =
  (status: number, error: Json): Script =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));

describe("what the provider told", () => {
  test.each<[number, string]>([
    [401, "invalid_api_key"],
    [402, "insufficient_credits"],
    [403, "permission_denied"],
    [404, "model_not_found"],
    [429, "rate_limit_exceeded"],
  ])("%i with %s: the code and the words, without keys, secrets and addresses", async (status, code) => {
    const message = `Incorrect API key provided: ${KEY}, ${HEADER}, see https://internal.example/?key=${KEY} for org-acme`;
    const url = await provider(refusing(status, { code, message }));
    const { gateway, user, lines, state } = await start(url);
    const answer = await gateway.chat(user, { model: "route/shaky" }, { headers: { "x-request-id": "the-first" } });
    const { keys, targets } = await state();
    const { last_error } = keys[0]!;
    expect(last_error).toMatchObject({ status, code, request_id: "the-first", recovered_at: null });
    expect(last_error!.message).toContain("Incorrect API key provided");
    expect(targets["m"]).toEqual({ last_error, last_success_at: null });
    expect(lineOf(lines)["failures"]).toEqual([
      { upstream: "shaky", model: "m", result: expect.any(String), status, cause: code },
    ]);
    const everything = JSON.stringify([await state(), lines, answer.text, answer.headers]);
    for (const secret of [KEY, HEADER, "internal.example"]) expect(everything).not.toContain(secret);
    expect(answer.text).not.toContain(code);
  });

  test("a status without words", async () => {
    const { gateway, user, state } = await start(
      await provider((_request, response) => void response.writeHead(503).end()),
    );
    await gateway.chat(user, { model: "route/shaky" });
    expect((await state()).targets["m"]!.last_error).toMatchObject({
      status: 503,
      code: null,
      cause: "upstream answered 503",
      message: "upstream answered 503",
    });
  });

  test("a stream that breaks off", async () => {
    const url = await provider((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const choice = { index: 0, delta: { content: "Hel" }, finish_reason: null };
      response.write(`data: ${JSON.stringify({ choices: [choice] })}\n\n`, () => response.destroy());
    });
    const { gateway, user, state } = await start(url);
    await gateway.chat(user, { model: "route/shaky", stream: true });
    await eventually(async () => (await state()).targets["m"]?.last_error !== null);
    expect((await state()).targets["m"]).toMatchObject({ last_error: { status: null, recovered_at: null } });
  });
});

describe("afterwards", () => {
  test("the error stays, with the time of the first success", async () => {
    let status = 401;
    const url = await provider((_request, response) => {
      const choice = { index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" };
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(status === 200 ? { choices: [choice] } : { error: { code: "invalid_api_key" } }));
    });
    const { gateway, user, state } = await start(url);
    await gateway.chat(user, { model: "route/shaky" });
    const failed = (await state()).keys[0]!.last_error!;
    status = 200;
    gateway.clock.advance(1_000);
    expect((await gateway.chat(user, { model: "route/shaky" })).status).toBe(200);
    const recovered = await state();
    const { recovered_at, ...same } = recovered.keys[0]!.last_error!;
    expect({ ...same, recovered_at: null }).toEqual(failed);
    expect(Date.parse(recovered_at!)).toBeGreaterThan(Date.parse(failed.at));
    expect(recovered.targets["m"]).toEqual({ last_error: { ...same, recovered_at }, last_success_at: recovered_at });
    gateway.clock.advance(1_000);
    await gateway.chat(user, { model: "route/shaky" });
    const later = await state();
    expect(later.keys[0]!.last_error!.recovered_at).toBe(recovered_at);
    expect(Date.parse(later.targets["m"]!.last_success_at!)).toBeGreaterThan(Date.parse(recovered_at!));
  });

  test("each key and each model has its own; a reload keeps those that are still there", async () => {
    const url = await provider((request, response) => {
      const isBad = request.headers.authorization === `Bearer ${KEY}`;
      const choice = { index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" };
      response.writeHead(isBad ? 429 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(isBad ? { error: { code: "slow_down" } } : { choices: [choice] }));
    });
    const { gateway, user, state } = await start(url, { api_keys: [KEY, "another-key"] });
    expect((await gateway.chat(user, { model: "route/shaky" })).status).toBe(200);
    const { keys } = await state();
    expect(keys.map(({ last_error }) => last_error?.code ?? null)).toEqual(["slow_down", null]);
    await gateway.reload({ upstreams: { shaky: { api_keys: ["another-key", KEY] } } });
    expect((await state()).keys.map(({ last_error }) => last_error?.code ?? null)).toEqual([null, "slow_down"]);
  });

  test("what the client did wrong is no error of a key", async () => {
    const { gateway, user, state } = await start(await provider(refusing(400, { code: "bad", message: "no" })));
    await gateway.chat(user, { model: "route/shaky" });
    const { keys, targets } = await state();
    expect([keys[0]!.last_error, targets]).toEqual([null, {}]);
  });
});
