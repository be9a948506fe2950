import { afterAll, beforeAll, expect, test } from "vitest";
import { scriptedOrigin, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { call, chat, dataOf, form } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const KEY = { "api-key": "any", authorization: "" };
const AT = "/openai/deployments/my%20model";
const VERSION = "?api-version=2024-10-21";
const post = (path: string, body: object, headers: Record<string, string> = KEY, script = "-") =>
  call(`${scriptedOrigin(simulator.origin, script)}${path}`, { body, headers });

test("a deployment is the model, whatever the body says", async () => {
  const { text } = await post(`${AT}/chat/completions${VERSION}`, chat("hi"));
  expect(JSON.parse(text)).toMatchObject({
    model: "my model",
    choices: [{ message: { content: "This is a simulated answer. You said: hi" }, content_filter_results: {} }],
    prompt_filter_results: [{ prompt_index: 0 }],
    usage: { total_tokens: 9 },
  });
  expect(simulator.ledger().at(-1)).toMatchObject({ model: "my model", tokens: 8, units: { prompt: 1 } });
});

test("the first event of a stream has the filter's results and no choices", async () => {
  const { text } = await post(`${AT}/chat/completions${VERSION}`, chat("hi", { stream: true }));
  const [first = "", second = ""] = dataOf(text);
  expect(JSON.parse(first)).toMatchObject({ choices: [], id: "", model: "", prompt_filter_results: [{}] });
  expect(JSON.parse(second)).toMatchObject({ choices: [{ delta: { role: "assistant" }, content_filter_results: {} }] });
});

test.each<[string, object]>([
  ["embeddings", { input: "hi" }],
  ["images/generations", { prompt: "a fox" }],
  ["audio/speech", { input: "hi", voice: "v" }],
])("%s of a deployment, and under v1", async (path, body) => {
  expect((await post(`${AT}/${path}${VERSION}`, body)).status).toBe(200);
  expect(simulator.ledger().at(-1)?.model).toBe("my model");
  expect((await post(`/openai/v1/${path}`, { ...body, model: "own" }, {})).status).toBe(200);
  expect(simulator.ledger().at(-1)?.model).toBe("own");
});

test("a transcription's form need not name the model", async () => {
  const { body, headers } = await form([], new File(["x"], "a.mp3"));
  const seen = await call(`${simulator.origin}${AT}/audio/transcriptions${VERSION}`, {
    body,
    headers: { ...headers, ...KEY },
  });
  expect([seen.status, simulator.ledger().at(-1)?.model]).toEqual([200, "my model"]);
});

test.each([
  ["no version", `${AT}/chat/completions`, KEY, 404, "404"],
  ["no key", `${AT}/chat/completions${VERSION}`, { authorization: "" }, 401, "401"],
  ["an unknown path", `${AT}/completions${VERSION}`, KEY, 404, "unknown_url"],
])("%s", async (_, path, headers, status, code) => {
  const seen = await post(path, chat("hi"), headers);
  expect([seen.status, JSON.parse(seen.text)]).toMatchObject([status, { error: { code } }]);
});
