import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import OpenAI from "openai";
import type { ResponseInputItem, ResponseStreamEvent } from "openai/resources/responses/responses";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { scriptedUrl, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { sharedFixtures } from "../../support/shared.ts";
import { call } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const client = (script = "-") =>
  new OpenAI({ apiKey: "any", baseURL: scriptedUrl(simulator.origin, script), maxRetries: 0 });
const model = "gpt-5.4-reason";
const weather = {
  type: "function" as const,
  name: "get_weather",
  strict: false,
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

async function eventsOf(body: Json, script?: string): Promise<readonly ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  const stream = await client(script).responses.create({ model, input: "hi", ...body, stream: true });
  for await (const event of stream) events.push(event);
  return events;
}

test("events are numbered, in order, and end in the response", async () => {
  const events = await eventsOf({ reasoning: { effort: "low", summary: "auto" } });
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
  const types = [...new Set(events.map(({ type }) => type))];
  expect(types).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.reasoning_summary_part.done",
    "response.output_item.done",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.completed",
  ]);
});

test("a tool loop with reasoning that comes back encrypted; forged it is refused", async () => {
  const input: ResponseInputItem[] = [{ role: "user", content: "Use get_weather." }];
  const body = { model, tools: [weather], store: false, include: ["reasoning.encrypted_content" as const] };
  const asked = await client().responses.create({ ...body, input, reasoning: { effort: "low" } });
  const [reasoning, made] = asked.output;
  expect(reasoning).toMatchObject({ type: "reasoning", encrypted_content: expect.any(String) });
  expect(made).toMatchObject({ type: "function_call", name: "get_weather", arguments: '{"city":"simulated"}' });
  if (made?.type !== "function_call" || reasoning?.type !== "reasoning") throw new Error("no call");
  const output = { type: "function_call_output" as const, call_id: made.call_id, output: "sunny" };
  const after = (items: readonly ResponseInputItem[]) =>
    client().responses.create({ ...body, input: [...input, ...items, made, output] });
  expect((await after([reasoning])).output_text).toMatch(/simulated answer/);
  await expect(after([{ ...reasoning, encrypted_content: "forged" }])).rejects.toMatchObject({
    status: 400,
    code: "invalid_encrypted_content",
  });
});

test("too little room ends it early", async () => {
  const ended = await client().responses.create({ model: "gpt-4o", input: "word ".repeat(40), max_output_tokens: 16 });
  expect(ended).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  const events = await eventsOf({ input: "word ".repeat(40), max_output_tokens: 16 });
  expect(events.at(-1)).toMatchObject({ type: "response.incomplete" });
});

test.each([
  ["no_usage", (events: readonly ResponseStreamEvent[]) => JSON.stringify(events.at(-1)).includes('"usage":null')],
  ["no_done", (events: readonly ResponseStreamEvent[]) => events.at(-1)?.type === "response.output_item.done"],
])("%s", async (script, holds) => {
  expect(holds(await eventsOf({}, script))).toBe(true);
});

test("an error in a stream is an event of its own form", async () => {
  const seen = await call(`${scriptedUrl(simulator.origin, "error_after=3&message=Broken")}/responses`, {
    body: { model, input: "hi", stream: true },
  });
  expect(seen.text).toMatch(/event: error\ndata: \{"type":"error","code":"server_error","message":"Broken"/);
});

test.each(["/openai/v1/responses", "/openai/responses?api-version=preview"])("Azure's %s", async (path) => {
  const headers = { "api-key": "any" };
  const seen = await call(simulator.origin + path, { body: { model, input: "hi" }, headers });
  expect([seen.status, JSON.parse(seen.text)]).toEqual([200, expect.objectContaining({ object: "response" })]);
  const refused = await call(simulator.origin + path, { body: { model, messages: [] }, headers });
  expect(refused.text).toContain('"code":"unsupported_parameter"');
});

/** As far as it is looked at. */
interface Document {
  readonly components?: {
    readonly schemas: Readonly<
      Record<string, { readonly properties?: { readonly type?: { readonly enum?: readonly string[] } } }>
    >;
  };
}

const folder = sharedFixtures("openai-openapi");
describe.skipIf(folder === null)("by OpenAI's own document", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const document = folder === null ? {} : (JSON.parse(readFileSync(join(folder, "openapi.json"), "utf8")) as Document);
  ajv.addSchema(document, "openai");
  /** The events' schemas by the type that each is for. */
  const schemas = Object.entries(document.components?.schemas ?? {});
  const nameOf = (type: string) =>
    schemas.find(([name, { properties }]) => name.endsWith("Event") && properties?.type?.enum?.includes(type))?.[0];
  const problems = (schema: string, value: unknown) => {
    ajv.validate({ $ref: `openai#/components/schemas/${schema}` }, value);
    return ajv.errorsText().split(", ").slice(0, 5);
  };
  const bodies: readonly Json[] = [
    { input: "hi" },
    { input: "Use get_weather.", tools: [weather], include: ["reasoning.encrypted_content"] },
    { input: "hi", reasoning: { effort: "low", summary: "auto" } },
    { input: "hi", text: { format: { type: "json_schema", name: "n", schema: { type: "object" } } } },
  ];

  test.each(bodies)("%j", async (body) => {
    const whole = await call(`${simulator.origin}/v1/responses`, { body: { model, ...body } });
    expect(problems("Response", JSON.parse(whole.text))).toEqual(["No errors"]);
    for (const event of await eventsOf(body)) {
      // Providers send `"usage":null` until the end, which their document does not know.
      if ("response" in event && event.response.usage === null) delete event.response.usage;
      expect([event.type, problems(nameOf(event.type) ?? "", event)]).toEqual([event.type, ["No errors"]]);
    }
  });
});
