import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { askFormat, eventsOf, FORMAT_NAMES, FORMATS, type FormatName, openFormat } from "../../support/formats.ts";
import { type Refusal, WORDS } from "./providers.ts";
import { ErrorStage, type Plays, refuses, type Step } from "./stage.ts";

const { limited, overloaded, tooLong, tooMuch, locked } = WORDS.openai;
const step = (refusal: Refusal, more: Partial<Step> = {}): Step => {
  return { provider: "openai", plays: refuses(refusal), ...more };
};
const said = (message: string, more: Json = {}): Refusal => {
  return { status: 400, body: { error: { message, type: "invalid_request_error", param: null, code: null, ...more } } };
};
const unsupported = (param: string): Refusal =>
  said(`Unsupported parameter: '${param}' is not supported with this model.`, { param, code: "unsupported_parameter" });
const set = (fields: Json): Partial<Step> => ({ more: { parameters: { set: fields } } });

const WAITS = { "retry-after": "10", "x-should-retry": undefined };
const NEVER = { "retry-after": undefined, "x-should-retry": "false" };
const NEITHER = { "retry-after": undefined, "x-should-retry": undefined };
const OWN = "max_tokens is too large: 32000.";

interface Case {
  readonly about: string;
  readonly chain: readonly Step[];
  /** Fields of the request, beside its limit of 32,000. */
  readonly asks?: Json;
  readonly status: number;
  readonly headers: Json;
  /** The type in the Messages format. */
  readonly type: string;
  /** The code in JSON. */
  readonly code: string;
  /** What the message says, and what it does not. */
  readonly says?: string;
  readonly never?: string;
}

const CASES: Readonly<Record<string, Case>> = {
  waits: {
    about: "one target limits its rate, the other is closed: the wait is told",
    chain: [step(limited), step(locked)],
    status: 502,
    headers: WAITS,
    type: "rate_limit_error",
    code: "rate_limit_exceeded",
  },
  soonest: {
    about: "the soonest target decides on the wait, and two kinds of being busy are one",
    chain: [step(limited), step(overloaded)],
    status: 502,
    headers: { ...WAITS, "retry-after": "1" },
    type: "overloaded_error",
    code: "server_is_overloaded",
  },
  closed: {
    about: "no target will ever serve it",
    chain: [step(locked), step({ status: 404, body: {} })],
    status: 502,
    headers: NEVER,
    type: "api_error",
    code: "provider_error",
  },
  own: {
    about: "a field of the client's own, refused before a target that is closed",
    chain: [step(tooMuch), step(locked)],
    status: 400,
    headers: NEITHER,
    type: "invalid_request_error",
    code: "invalid_request",
    says: OWN,
  },
  "own-last": {
    about: "a field of the client's own, refused by the last target",
    chain: [step(limited), step(tooMuch)],
    status: 400,
    headers: NEITHER,
    type: "invalid_request_error",
    code: "invalid_request",
    says: OWN,
  },
  "own-first": {
    about: "a field of the client's own, while another target may take it later",
    chain: [step(tooMuch), step(limited)],
    status: 502,
    headers: WAITS,
    type: "rate_limit_error",
    code: "rate_limit_exceeded",
    never: OWN,
  },
  "own-name": {
    about: "the name of a field of the client's own",
    chain: [step(unsupported("temperature"))],
    asks: { temperature: 0.5 },
    status: 400,
    headers: NEITHER,
    type: "invalid_request_error",
    code: "unsupported_parameter",
    says: "'temperature' is not supported",
  },
  added: {
    about: "a field that the gateway added",
    chain: [step(unsupported("seed"), set({ "/seed": 5 }))],
    status: 502,
    headers: NEVER,
    type: "api_error",
    code: "provider_error",
    never: "seed",
  },
  changed: {
    about: "a value that the gateway changed",
    chain: [step(tooMuch, set({ "/max_tokens": 99_999 }))],
    status: 502,
    headers: NEVER,
    type: "api_error",
    code: "provider_error",
    never: "32000",
  },
  absent: {
    about: "a field that nobody sent",
    chain: [step(unsupported("top_logprobs"))],
    status: 502,
    headers: NEVER,
    type: "api_error",
    code: "provider_error",
    never: "top_logprobs",
  },
  long: {
    about: "a prompt that is too long, before a larger window that is closed",
    chain: [step(tooLong, { window: 8_000 }), step(locked, { window: 16_000 })],
    status: 400,
    headers: NEITHER,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    says: "maximum context length",
  },
  "long-first": {
    about: "a prompt that is too long, before a larger window that limits its rate",
    chain: [step(tooLong, { window: 8_000 }), step(limited, { window: 16_000 })],
    status: 502,
    headers: WAITS,
    type: "rate_limit_error",
    code: "rate_limit_exceeded",
  },
  filtered: {
    about: "content that the provider's filter refuses",
    chain: [step(said("Your request was rejected by our safety system.", { code: "content_policy_violation" }))],
    status: 400,
    headers: NEITHER,
    type: "invalid_request_error",
    code: "content_policy_violation",
    says: "safety system",
  },
};

