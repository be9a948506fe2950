import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJson, type Json } from "../../../../src/kit/index.ts";
import { askFormat, eventsOf, FORMAT_NAMES, type FormatName, streamedText } from "../../support/formats.ts";
import type { Answer } from "../../support/http.ts";
import { type Provider, PROVIDERS, STREAMS, type Words, WORDS } from "./providers.ts";
import { ErrorStage, refuses, streams } from "./stage.ts";

type Situation = keyof Words;

const SITUATIONS = ["limited", "overloaded", "tooLong", "tooMuch", "locked"] as const;
const WAYS = ["text", "json", "versioned"] as const;
type Way = (typeof WAYS)[number];

/** One request, at an upstream that nothing else has asked: what it answers rests its key. */
interface Cell {
  readonly provider: Provider;
  readonly situation: Situation;
  readonly format: FormatName;
  readonly stream: boolean;
  readonly way: Way;
  readonly name: string;
}

const CELLS: readonly Cell[] = PROVIDERS.flatMap((provider) =>
  SITUATIONS.flatMap((situation) =>
    FORMAT_NAMES.flatMap((format) =>
      [false, true].flatMap((stream) =>
        WAYS.filter((way) => way !== "versioned" || format === "messages").map((way): Cell => {
          const name = [provider, situation, format, stream ? "stream" : "whole", way].join("-").toLowerCase();
          return { provider, situation, format, stream, way, name };
        }),
      ),
    ),
  ),
);

const HEADERS: Readonly<Record<Way, Readonly<Record<string, string>>>> = {
  text: {},
  json: { accept: "application/json" },
  versioned: { "anthropic-version": "2023-06-01" },
};

/** The wait that is told, in seconds; null: no retry can help. Bedrock says of no wait how long it is. */
function waitOf({ provider, situation }: Cell): string | null {
  if (situation === "locked") return null;
  return situation === "limited" && provider !== "bedrock" ? "10" : "1";
}

const CODES: Readonly<Record<Situation, string>> = {
  limited: "rate_limit_exceeded",
  overloaded: "server_is_overloaded",
  tooLong: "context_length_exceeded",
  tooMuch: "invalid_request",
  locked: "provider_error",
};
const TYPES: Readonly<Record<Situation, string>> = {
  limited: "rate_limit_error",
  overloaded: "overloaded_error",
  tooLong: "invalid_request_error",
  tooMuch: "invalid_request_error",
  locked: "api_error",
};

const LIMITS: Readonly<Record<FormatName, string>> = {
  chat: "max_tokens",
  messages: "max_tokens",
  responses: "max_output_tokens",
};

let stage: ErrorStage;
beforeAll(async () => {
  const chains = CELLS.map(({ name, provider, situation }) => {
    return [name, [{ provider, plays: refuses(WORDS[provider][situation]) }]] as const;
  });
  stage = await ErrorStage.start(Object.fromEntries(chains));
});
afterAll(() => stage.close());

function ask({ name, format, stream, way }: Cell): Promise<Answer> {
  const changes = { model: `route/${name}`, [LIMITS[format]]: 32_000, ...(stream && { stream }) };
  return askFormat(stage.gateway, stage.user, format, changes, { headers: HEADERS[way] });
}

describe.each(PROVIDERS)("%s refuses", (provider) => {
  test.each(CELLS.filter((cell) => cell.provider === provider).map((cell) => [cell.name, cell] as const))(
    "%s",
    async (_, cell) => {
      const { situation, way } = cell;
      const isClients = situation === "tooLong" || situation === "tooMuch";
      const before = await stage.gateway.books(stage.user);
      const answer = await ask(cell);
      expect(answer).toMatchObject({ status: isClients ? 400 : 502 });
      expect(answer.headers["x-error-code"]).toBe(isClients ? "INVALID_REQUEST" : "PROVIDER_ERROR");
      const wait = isClients ? undefined : (waitOf(cell) ?? undefined);
      expect(answer.headers["retry-after"]).toBe(wait);
      expect(answer.headers["x-should-retry"]).toBe(situation === "locked" ? "false" : undefined);
      const { message, ...form } = formOf(answer);
      expect(form).toEqual(expectedForm(cell));
      expect(message).toContain(isClients ? wordsOf(cell) : "Every upstream failed: ");
      expect(message).toMatch(way === "versioned" && situation === "tooLong" ? /prompt is too long/i : /./);
      expect(answer.text).not.toMatch(/upstream-key|upst\*|AKIDEX|secret-of/);
      const after = await stage.gateway.books(stage.user);
      expect(after.balance).toBe(before.balance);
    },
  );
});

/** The provider's own words, as far as they are one line without its account. */
function wordsOf({ provider, situation }: Cell): string {
  const { body } = WORDS[provider][situation];
  const error = isJson(body["error"]) ? body["error"] : body;
  return String(error["message"]).slice(0, 60);
}

/** An error, taken apart. */
interface Form {
  readonly contentType: string | undefined;
  readonly type?: unknown;
  readonly code?: unknown;
}

