import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJson, type Json } from "../../src/kit/index.ts";
import { type Simulator, startSimulator } from "../../src/simulator/server.ts";
import { STRICT_VENDORS, type StrictVendor } from "../../src/simulator/strict/rule.ts";
import { rulesOf } from "../../src/simulator/strict/vendors.ts";
import { call, form, type Sent } from "./support.ts";

/** One request to a vendor: what differs from a plain one, and what the vendor says. */
interface Case {
  readonly name: string;
  readonly model: string;
  readonly body: Json;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** Part of the answer as it is written, quotation marks in texts not escaped. */
  readonly says?: string;
}

const chat = { messages: [{ role: "user", content: "hi" }] };

/** Where a vendor is asked, and the plainest request to it. */
const PLACES: Readonly<Record<string, (model: string) => readonly [path: string, body: Json]>> = {
  "openai-responses": (model) => ["/v1/responses", { model, input: "hi" }],
  "xai-responses": (model) => ["/v1/responses", { model, input: "hi" }],
  azure: (model) => [`/openai/deployments/${model}/chat/completions?api-version=2024-10-21`, chat],
  anthropic: (model) => ["/v1/messages", { model, max_tokens: 1_000, ...chat }],
  vertex: (model) => [
    `/v1/projects/p/locations/global/publishers/anthropic/models/${model}:rawPredict`,
    { anthropic_version: "vertex-2023-10-16", max_tokens: 1_000, ...chat },
  ],
  bedrock: (model) => [
    `/model/${encodeURIComponent(model)}/converse`,
    { messages: [{ role: "user", content: [{ text: "hi" }] }] },
  ],
  gemini: (model) => [
    `/v1beta/models/${model}:generateContent`,
    { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
  ],
  cohere: (model) => ["/v2/chat", { model, ...chat }],
  "openai-speech": (model) => ["/v1/audio/speech", { model, input: "hi", voice: "alloy" }],
  // A form. The file is named, and as long as it says.
  "openai-transcriptions": (model) => ["/v1/audio/transcriptions", { model, file: { name: "a.wav", size: 9 } }],
  "openai-embeddings": (model) => ["/v1/embeddings", { model, input: "hi" }],
  "openai-images": (model) => ["/v1/images/generations", { model, prompt: "a cat" }],
};
const placeOf = (file: string, model: string) => {
  const named = Object.keys(PLACES).find((name) => file === name || file.startsWith(`${name}-`));
  return named === undefined ? (["/v1/chat/completions", { model, ...chat }] as const) : PLACES[named]!(model);
};
/** As JSON, or as a form where there is a file. */
async function written(body: Json): Promise<Sent> {
  const { file, ...fields } = body;
  if (!isJson(file)) return { body };
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one) => [`${name}[]`, String(one)] as const) : [[name, String(value)] as const],
  );
  return form(pairs, new File([new Uint8Array(Number(file["size"]))], String(file["name"])));
}

const HEADERS = { "anthropic-version": "2023-06-01", "api-key": "any", "x-api-key": "any", "x-goog-api-key": "any" };

/** `{"$repeat": [value, count]}` stands for a long list, or a long text. */
function expanded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expanded);
  if (!isJson(value)) return value;
  const { $repeat: repeated } = value;
  if (!Array.isArray(repeated)) return Object.fromEntries(Object.entries(value).map(([k, of]) => [k, expanded(of)]));
  const [item, count] = repeated as unknown as readonly [unknown, number];
  return typeof item === "string" ? item.repeat(count) : Array.from({ length: count }, () => expanded(item));
}

const FOLDER = new URL("strict/", import.meta.url).pathname;
const FILES = globSync("*.json", { cwd: FOLDER }).map((name): readonly [string, readonly Case[]] => [
  basename(name, ".json"),
  expanded(JSON.parse(readFileSync(FOLDER + name, "utf8"))) as readonly Case[],
]);
const vendorOf = (file: string) => file.split("-")[0] as StrictVendor;

const SOURCE = /https:\/\/|^fixtures |@ai-sdk|@anthropic-ai|openai resources|mistral-common/;

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

describe.each(FILES)("%s", (file, cases) => {
  test.each(cases)("$name ($model): $status", async ({ model, body, headers, status, says }) => {
    const [path, plain] = placeOf(file, model);
    const url = `${simulator.origin}/sim/vendor=${vendorOf(file)}${path}`;
    const sent = await written({ ...plain, ...body });
    const seen = await call(url, { body: sent.body, headers: { ...HEADERS, ...headers, ...sent.headers } });
    expect([seen.status, seen.text.replaceAll('\\"', '"')]).toEqual([status, expect.stringContaining(says ?? "")]);
    const entry = simulator.ledger().at(-1);
    expect([entry?.status, entry?.refusal !== null]).toEqual([status, status !== 200]);
  });
});

// Azure's rules are OpenAI's, whose cases they have.
const VENDORS = STRICT_VENDORS.filter((vendor) => vendor !== "generic" && vendor !== "azure");
test.each(VENDORS)("every rule of %s has a source, and a case", (vendor) => {
  // What the models refuse at Vertex AI they refuse at Anthropic, which has the cases.
  const owners: readonly StrictVendor[] = vendor === "vertex" ? [vendor, "anthropic"] : [vendor];
  const requests = FILES.filter(([file]) => owners.includes(vendorOf(file))).flatMap(([file, cases]) =>
    cases.map(({ model, body }) => ({ model, body: { ...placeOf(file, model)[1], ...body } })),
  );
  const rules = rulesOf(vendor);
  expect(rules.filter(({ source }) => !SOURCE.test(source))).toEqual([]);
  const idle = rules.filter(
    ({ models, refuse }) => !requests.some((one) => (models?.test(one.model) ?? true) && refuse(one) !== undefined),
  );
  expect(idle).toEqual([]);
});

test("without a vendor the same is served", async () => {
  const body = { model: "gpt-5", ...chat, max_tokens: 9, top_k: 3 };
  expect((await call(`${simulator.origin}/v1/chat/completions`, { body })).status).toBe(200);
});
