import { describe, expect, it } from "vitest";
import { openai } from "../../../src/dialects/chat/index.ts";
import type { AnswerCodec, UpstreamDialect } from "../../../src/dialects/dialect.ts";
import { gemini } from "../../../src/dialects/gemini/index.ts";
import { call, exchange, failure, target } from "../support/build.ts";
import { bytewise, SPEECH } from "../support/codecs.ts";
import { answer, type RawRequest, response } from "../support/raw-upstream.ts";
import { closedAfterEach, serveRaw } from "../support/serve.ts";

const open = closedAfterEach();

const well = ({ socket }: RawRequest): void => void socket.write(answer("well"));
const serve = (dialect: UpstreamDialect) => serveRaw(open, well, dialect);

const chatOnly: UpstreamDialect = { ...openai, codecs: { chat: openai.codecs.chat! } };

describe("a call that the dialect has no words for", () => {
  it.each([
    ["a kind it does not serve", chatOnly, SPEECH, "for speech models"],
    ["a stream of bytes", bytewise, { ...SPEECH, stream: true }, "for streams of speech models"],
    [
      "a stream of a kind without events",
      bytewise,
      call({ kind: "transcription", stream: true }),
      "for streams of transcription models",
    ],
  ])("%s fails over, and nothing is sent", async (_name, dialect, asked, words) => {
    const { server, leased } = await serve(dialect);
    const error = await failure(leased.set.send(target(), asked, exchange()));
    expect(error).toMatchObject({ failure: "protocol", message: expect.stringContaining(words) });
    expect(error.message).toContain('this gateway does not speak the dialect "openai"');
    expect(server.connections).toBe(0);
    expect(leased.set.health("alpha")).toEqual({ state: "unknown", latencyMs: 0, canServe: true });
  });
});

it("each kind goes its own way", async () => {
  const { server, leased } = await serve(bytewise);
  await leased.set.send(target(), call(), exchange());
  expect(await failure(leased.set.send(target(), SPEECH, exchange()))).toMatchObject({ failure: "protocol" });
  expect(server.requests.map(({ head }) => head.split(" ", 2).join(" "))).toEqual([
    "POST /v1/chat/completions",
    "POST /v1/audio/speech",
  ]);
});

const chat = openai.codecs.chat as AnswerCodec;

/** Leaves `/top_k` behind. */
const narrow: UpstreamDialect = {
  ...openai,
  codecs: { chat: { ...chat, request: (...given) => ({ ...chat.request(...given), dropped: ["/top_k"] }) } },
};

it("what the dialect leaves behind comes with the reply", async () => {
  const { leased } = await serve(narrow);
  expect(await leased.set.send(target(), call(), exchange())).toMatchObject({ type: "answer", dropped: ["/top_k"] });
  const plain = await serve(openai);
  expect(await plain.leased.set.send(target(), call(), exchange())).not.toHaveProperty("dropped");
});

it("a strict model's call that would lose something is not sent, and is no mark against the upstream", async () => {
  const { server, leased } = await serve(narrow);
  const given = exchange();
  const strict = { ...given, model: { ...given.model, strict: true } };
  const error = await failure(leased.set.send(target(), call(), strict));
  expect(error).toMatchObject({ failure: "unsupported", message: "/top_k cannot be expressed for this model" });
  expect(server.connections).toBe(0);
  expect(leased.set.health("alpha")).toEqual({ state: "unknown", latencyMs: 0, canServe: true });
  const permit = leased.set.breaker("alpha").acquire();
  permit?.end({ ok: false, error });
  expect(leased.set.breaker("alpha").state).toBe("closed");
});

async function refused(status: number, error: object) {
  const body = response(status, { "content-type": "application/json" }, JSON.stringify({ error }));
  const { leased } = await serveRaw(open, ({ socket }) => socket.write(body), gemini);
  return failure(leased.set.send(target(), call(), exchange()));
}

const info = (type: string, more: object) => ({ "@type": `type.googleapis.com/google.rpc.${type}`, ...more });

it("a 429 that says in its body how long to wait is believed", async () => {
  const details = [info("RetryInfo", { retryDelay: "34.4s" })];
  expect(await refused(429, { code: 429, message: "quota", details })).toMatchObject({
    failure: "rate_limited",
    status: 429,
    retryAfter: 34_400,
    message: "upstream limits the gateway's rate (429)",
  });
});

it("a 429 that says nothing is one all the same", async () => {
  expect(await refused(429, { message: "quota" })).toMatchObject({
    failure: "rate_limited",
    retryAfter: null,
  });
});

it("a 400 about the key is not the client's fault, and says nothing of the key", async () => {
  const details = [info("ErrorInfo", { reason: "API_KEY_INVALID" })];
  expect(await refused(400, { code: 400, message: "API key AIza not valid", details })).toMatchObject({
    failure: "credentials",
    message: "upstream refused the gateway's credentials (400)",
  });
});

it("any other 400 is", async () => {
  expect(await refused(400, { code: 400, message: "temperature is too high" })).toMatchObject({
    failure: "client_fault",
    message: "temperature is too high",
  });
});