const LIMITS: Readonly<Record<FormatName, string>> = {
  chat: "max_tokens",
  messages: "max_tokens",
  responses: "max_output_tokens",
};
const ROWS = Object.entries(CASES).flatMap(([name, one]) =>
  FORMAT_NAMES.flatMap((format) =>
    [false, true].map((stream) => {
      const model = `${name}-${format}-${stream ? "stream" : "whole"}`;
      return { ...one, model, format, stream, title: `${one.about}: ${format}, ${stream ? "streamed" : "whole"}` };
    }),
  ),
);

describe("what a chain comes to", () => {
  let stage: ErrorStage;
  beforeAll(async () => {
    stage = await ErrorStage.start(Object.fromEntries(ROWS.map(({ model, chain }) => [model, chain])));
  });
  afterAll(() => stage.close());

  test.each(ROWS.map((row) => [row.title, row] as const))("%s", async (_, row) => {
    const { model, format, stream, asks, status, headers, type, code, says = "", never = "\0" } = row;
    const changes = { model: `route/${model}`, [LIMITS[format]]: 32_000, ...asks, ...(stream && { stream }) };
    // Messages clients read the type, the others ask for JSON.
    const isVersioned = format === "messages";
    const asking: Record<string, string> = isVersioned
      ? { "anthropic-version": "2023-06-01" }
      : { accept: "application/json" };
    const answer = await askFormat(stage.gateway, stage.user, format, changes, { headers: asking });
    expect(answer.status).toBe(status);
    expect(Object.keys(headers).map((name) => [name, answer.headers[name]])).toEqual(Object.entries(headers));
    const { error } = JSON.parse(answer.text) as { error: Json };
    expect(error).toMatchObject(isVersioned ? { type } : { code });
    expect(error["message"]).toContain(says);
    expect(error["message"]).not.toContain(never);
    const { ledger } = await stage.gateway.books(stage.user);
    expect(ledger.every(({ charge }) => charge === 0n)).toBe(true);
  });
});

/** The last event of a stream that fails. */
function lastOf(
  format: FormatName,
  [type, code, responses]: readonly [type: string, code: string | undefined, responses: string],
  message: string,
): Json {
  switch (format) {
    case "chat":
      return { error: { message, type: "api_error", ...(code !== undefined && { code }) } };
    case "messages":
      return { type: "error", error: { type, message } };
    case "responses":
      return { type: "response.failed", response: { status: "failed", error: { code: responses, message } } };
  }
}

/** Types of the events of a stream that fails before its first. */
const EVENTS: Readonly<Record<FormatName, readonly unknown[]>> = {
  chat: [undefined],
  messages: ["ping", "error"],
  responses: ["response.created", "response.in_progress", "error", "response.failed"],
};

