import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { azureAt } from "../../../src/dialects/azure/index.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import type { Location, UpstreamDialect } from "../../../src/dialects/dialect.ts";
import { readMessages } from "../../../src/dialects/messages/client/format.ts";
import { readResponses } from "../../../src/dialects/responses/client/request.ts";
import { TABLE, vendorOf } from "../../../src/dialects/vendors/rules.ts";
import { type Accepts, type ApiChoice, type Call, type Json, type Vendor, VENDORS } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";

/*
 * What a vendor's model is sent of a client's request. A vendor is one file in ./cases, named after it; a new case needs
 * no code. In what is expected `{"matches": "…"}` stands for a text of that form.
 */
interface File {
  /** By its host the vendor is known; left out: only by its name. */
  readonly base_url?: string;
  readonly cases: readonly Case[];
}

interface Case {
  readonly about: string;
  /** Where it stands that the vendor takes or refuses this. */
  readonly source: string;
  /** Left out: chat. */
  readonly client?: "chat" | "messages" | "responses";
  /** The target's. */
  readonly model: string;
  readonly accepts?: Accepts;
  readonly api?: ApiChoice;
  /** Of the client's body; messages are filled in. */
  readonly request: Json;
  /** Fields of the upstream's body that are exactly these. */
  readonly sends?: Json;
  /** Fields that are not in it. */
  readonly without?: readonly string[];
  /** In the client's pointers; left out: nothing. */
  readonly dropped?: readonly string[];
}

const at = (location: Location): UpstreamDialect => openai.at?.(location) ?? openai;
const FOLDER = new URL("cases/", import.meta.url);
const FILES = readdirSync(FOLDER).map(
  (name) => [name.replace(".json", ""), JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as File] as const,
);
const HI = [{ role: "user", content: "hi" }];

function callOf({ client = "chat", request }: Case): Call {
  if (client === "messages") return readMessages({ model: "route/a", messages: HI, ...request });
  if (client === "responses") return readResponses({ model: "route/a", input: "hi", ...request });
  return readChat({ model: "route/a", messages: HI, ...request });
}

function dialectOf(
  vendor: string,
  { base_url: baseUrl = "" }: File,
  { accepts, api }: Pick<Case, "accepts" | "api"> = {},
): UpstreamDialect {
  const location = { baseUrl, headers: {}, ...(accepts && { accepts }), ...(api && { api }) };
  if (vendor === "azure") return azureAt(location);
  return at(baseUrl === "" ? { ...location, vendor: vendor as Vendor } : location);
}

function sent(dialect: UpstreamDialect, one: Case): { readonly body: Json; readonly dropped: readonly string[] } {
  const request = dialect.codecs.chat?.request(callOf(one), testTarget("alpha", { model: one.model }), "k");
  return { body: JSON.parse(request?.body as string) as Json, dropped: request?.dropped ?? [] };
}

/** What is expected, its forms of texts as matchers. */
function expected(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expected);
  if (typeof value !== "object" || value === null) return value;
  const { matches, ...fields } = value as Json;
  return typeof matches === "string"
    ? textOf(matches)
    : Object.fromEntries(Object.entries(fields).map(([name, inner]) => [name, expected(inner)]));
}

const textOf = (form: string): unknown => expect.stringMatching(new RegExp(form));

describe.each(FILES)("%s", (vendor, file) => {
  test.each(file.cases.map((one) => [one.about, one] as const))("%s", (_, one) => {
    const { body, dropped } = sent(dialectOf(vendor, file, one), one);
    for (const [name, value] of Object.entries(one.sends ?? {})) {
      expect({ [name]: body[name] }).toEqual({ [name]: expected(value) });
    }
    for (const name of one.without ?? []) expect(body).not.toHaveProperty(name);
    expect(dropped.toSorted()).toEqual((one.dropped ?? []).toSorted());
    expect(one.source).toMatch(/^https:|^SDK |^@|^own rule: /);
  });

  test("is known by its host, if it has one", () => {
    if (vendor === "azure") return;
    expect(dialectOf(vendor, file).vendor).toBe(vendor);
  });
});

describe("other kinds reach no other model either", () => {
  const call: Call = {
    kind: "embedding",
    model: "route/e",
    stream: false,
    body: { model: "route/e", input: "hi", provider: { order: ["x"] }, service_tier: "auto", dimensions: 8 },
    promptBytes: 2,
    maxOutput: null,
  };
  const target = testTarget("alpha", { model: "e" });
  const baseUrl = "https://openrouter.ai/api/v1";

  test("fields that name it stay behind", () => {
    const request = at({ baseUrl, headers: {} }).codecs.embedding?.request(call, target, "k");
    expect(JSON.parse(request?.body as string)).toEqual({ model: "e", input: "hi", dimensions: 8 });
    expect(request?.dropped).toEqual(["/provider"]);
  });

  test("unless the operator lets them through", () => {
    const location = { baseUrl, headers: {}, accepts: { fields: ["provider"] } };
    const request = at(location).codecs.embedding?.request(call, target, "k");
    expect(JSON.parse(request?.body as string)).toHaveProperty("provider");
    expect(request?.dropped ?? []).toEqual([]);
  });

  test("how fast is spoken is no rate of money", () => {
    const spoken: Call = { ...call, kind: "speech", body: { model: "route/s", input: "hi", voice: "v", speed: 2 } };
    const request = at({ baseUrl, headers: {} }).codecs.speech?.request(spoken, target, "k");
    expect(JSON.parse(request?.body as string)).toHaveProperty("speed", 2);
  });
});

test("every vendor has cases", () => {
  expect(FILES.map(([name]) => name).toSorted()).toEqual([...VENDORS, "azure"].toSorted());
});

test.each(Object.entries(TABLE))("every rule of %s has a source", (_, { source, models = [] }) => {
  for (const one of [source, ...models.map((entry) => entry.source)]) expect(one.length).toBeGreaterThan(0);
});

test.each([
  ["https://eu.api.openai.com/v1", "openai"],
  ["https://codestral.mistral.ai/v1", "mistral"],
  ["https://api.moonshot.ai/v1", "moonshot"],
  ["https://api.together.ai/v1", "together"],
  ["https://dashscope.aliyuncs.com/compatible-mode/v1", "alibaba"],
  ["https://llm-x.cn-beijing.maas.aliyuncs.com/compatible-mode/v1", "alibaba"],
  ["https://open.bigmodel.cn/api/paas/v4", "zai"],
  ["https://us-east-1.api.x.ai/v1", "xai"],
  ["https://api.openai.com.example/v1", "generic"],
  ["http://127.0.0.1:8000/v1", "generic"],
])("%s is %s", (baseUrl, vendor) => {
  expect(vendorOf({ baseUrl, headers: {} })).toBe(vendor);
});
