import { describe, expect, test } from "vitest";
import { OTHER_MODEL_OR_RATE } from "../../src/dialects/canonical/own-model.ts";
import { DIALECTS } from "../../src/dialects/capabilities.ts";
import { readEmbedding } from "../../src/dialects/endpoints/embedding.ts";
import { readImage } from "../../src/dialects/endpoints/image.ts";
import { readRerank } from "../../src/dialects/endpoints/rerank.ts";
import { readSpeech } from "../../src/dialects/endpoints/speech.ts";
import type { Call, ClientDialect, DialectName, Json, Kind } from "../../src/kit/index.ts";
import { testTarget } from "../support/snapshot.ts";
import { READERS, sentOn, WAYS } from "./billed.ts";

/* A client reaches and pays for the target's model alone, whatever its format and whatever the upstream. */

const CLIENTS = ["chat", "messages", "responses"] as const;
const SAID: Readonly<Record<ClientDialect, Json>> = {
  chat: { messages: [{ role: "user", content: "hi" }] },
  messages: { max_tokens: 100, messages: [{ role: "user", content: "hi" }] },
  responses: { input: "hi" },
};

/** What must be nowhere in a request. */
const OTHER = "another-model";

describe.each(CLIENTS)("fields of a %s client that choose another model or rate", (client) => {
  const fields = [...OTHER_MODEL_OR_RATE];

  test.each(WAYS)("stay behind and are told: $name", (way) => {
    for (const field of fields) {
      const call = READERS[client]({ model: "route/a", ...SAID[client], [field]: { model: OTHER } });
      const { body, text, dropped } = sentOn(way, call);
      expect([field, text.includes(OTHER), Object.hasOwn(body, field)]).toEqual([field, false, false]);
      expect(dropped.map((pointer) => pointer.split("/")[1])).toEqual([field]);
    }
  });

  test("travel to a server of the client's own format that accepts them", () => {
    const [claude] = WAYS;
    const way = client === "messages" ? claude! : WAYS.find(({ name }) => name === "generic")!;
    const at = client === "responses" ? { ...way, location: { ...way.location, api: "responses" } as const } : way;
    for (const field of ["models", "fallbacks", "provider", "inference_geo"]) {
      const call = READERS[client]({ model: "route/a", ...SAID[client], [field]: { model: OTHER } });
      const { body, dropped } = sentOn(at, call, [field]);
      expect([body[field], dropped]).toEqual([{ model: OTHER }, []]);
    }
  });
});

/** By format: a tool that runs at the provider, in each place where tools may stand, and the pointer to it. */
const TOOLS: readonly (readonly [string, ClientDialect, Json, pointer: string])[] = [
  ["by its type", "chat", { tools: [{ type: "web_search", model: OTHER }] }, "/tools/0"],
  ["without a type", "chat", { tools: [{ google_search: { model: OTHER } }] }, "/tools/0"],
  ["by its type", "messages", { tools: [{ type: "advisor_20260301", name: "a", model: OTHER }] }, "/tools/0"],
  [
    "in the conversation",
    "messages",
    {
      messages: [
        { role: "user", content: "hi" },
        {
          role: "user",
          content: [
            { type: "text", text: "?" },
            {
              type: "tool_addition",
              tool: { type: "tool_definition", definition: { type: "advisor_20260301", model: OTHER } },
            },
          ],
        },
      ],
    },
    "/messages/1/content/1",
  ],
  ["by its type", "responses", { tools: [{ type: "image_generation", model: OTHER }] }, "/tools/0"],
  [
    "in the conversation",
    "responses",
    {
      input: [
        { role: "user", content: "hi" },
        { type: "additional_tools", role: "developer", tools: [{ type: "web_search", model: OTHER }] },
      ],
    },
    "/input/1/tools/0",
  ],
  [
    "found by a search",
    "responses",
    {
      input: [
        { role: "user", content: "hi" },
        { type: "tool_search_call", execution: "client", call_id: "c", arguments: {}, status: "completed" },
        {
          type: "tool_search_output",
          execution: "client",
          call_id: "c",
          status: "completed",
          tools: [{ type: "web_search", model: OTHER }],
        },
      ],
    },
    "/input/2",
  ],
  [
    "in a namespace",
    "responses",
    {
      tools: [
        { type: "namespace", name: "n", description: "d", tools: [{ type: "web_search", name: "w", model: OTHER }] },
      ],
    },
    "/tools/0",
  ],
];

/** Elsewhere the first is a function of the client's, and the other a refusal. */
const AT_RESPONSES: ReadonlySet<string> = new Set(["in a namespace", "found by a search"]);

describe.each(TOOLS)("a tool that runs at the provider, %s of a %s client", (where, client, more, pointer) => {
  const ways = AT_RESPONSES.has(where) ? WAYS.filter(({ location }) => location.api === "responses") : WAYS;

  test.each(ways)("stays behind and is told: $name", (way) => {
    const call = READERS[client]({ model: "route/a", ...SAID[client], ...more });
    const { text, dropped } = sentOn(way, call);
    expect(text).not.toContain(OTHER);
    // Where no tools are taken at all, all of them are told at once.
    expect(dropped.some((at) => at.startsWith(pointer) || at === "/tools")).toBe(true);
  });
});

function bringing(tools: readonly Json[]): Json {
  return {
    model: "route/a",
    input: [
      { role: "user", content: "hi" },
      { type: "additional_tools", role: "developer", tools },
    ],
  };
}

test("a message that is nothing but additional tools that stay behind is not sent", () => {
  const way = WAYS.find(({ name }) => name === "openai at /responses")!;
  const tools = [{ type: "web_search" }, { type: "function", name: "f", parameters: {} }];
  const all = sentOn(way, READERS.responses(bringing(tools)));
  expect((all.body["input"] as Json[])[1]).toMatchObject({ tools: [tools[1]] });
  const none = sentOn(way, READERS.responses(bringing(tools.slice(0, 1))));
  expect([(none.body["input"] as Json[]).length, none.dropped]).toEqual([1, ["/input/1/tools/0"]]);
});

describe("of every other kind", () => {
  const fields = [...OTHER_MODEL_OR_RATE].filter((field) => field !== "speed");
  const more = Object.fromEntries(fields.map((field) => [field, OTHER]));
  const calls: Readonly<Partial<Record<Kind, Call>>> = {
    embedding: readEmbedding({ model: "route/a", input: "a", ...more }),
    rerank: readRerank({ model: "route/a", query: "q", documents: ["a"], ...more }),
    speech: readSpeech({ model: "route/a", input: "a", voice: "v", ...more }),
    image: readImage({ model: "route/a", prompt: "p", ...more }),
  };
  const ways = Object.entries(DIALECTS).flatMap(([name, dialect]) =>
    Object.keys(dialect.codecs)
      .filter((kind) => Object.hasOwn(calls, kind))
      .map((kind) => [name as DialectName, kind as Kind] as const),
  );

  test.each(ways)("%s %s", (name, kind) => {
    const dialect = DIALECTS[name]!;
    const codec = (dialect.at?.({ baseUrl: "", headers: {} }) ?? dialect).codecs[kind]!;
    const { body, path, dropped = [] } = codec.request(calls[kind]!, testTarget("up", { model: "m" }), "k");
    expect(`${path} ${JSON.stringify(body)}`).not.toContain(OTHER);
    expect(dropped.toSorted()).toEqual(fields.map((field) => `/${field}`).toSorted());
  });
});
