import { describe, expect, test } from "vitest";
import { DIALECTS } from "../../../src/dialects/capabilities.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { readMessages } from "../../../src/dialects/messages/client/format.ts";
import type { AnswerCodec } from "../../../src/dialects/dialect.ts";
import type { Call, DialectName, Json } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";

/* A client reaches and pays for the target's model alone, unless the upstream's `accepts` names the field. */

const SAID = { model: "route/a", max_tokens: 9, messages: [{ role: "user", content: "hi" }] };

function sent(
  dialect: DialectName,
  call: Call,
  fields?: readonly string[],
): { body: Json; dropped: readonly string[] } {
  const upstream = DIALECTS[dialect]!;
  const located = fields === undefined ? upstream : upstream.at!({ baseUrl: "", headers: {}, accepts: { fields } });
  const codec = located.codecs.chat as AnswerCodec;
  const { body, dropped = [] } = codec.request(call, testTarget("up", { model: "m" }), "k");
  return { body: JSON.parse(body as string) as Json, dropped };
}

/** By dialect: a field of the client's, the upstream's name for it, and what that says. */
const FIELDS: readonly (readonly [DialectName, Json, name: string, unknown])[] = [
  ["anthropic", { service_tier: "default" }, "service_tier", "standard_only"],
  ["bedrock", { service_tier: "priority" }, "serviceTier", { type: "priority" }],
  ["gemini", { service_tier: "flex" }, "serviceTier", "flex"],
  ["gemini", { web_search_options: {} }, "tools", [{ googleSearch: {} }]],
];

describe.each(FIELDS)("%s: %j", (dialect, field, name, value) => {
  const call = readChat({ ...SAID, ...field });
  const [own = ""] = Object.keys(field);
  /** What asks for nothing is not missed. */
  const asks = field["service_tier"] !== "default";

  test("stays behind", () => {
    const { body, dropped } = sent(dialect, call);
    expect(body).not.toHaveProperty(name);
    expect(dropped).toEqual(asks ? [`/${own}`] : []);
  });

  test("travels where the upstream accepts it", () => {
    const { body, dropped } = sent(dialect, call, [own]);
    expect(body[name]).toEqual(value);
    expect(dropped).toEqual([]);
  });
});

test("paid tools of a Messages client are reported by their own places", () => {
  const tools = [
    { name: "f", input_schema: { type: "object" } },
    { type: "web_search_20250305", name: "web_search" },
    { type: "bash_20250124", name: "bash" },
    { type: "code_execution_20250825", name: "code_execution" },
  ];
  const { body, dropped } = sent("anthropic", readMessages({ ...SAID, tools, speed: "fast" }));
  expect(body["tools"]).toEqual([tools[0], tools[2]]);
  expect(dropped).toEqual(["/speed", "/tools/1", "/tools/3"]);
});

test("a call with nothing of it is handed on as it is", () => {
  const { body, dropped } = sent("anthropic", readMessages(SAID));
  expect([body["messages"], dropped]).toEqual([SAID.messages, []]);
});