function formOf({ text, headers }: Answer): Form & { readonly message: string } {
  const contentType = headers["content-type"];
  if (contentType !== "application/json") return { contentType, message: text };
  const { error } = JSON.parse(text) as { error: Json };
  const { type, code, message } = error;
  return { contentType, type, ...("code" in error && { code }), message: String(message) };
}

/** Cohere's errors have no codes: ours stands in for one. */
function expectedForm({ situation, way, provider }: Cell): Form {
  if (way === "text") return { contentType: "text/plain; charset=utf-8" };
  const form = { contentType: "application/json", type: TYPES[situation] };
  const isBusy = situation === "limited" || situation === "overloaded";
  const hasNone = provider === "cohere";
  return way === "json" ? { ...form, code: isBusy && hasNone ? "provider_error" : CODES[situation] } : form;
}

const BREAKS = ["overloaded", "limited", "reset", "end"] as const;
const MIDWAY = PROVIDERS.flatMap((provider) =>
  BREAKS.flatMap((how) => {
    const isKnown = how === "reset" || how === "end" || STREAMS[provider][how] !== null;
    return isKnown
      ? FORMAT_NAMES.map((format) => ({ provider, how, format, name: `${provider}-${how}-${format}` }))
      : [];
  }),
);

/** The last event of a stream that breaks off so. */
function lastOf(format: FormatName, how: (typeof BREAKS)[number]): Json {
  const kind = how === "overloaded" || how === "limited" ? how : null;
  const message = expect.stringMatching(/./) as string;
  if (format === "chat") return { error: { type: "api_error", message, ...(kind && { code: CODES[kind] }) } };
  if (format === "messages")
    return { type: "error", error: { type: kind === null ? "api_error" : TYPES[kind], message } };
  const code = kind === null ? "server_error" : CODES[kind];
  return { type: "response.failed", response: { status: "failed", error: { code, message } } };
}

describe("a stream that breaks off", () => {
  let broken: ErrorStage;
  beforeAll(async () => {
    const chains = MIDWAY.map(({ name, provider, how }) => {
      const { type, begin } = STREAMS[provider];
      const error = how === "overloaded" || how === "limited" ? STREAMS[provider][how]! : null;
      const plays = streams(type, error === null ? begin : [...begin, error], (res) => {
        if (how === "reset") res.socket?.resetAndDestroy();
        else res.end();
      });
      return [name, [{ provider, plays }]] as const;
    });
    broken = await ErrorStage.start(Object.fromEntries(chains));
  });
  afterAll(() => broken.close());

  test.each(MIDWAY.map((one) => [one.name, one] as const))("%s", async (_, { name, how, format }) => {
    const answer = await askFormat(broken.gateway, broken.user, format, { model: `route/${name}`, stream: true });
    expect(answer.status).toBe(200);
    expect(streamedText(format, answer.text)).toBe("Hi");
    expect(eventsOf(answer.text).at(-1)).toMatchObject(lastOf(format, how));
    expect(answer.text).toMatch(format === "chat" ? /\n\ndata: \[DONE\]\n\n$/ : /event: error\n/);
    await broken.gateway.audit();
    const { ledger } = await broken.gateway.books(broken.user);
    expect(ledger.at(0)).toMatchObject({ outcome: "upstream_cut" });
  });
});

const ENDS = ["reset", "end"] as const;
const WHOLE = PROVIDERS.flatMap((provider) =>
  ENDS.flatMap((how) =>
    FORMAT_NAMES.map((format) => ({ provider, how, format, name: `${provider}-${how}-${format}` })),
  ),
);

describe("a stream that breaks off behind its finish reason is whole", () => {
  let finished: ErrorStage;
  beforeAll(async () => {
    const chains = WHOLE.map(({ name, provider, how }) => {
      const { type, begin, finish } = STREAMS[provider];
      const plays = streams(type, [...begin, ...finish], (res) => {
        if (how === "end") res.end();
        // The gateway must have read what came before: a reset takes it away.
        else setTimeout(() => res.socket?.resetAndDestroy(), 100);
      });
      return [name, [{ provider, plays }]] as const;
    });
    finished = await ErrorStage.start(Object.fromEntries(chains));
  });
  afterAll(() => finished.close());

  test.each(WHOLE.map((one) => [one.name, one] as const))("%s", async (_, { name, format }) => {
    const { gateway, user } = finished;
    const answer = await askFormat(gateway, user, format, { model: `route/${name}`, stream: true });
    expect(answer.text).not.toMatch(/"error":\{|event: error/);
    expect(streamedText(format, answer.text)).toBe("Hi");
    const ENDINGS = { chat: "data: [DONE]\n\n", messages: "message_stop", responses: "response.completed" };
    expect(answer.text).toContain(ENDINGS[format]);
    await gateway.audit();
    const { ledger } = await gateway.books(user);
    expect(ledger.at(0)).toMatchObject({ outcome: "served", usage: { prompt: 3, completion: 1 }, estimated: false });
  });
});
