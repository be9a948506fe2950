import { describe, expect, test } from "vitest";
import { CAPABILITIES } from "../../../src/dialects/capabilities.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import type { AnswerCodec, Location, UpstreamDialect } from "../../../src/dialects/dialect.ts";
import { readMessages } from "../../../src/dialects/messages/client/format.ts";
import { anthropic } from "../../../src/dialects/messages/index.ts";
import { AttemptError, type Json } from "../../../src/kit/index.ts";
import { isUnwritten, writtenBody } from "../../../src/upstream/send/request.ts";
import { cases, target } from "./support.ts";

/** A client's request and what goes to Vertex AI for it. */
interface Case {
  readonly source: string;
  /** Left out: a Messages client's. */
  readonly format?: "chat";
  readonly model?: string;
  readonly accepts?: readonly string[];
  readonly body: Json;
  /** The client's headers. */
  readonly given?: Json;
  readonly path?: string;
  /** Fields of the body that must be exactly these. */
  readonly sends?: Json;
  readonly without?: readonly string[];
  readonly headers?: Json;
  readonly withoutHeaders?: readonly string[];
  readonly dropped?: readonly string[];
  /** The failure of the attempt instead. */
  readonly fails?: string;
}

const MODEL = "claude-sonnet-4-5@20250929";
const BASE = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic";
const all = cases("vertex") as readonly (readonly [string, Case])[];

function at(fields: readonly string[] = [], baseUrl = BASE): UpstreamDialect {
  return anthropic.at!({ baseUrl, headers: {}, accepts: { fields } });
}

function sent({ format, model = MODEL, accepts, body, given }: Case) {
  const asked = { model: "route/a", max_tokens: 9, messages: [{ role: "user", content: "hi" }], ...body };
  const call = format === "chat" ? readChat(asked) : readMessages(asked, given);
  const codec = at(accepts).codecs.chat as AnswerCodec;
  const request = codec.request(call, target(model), "ya29.token");
  return { ...request, body: JSON.parse(request.body as string) as Json };
}

/** Writes a message of one letter, over and over. @returns bytes. */
async function written(letter: string, count: number): Promise<number> {
  const call = readMessages({
    model: "route/a",
    max_tokens: 9,
    messages: [{ role: "user", content: letter.repeat(count) }],
  });
  const { body } = (at().codecs.chat as AnswerCodec).request(call, target(MODEL), "ya29.token");
  if (!isUnwritten(body)) throw new TypeError("a long body is written by who sends it");
  return (await writtenBody(body)).length;
}

describe("a request to Claude on Vertex AI", () => {
  test.each(all.filter(([, { fails }]) => fails === undefined))("%s", (_, one) => {
    const { path, body, headers, dropped } = sent(one);
    expect(path).toBe(one.path ?? `/models/${one.model ?? MODEL}:rawPredict`);
    for (const [name, value] of Object.entries(one.sends ?? {}))
      expect({ [name]: body[name] }).toEqual({ [name]: value });
    for (const name of one.without ?? []) expect(body).not.toHaveProperty(name);
    expect(headers).toMatchObject({ authorization: "Bearer ya29.token", ...one.headers });
    for (const name of ["x-api-key", ...(one.withoutHeaders ?? [])]) expect(headers).not.toHaveProperty(name);
    expect(dropped).toEqual(one.dropped ?? []);
  });

  test.each(all.filter(([, { fails }]) => fails !== undefined))("%s", (_, one) => {
    expect(() => sent(one)).toThrow(new AttemptError("unsupported", one.fails ?? ""));
  });

  test("every case has its source", () => {
    expect(all.filter(([, { source }]) => !/https:|@anthropic|RFC|README/.test(source))).toEqual([]);
  });

  // "Agent Platform limits request payloads to 30 MB" (the page of the cases). Of "世" every character is three bytes.
  test.each([
    ["a", 31_000_000],
    ["世", 10_400_000],
  ])("%s times %i is sent", async (letter, count) => {
    await expect(written(letter, count)).resolves.toBeGreaterThan(0);
  });

  test.each([
    ["a", 32_000_000],
    ["世", 10_600_000],
  ])("%s times %i is for another target", async (letter, count) => {
    const due = new AttemptError("unsupported", "the request is larger than the upstream takes");
    await expect(written(letter, count)).rejects.toThrow(due);
  });
});

test.each([
  [BASE, true],
  [`${BASE}/`, true],
  ["http://127.0.0.1:1/v1/projects/p/locations/l/publishers/anthropic", true],
  ["https://api.anthropic.com", false],
  ["https://x.example/v1/projects/p/locations/l/publishers/other", false],
])("%s is at Vertex AI: %s", (baseUrl, is) => {
  expect(at([], baseUrl).signing).toEqual(is ? { by: "google" } : undefined);
  expect(CAPABILITIES.anthropic.takesGoogleCredentials({ baseUrl, headers: {} })).toBe(is);
  expect(at([], baseUrl).probe("k").path).toBe(is ? "/models/count-tokens:rawPredict" : "/v1/models");
});

// Counting is free: https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/count-tokens. The body names
// the model there, as @anthropic-ai/vertex-sdk src/client.ts leaves it in.
test("a probe counts a token", () => {
  const { method, headers, body } = at().probe("ya29.k");
  expect([method, headers["authorization"]]).toEqual(["POST", "Bearer ya29.k"]);
  expect(JSON.parse(body as string)).toEqual({
    anthropic_version: "vertex-2023-10-16",
    model: expect.stringMatching(/^claude-/) as string,
    messages: [{ role: "user", content: "." }],
  });
});

test.each([
  ["image_urls", true],
  ["document_urls", true],
  ["vision", false],
  ["documents", false],
  ["tools", false],
  ["prompt_caching", false],
])("what needs %s is lost there: %s", (feature, isLost) => {
  const location: Location = { baseUrl: BASE, headers: {} };
  expect(CAPABILITIES.anthropic.loses("chat", feature, "claude-opus-4-6", location)).toBe(isLost);
  expect(CAPABILITIES.anthropic.loses("chat", feature, "claude-opus-4-6", { ...location, baseUrl: "" })).toBe(false);
});