describe("a chain that fails when the stream has begun", () => {
  let stage: ErrorStage;
  /** Upstreams that wait, by model. */
  const waiting = new Map<string, () => void>();
  const SITUATIONS = { limited, tooLong, tooMuch, locked } as const;
  type Situation = keyof typeof SITUATIONS;
  const TELLS: Readonly<Record<Situation, readonly [type: string, code: string | undefined, responses: string]>> = {
    limited: ["rate_limit_error", "rate_limit_exceeded", "rate_limit_exceeded"],
    tooLong: ["invalid_request_error", "context_length_exceeded", "context_length_exceeded"],
    tooMuch: ["invalid_request_error", undefined, "invalid_prompt"],
    locked: ["api_error", undefined, "server_error"],
  };
  const SAYS: Readonly<Record<Situation, { readonly [format in FormatName]?: string }>> = {
    limited: { responses: "try again in 10s" },
    tooLong: { messages: "prompt is too long: 150000 tokens > 128000 maximum" },
    tooMuch: { chat: OWN, messages: OWN, responses: OWN },
    locked: {},
  };
  const cells = (Object.keys(SITUATIONS) as Situation[]).flatMap((situation) =>
    FORMAT_NAMES.map((format) => ({ situation, format, model: `${situation}-${format}`.toLowerCase() })),
  );

  beforeAll(async () => {
    const chains = cells.map(({ model, situation }): readonly [string, readonly Step[]] => {
      const plays: Plays = (res, req, body) => {
        waiting.set(model, () => refuses(SITUATIONS[situation])(res, req, body));
      };
      return [model, [{ provider: "openai", plays }]];
    });
    stage = await ErrorStage.start(Object.fromEntries(chains), { server: { heartbeat: "20ms" } });
  });
  afterAll(() => stage.close());

  test.each(cells)("$situation: $format", async ({ situation, format, model }) => {
    const changes = { model: `route/${model}`, [LIMITS[format]]: 32_000, stream: true };
    const call = openFormat(stage.gateway, stage.user, format, changes);
    await call.until(FORMATS[format].beat);
    waiting.get(model)!();
    const { status, text } = await call.whole();
    expect(status).toBe(200);
    const message = expect.stringContaining(SAYS[situation][format] ?? "") as string;
    expect(eventsOf(text).at(-1)).toMatchObject(lastOf(format, TELLS[situation], message));
    expect(eventsOf(text).map((event) => event["type"])).toEqual(EVENTS[format]);
    expect(text).toMatch(format === "chat" ? /data: \[DONE\]\n\n$/ : /\}\n\n$/);
  });
});

describe("a client that takes nothing but events", () => {
  let stage: ErrorStage;
  beforeAll(async () => {
    stage = await ErrorStage.start({ long: [step(tooLong)], locked: [step(locked)] });
  });
  afterAll(() => stage.close());
  const headers = { accept: "text/event-stream" };

  test("is told of a prompt that is too long by the failed response, as OpenAI tells it", async () => {
    const changes = { model: "route/long", stream: true };
    const { status, text } = await askFormat(stage.gateway, stage.user, "responses", changes, { headers });
    expect(status).toBe(200);
    const error = { code: "context_length_exceeded" };
    expect(eventsOf(text).at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed", error } });
    const { ledger } = await stage.gateway.books(stage.user);
    expect(ledger).toMatchObject([{ outcome: "client_fault", charge: 0n }]);
  });

  test.each([
    ["an answer that is no stream", "responses", { model: "route/long" }, 400],
    ["another failure", "responses", { model: "route/locked", stream: true }, 502],
    ["chat completions", "chat", { model: "route/long", stream: true }, 400],
    ["Messages", "messages", { model: "route/long", stream: true }, 400],
  ] as const)("%s: a status", async (_what, format, changes, status) => {
    expect(await askFormat(stage.gateway, stage.user, format, changes, { headers })).toMatchObject({ status });
  });
});
