import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { call } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const MODEL = "claude-sonnet-4-5@20250929";
const messages = [{ role: "user", content: "hi" }];
const BODY = { anthropic_version: "vertex-2023-10-16", max_tokens: 99, messages };

const ask = (
  body: object | string,
  more: { method?: string; headers?: Record<string, string>; script?: string } = {},
) => {
  const { method = `${MODEL}:rawPredict`, headers = {}, script = "-" } = more;
  const path = `/v1/projects/p/locations/global/publishers/anthropic/models/${method}`;
  return call(`${simulator.origin}/sim/${encodeURIComponent(script)}${path}`, { body, headers });
};
const bodyOf = async (asked: ReturnType<typeof ask>) => JSON.parse((await asked).text) as Record<string, unknown>;

test("an answer and a stream are a Messages client's, of the model in the path", async () => {
  expect(await bodyOf(ask(BODY))).toMatchObject({ type: "message", model: MODEL, usage: { input_tokens: 1 } });
  const { text } = await ask({ ...BODY, stream: true }, { method: `${MODEL}:streamRawPredict` });
  expect(text).toMatch(/^event: message_start/);
  expect(simulator.ledger().at(-1)).toMatchObject({ model: MODEL, stream: true });
});

test("tokens are counted of a model that the body names", async () => {
  expect(await bodyOf(ask({ model: MODEL, messages }, { method: "count-tokens:rawPredict" }))).toEqual({
    input_tokens: 1,
  });
});

describe("refusals in Anthropic's form", () => {
  test.each<[string, object, string]>([
    ["no version", { max_tokens: 9, messages }, "anthropic_version: Field required"],
    ["the API's version", { ...BODY, anthropic_version: "2023-06-01" }, "Input should be 'vertex-2023-10-16'"],
    ["a model in the body", { ...BODY, model: MODEL }, "model: Extra inputs are not permitted"],
    ["what the API refuses", { ...BODY, max_tokens: -1 }, "max_tokens: Input should be greater than or equal to 0"],
  ])("%s", async (_, body, message) => {
    expect(await bodyOf(ask(body))).toEqual({
      type: "error",
      error: { type: "invalid_request_error", message: expect.stringContaining(message) as string },
      request_id: expect.stringMatching(/^req_vrtx_/) as string,
    });
  });

  test("a beta that is not known there", async () => {
    const known = await ask(BODY, { headers: { "anthropic-beta": "context-1m-2025-08-07" } });
    const both = await ask(BODY, { headers: { "anthropic-beta": "context-1m-2025-08-07, oauth-2025-04-20" } });
    expect([known.status, both.status]).toEqual([200, 400]);
    expect(both.text).toContain("Unexpected value(s) `oauth-2025-04-20` for the `anthropic-beta` header");
  });
});

test.each([
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [429, "RESOURCE_EXHAUSTED"],
])("%i is Google's own", async (status, name) => {
  const body = await bodyOf(ask(BODY, { script: `status=${status}&message=m` }));
  expect(body).toEqual({ error: { code: status, message: "m", status: name } });
});

test("a key is no token", async () => {
  const seen = await ask(BODY, { headers: { authorization: "", "x-api-key": "any" } });
  expect([seen.status, seen.text]).toEqual([401, expect.stringContaining("Expected OAuth2 access token")]);
});
