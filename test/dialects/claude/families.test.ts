import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DIALECTS } from "../../../src/dialects/capabilities.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import type { UpstreamRequest } from "../../../src/dialects/dialect.ts";
import { readMessages } from "../../../src/dialects/messages/client/format.ts";
import { rulesOf } from "../../../src/dialects/messages/models.ts";
import { readResponses } from "../../../src/dialects/responses/client/request.ts";
import { type Call, type DialectName, isJson, type Json } from "../../../src/kit/index.ts";
import { scriptedOrigin, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { testTarget } from "../../support/snapshot.ts";
import { CASES as ANYBODYS } from "../vendors/bodies.ts";
import { CHOICES, MARKS, OPTIONS, ORDER, RESULTS, type RuleCase, THINKING } from "./cases.ts";

/* What every model of Claude's and of Bedrock's is sent of each client's requests: nothing that it refuses. */

interface Place {
  readonly vendor: "anthropic" | "vertex" | "bedrock";
  readonly dialect: DialectName;
  readonly baseUrl: string;
  readonly models: readonly string[];
}

const PUBLISHER = "/v1/projects/p/locations/global/publishers/anthropic";

const PLACES: readonly Place[] = [
  {
    vendor: "anthropic",
    dialect: "anthropic",
    baseUrl: "",
    models: [
      "claude-3-haiku-20240307",
      "claude-3-5-haiku-20241022",
      "claude-3-7-sonnet-20250219",
      "claude-opus-4-20250514",
      "claude-opus-4-1-20250805",
      "claude-sonnet-4-20250514",
      "claude-sonnet-4-5-20250929",
      "claude-haiku-4-5-20251001",
      "claude-opus-4-5-20251101",
      "claude-sonnet-4-6",
      "claude-opus-4-6",
      "claude-opus-4-7",
      "claude-opus-4-8",
      "claude-sonnet-5",
      "claude-opus-5",
      "claude-haiku-5-5",
      "claude-sonnet-5-5",
      "claude-opus-5-5",
      "claude-fable-5",
      "claude-fable-5-1",
      "claude-mythos-preview",
    ],
  },
  {
    vendor: "vertex",
    dialect: "anthropic",
    baseUrl: PUBLISHER,
    models: [
      "claude-3-5-haiku@20241022",
      "claude-sonnet-4-5@20250929",
      "claude-opus-4-6",
      "claude-opus-5",
      "claude-opus-5-5",
    ],
  },
  {
    vendor: "bedrock",
    dialect: "bedrock",
    baseUrl: "",
    models: [
      "us.anthropic.claude-3-5-haiku-20241022-v1:0",
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      "us.anthropic.claude-opus-4-5-20251101-v1:0",
      "global.anthropic.claude-opus-4-6-v1",
      "us.anthropic.claude-opus-4-7-v1:0",
      "us.anthropic.claude-opus-5-5-v1:0",
      "us.amazon.nova-pro-v1:0",
      "us.amazon.nova-2-lite-v1:0",
      "us.meta.llama3-3-70b-instruct-v1:0",
      "mistral.mistral-large-2407-v1:0",
      "mistral.mistral-7b-instruct-v0:2",
      "openai.gpt-oss-120b-1:0",
      "cohere.command-r-plus-v1:0",
    ],
  },
];

/** Claude itself refuses a signature that it did not make, whoever sends it. */
const others = ANYBODYS.filter(({ body }) => !JSON.stringify(body).includes('"signature"'));
const EVERY: readonly RuleCase[] = [...THINKING, ...ORDER, ...CHOICES, ...RESULTS, ...MARKS, ...OPTIONS, ...others];

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

function callOf({ format, body, headers }: RuleCase, stream: boolean): Call {
  const asked = { model: "route/a", ...body, ...(stream && { stream }) };
  if (format === "messages") return readMessages(asked, { "anthropic-version": "2023-06-01", ...headers });
  return format === "chat" ? readChat(asked) : readResponses(asked);
}

interface Sent {
  readonly request: UpstreamRequest;
  readonly body: Json;
  readonly dropped: readonly string[];
}

function write({ dialect, baseUrl }: Place, model: string, one: RuleCase, stream = false): Sent {
  const own = DIALECTS[dialect]!;
  const { codecs } = own.at?.({ baseUrl, headers: {} }) ?? own;
  const request = codecs.chat!.request(callOf(one, stream), testTarget("alpha", { model }), "key");
  return { request, body: JSON.parse(request.body as string) as Json, dropped: request.dropped ?? [] };
}

/** What the provider says of a request; empty where it answers. */
async function refusal({ vendor, baseUrl }: Place, { request }: Sent): Promise<string> {
  const origin = scriptedOrigin(simulator.origin, `?vendor=${vendor}`);
  const { method, path, headers, body } = request;
  const response = await fetch(origin + baseUrl + path, { method, headers, body: body as string });
  const said = await response.text();
  return response.ok ? "" : `${response.status} ${said.slice(0, 400)}`;
}

/** What is refused or lost of every request; empty: nothing. */
async function faultsOf(place: Place, model: string, stream: boolean): Promise<string> {
  const faults = EVERY.map(async (one) => {
    const sent = write(place, model, one, stream);
    const refused = await refusal(place, sent);
    const text = JSON.stringify(sent.body);
    const lost = (one.said ?? []).filter((word) => !text.includes(word));
    const said = [refused, lost.length > 0 ? `lost ${lost.join(", ")}` : ""].filter((fault) => fault !== "");
    return said.map((fault) => `${one.format}: ${one.about}: ${fault}`);
  });
  return (await Promise.all(faults)).flat().join("\n");
}

describe.each(PLACES)("$vendor", (place) => {
  test.each(place.models)("%s takes every client's requests", async (model) => {
    expect(await faultsOf(place, model, false)).toBe("");
  });

  // A stream differs in one field, whatever the model is.
  test("and streamed", async () => {
    expect(await faultsOf(place, place.models.at(-1)!, true)).toBe("");
  });
});

const API = PLACES[0]!;
const BEDROCK = PLACES[2]!;

/** How a request asks for thinking, at either kind of place. */
function thinkingIn({ body }: Sent): { readonly type: unknown; readonly effort: unknown } {
  const extra = body["additionalModelRequestFields"];
  const { thinking, output_config: output } = isJson(extra) ? extra : body;
  return {
    type: isJson(thinking) ? thinking["type"] : undefined,
    effort: isJson(output) ? output["effort"] : undefined,
  };
}

function ofCases(part: string): readonly RuleCase[] {
  return THINKING.filter(({ about }) => about.includes(part));
}

const CLAUDE = [
  ...API.models.map((model) => [model, API] as const),
  ...BEDROCK.models.filter((model) => model.includes("claude")).map((model) => [model, BEDROCK] as const),
];

describe.each(CLAUDE)("%s", (model, place) => {
  const rules = rulesOf(model);

  const loops = ["a loop without a thought", "thoughts of others", "another model goes on"].flatMap(ofCases);

  test("asks for no budget where a loop has no thought", () => {
    const types = loops.map((one) => thinkingIn(write(place, model, one)).type);
    expect(types).not.toContain("enabled");
  });

  test("and says so where it cannot think in another way", () => {
    const asked = loops.filter(({ about }) => /^\{"type":"(?:enabled|adaptive)"/.test(about));
    const told = asked.map((one) =>
      write(place, model, one).dropped.some((pointer) => pointer.startsWith("/thinking")),
    );
    expect(new Set(told)).toEqual(new Set([!rules.modes.has("adaptive")]));
  });

  test("thinks by what it knows", () => {
    const [budget, adaptive] = ['{"type":"enabled","budget_tokens":10000}', '{"type":"adaptive"}'].map((thinking) =>
      thinkingIn(write(place, model, ofCases(thinking)[0]!)),
    );
    const { modes } = rules;
    const own = modes.has("enabled") ? "enabled" : modes.has("adaptive") ? "adaptive" : undefined;
    expect(budget).toEqual({ type: own, effort: own === "adaptive" ? "medium" : undefined });
    expect(adaptive!.type).toBe(modes.has("adaptive") ? "adaptive" : own);
  });

  test("takes the effort that it knows, or the next lower", () => {
    const order = ["low", "medium", "high", "xhigh", "max"];
    for (const effort of order) {
      const sent = write(
        place,
        model,
        THINKING.find(({ about }) => about === `effort ${effort} alone`)!,
      );
      const { effort: given } = thinkingIn(sent);
      const known = place === BEDROCK && model.includes("opus-4-5") ? [] : rules.efforts;
      const most = known.findLast((one) => order.indexOf(one) <= order.indexOf(effort));
      expect(given).toBe(most);
      const told = sent.dropped.filter(
        (pointer) => pointer !== "/max_tokens" && !pointer.startsWith("anthropic-beta:"),
      );
      expect(told).toEqual(most === undefined ? ["/output_config/effort"] : []);
    }
  });

  test("is offered the allowed tools alone, and forced where it can be", () => {
    for (const one of CHOICES.filter(({ about }) => about.startsWith("allowed_tools"))) {
      const { body, dropped } = write(place, model, one);
      const text = JSON.stringify(body);
      expect(text).toContain('"name":"f"');
      expect(text).not.toContain('"name":"g"');
      const { tool_choice: choice, toolConfig: config } = body;
      const asked = isJson(choice) ? choice["type"] : undefined;
      const forced =
        (asked !== undefined && asked !== "auto") || (isJson(config) && config["toolChoice"] !== undefined);
      const isAsked = one.about.endsWith("required");
      expect([one.about, forced]).toEqual([one.about, isAsked && rules.forcedTools]);
      expect(dropped).toEqual(isAsked && !rules.forcedTools ? ["/tool_choice"] : []);
    }
  });

  test("goes on from the assistant's words where it does, and is told to where not", () => {
    const { body, dropped } = write(
      place,
      model,
      ORDER.find(({ about }) => about === "the assistant last")!,
    );
    const last = (body["messages"] as readonly Json[]).at(-1)!;
    expect(last["role"]).toBe(rules.prefill ? "assistant" : "user");
    expect(dropped).toEqual(rules.prefill ? [] : ["/messages/1"]);
  });

  test("has four marks at most, each told that is not sent", () => {
    const { body, dropped } = write(
      place,
      model,
      MARKS.find(({ about }) => about === "a mark a turn")!,
    );
    expect(JSON.stringify(body).match(/"cache_control"|"cachePoint"/g)).toHaveLength(4);
    expect(dropped).toEqual(
      ["/messages/0/content/0", "/messages/1/content/0", "/messages/2/content/0"].map((at) => `${at}/cache_control`),
    );
  });
});

test("a shared cache needs its beta: both are sent, or neither is, and that is told", () => {
  const one = MARKS.find(({ about }) => about === "a shared cache")!;
  const atApi = write(API, "claude-opus-5", one);
  expect(atApi.request.headers["anthropic-beta"]).toContain("prompt-caching-scope-2026-01-05");
  expect(JSON.stringify(atApi.body)).toContain('"scope":"global"');
  const atVertex = write(PLACES[1]!, "claude-opus-5", one);
  expect(atVertex.request.headers).not.toHaveProperty("anthropic-beta");
  expect(JSON.stringify(atVertex.body)).not.toContain("scope");
  expect(atVertex.dropped).toEqual([
    "anthropic-beta:prompt-caching-scope-2026-01-05",
    "anthropic-beta:claude-code-20250219",
    "/system/0/cache_control/scope",
  ]);
});
