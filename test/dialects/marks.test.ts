import { describe, expect, test } from "vitest";
import type { ClientDialect, Json } from "../../src/kit/index.ts";
import { READERS, sentOn, WAYS } from "./billed.ts";

/*
 * A mark that ends a prefix to cache reaches the upstream in a form that it takes, or is told: for every format of clients,
 * place, dialect and vendor. A lost one shows in nothing but the bill.
 */

const CONTROL = { cache_control: { type: "ephemeral" } };
const BREAKPOINT = { prompt_cache_breakpoint: { mode: "explicit" } };
const PNG = "iVBORw0KGgo=";

interface Marked {
  readonly body: Json;
  /** The client's pointer to the mark. */
  readonly at: string;
}

type Place = "system" | "user" | "second" | "image" | "answer" | "call" | "result" | "tool";

/** A conversation with a mark in one place. @param mark null: without one. */
function chat(place: Place, mark: Json | null): Marked {
  const on = (here: Place): Json => (here === place ? (mark ?? {}) : {});
  const [field = ""] = Object.keys(mark ?? {});
  const at: Readonly<Record<Place, string>> = {
    system: "/messages/0/content/0",
    user: "/messages/1/content/0",
    second: "/messages/1/content/1",
    image: "/messages/1/content/2",
    answer: "/messages/2/content/0",
    call: "/messages/2/tool_calls/0",
    result: "/messages/3/content/0",
    tool: "/tools/0",
  };
  const body = {
    model: "route/a",
    messages: [
      { role: "system", content: [{ type: "text", text: "s", ...on("system") }] },
      {
        role: "user",
        content: [
          { type: "text", text: "u", ...on("user") },
          { type: "text", text: "v", ...on("second") },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` }, ...on("image") },
        ],
      },
      {
        role: "assistant",
        content: [{ type: "text", text: "a", ...on("answer") }],
        tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" }, ...on("call") }],
      },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "r", ...on("result") }] },
    ],
    tools: [
      { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } }, ...on("tool") },
    ],
  };
  return { body, at: `${at[place]}/${field}` };
}

function messages(place: Place, mark: Json | null): Marked {
  const on = (here: Place): Json => (here === place ? (mark ?? {}) : {});
  const at: Readonly<Record<Place, string>> = {
    system: "/system/0",
    user: "/messages/0/content/0",
    second: "/messages/0/content/1",
    image: "/messages/0/content/2",
    answer: "/messages/1/content/0",
    call: "/messages/1/content/1",
    result: "/messages/2/content/0",
    tool: "/tools/0",
  };
  const body = {
    model: "route/a",
    max_tokens: 100,
    system: [{ type: "text", text: "s", ...on("system") }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "u", ...on("user") },
          { type: "text", text: "v", ...on("second") },
          { type: "image", source: { type: "base64", media_type: "image/png", data: PNG }, ...on("image") },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "a", ...on("answer") },
          { type: "tool_use", id: "toolu_1", name: "f", input: {}, ...on("call") },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "r", ...on("result") }] },
    ],
    tools: [{ name: "f", input_schema: { type: "object", properties: {} }, ...on("tool") }],
  };
  return { body, at: `${at[place]}/cache_control` };
}

function responses(place: Place, mark: Json | null): Marked {
  const on = (here: Place): Json => (here === place ? (mark ?? {}) : {});
  const at: Readonly<Partial<Record<Place, string>>> = {
    system: "/input/0/content/0",
    user: "/input/1/content/0",
    second: "/input/1/content/1",
    image: "/input/1/content/2",
    result: "/input/3/output/0",
  };
  const body = {
    model: "route/a",
    input: [
      { role: "system", content: [{ type: "input_text", text: "s", ...on("system") }] },
      {
        role: "user",
        content: [
          { type: "input_text", text: "u", ...on("user") },
          { type: "input_text", text: "v", ...on("second") },
          { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto", ...on("image") },
        ],
      },
      { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: [{ type: "input_text", text: "r", ...on("result") }] },
    ],
    tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false }],
  };
  return { body, at: `${at[place] ?? ""}/prompt_cache_breakpoint` };
}

const EVERYWHERE: readonly Place[] = ["system", "user", "second", "image", "answer", "call", "result", "tool"];
const IN_CONTENT: readonly Place[] = ["system", "user", "second", "image", "result"];

const CLIENTS: readonly (readonly [string, ClientDialect, typeof chat, Json, readonly Place[]])[] = [
  ["cache_control of a chat client", "chat", chat, CONTROL, EVERYWHERE],
  ["prompt_cache_breakpoint of a chat client", "chat", chat, BREAKPOINT, IN_CONTENT],
  ["cache_control of a Messages client", "messages", messages, CONTROL, EVERYWHERE],
  ["prompt_cache_breakpoint of a Responses client", "responses", responses, BREAKPOINT, IN_CONTENT],
];

const MARK = /"(cache_control|prompt_cache_breakpoint|cachePoint)"/g;
const marksIn = (text: string): readonly string[] => [...text.matchAll(MARK)].map(([, name = ""]) => name);

/** By way: the form in which a mark of a chat client is sent; null: in none. */
const FORMS: Readonly<Record<string, string | null>> = {
  anthropic: "cache_control",
  "Claude on Vertex AI": "cache_control",
  bedrock: "cachePoint",
  "Nova on bedrock": "cachePoint",
  "Llama on bedrock": null,
  gemini: null,
  cohere: null,
  openai: "prompt_cache_breakpoint",
  "openai at /responses": "prompt_cache_breakpoint",
  azure: "prompt_cache_breakpoint",
  "an older model of openai": null,
  "an older model of openai at /responses": null,
  openrouter: "cache_control",
  alibaba: "cache_control",
  mistral: null,
  "a server that takes nothing unknown": "cache_control",
};

describe.each(CLIENTS)("%s", (_, client, write, mark, places) => {
  test.each(WAYS)("to $name arrives once, or is told", (way) => {
    for (const place of places) {
      const { body, at } = write(place, mark);
      const { text, dropped } = sentOn(way, READERS[client](body));
      const sent = marksIn(text);
      const told = dropped.filter((pointer) => /cache/.test(pointer));
      // Media that a target does not take are told whole.
      const isWhole = place === "image" && dropped.includes(at.replace(/\/[^/]+$/, ""));
      if (isWhole && sent.length === 0 && told.length === 0) continue;
      expect([place, sent.length, told]).toEqual(sent.length === 1 ? [place, 1, []] : [place, 0, [at]]);
    }
  });
});

test.each(Object.entries(FORMS))("at %s the form of marks is %s", (name, form) => {
  const way = WAYS.find((one) => one.name === name)!;
  for (const mark of [CONTROL, BREAKPOINT]) {
    const { text } = sentOn(way, READERS.chat(chat("user", mark).body));
    expect(marksIn(text)).toEqual(form === null ? [] : [form]);
  }
});

describe("explicit caching, which switches the implicit off", () => {
  const OPTIONS = { prompt_cache_options: { mode: "explicit" } };
  const clients = [
    ["chat", chat],
    ["responses", responses],
  ] as const;

  test.each(clients)("goes with the breakpoints of a %s client, or stays behind with them", (client, write) => {
    for (const way of WAYS) {
      const { body, at } = write("user", BREAKPOINT);
      const { text, dropped } = sentOn(way, READERS[client]({ ...body, ...OPTIONS }));
      const isSent = text.includes("prompt_cache_options");
      const isMarked = text.includes("prompt_cache_breakpoint");
      expect([way.name, isSent]).toEqual([way.name, isMarked]);
      const told = dropped.filter((pointer) => /cache/.test(pointer));
      const lost = marksIn(text).length > 0 ? [] : [at];
      expect([way.name, told.toSorted()]).toEqual([
        way.name,
        [...lost, ...(isSent ? [] : ["/prompt_cache_options"])].toSorted(),
      ]);
    }
  });

  test("stays behind when no breakpoint could go, and goes when the client wants none", () => {
    const openai = WAYS.find(({ name }) => name === "openai")!;
    const lost = sentOn(openai, READERS.chat({ ...chat("tool", CONTROL).body, ...OPTIONS }));
    expect(lost.text).not.toContain("prompt_cache_options");
    expect(lost.dropped).toEqual(["/tools/0/cache_control", "/prompt_cache_options"]);
    const none = sentOn(openai, READERS.chat({ ...chat("user", null).body, ...OPTIONS }));
    expect([none.body["prompt_cache_options"], none.dropped]).toEqual([OPTIONS.prompt_cache_options, []]);
  });
});

describe("how long a cache is kept", () => {
  const HOUR = { cache_control: { type: "ephemeral", ttl: "1h" } };

  test.each(WAYS)("to $name goes with the mark, or is told", (way) => {
    const { body, at } = messages("user", HOUR);
    const { text, dropped } = sentOn(way, READERS.messages(body));
    const told = dropped.filter((pointer) => /cache/.test(pointer));
    const lost = marksIn(text).length === 0 ? [at] : [`${at}/ttl`];
    expect(told).toEqual(text.includes('"1h"') ? [] : lost);
  });
});

test("a mark of a whole message is that of its last part", () => {
  const openai = WAYS.find(({ name }) => name === "openai")!;
  const call = READERS.chat({ model: "route/a", messages: [{ role: "user", content: "u", ...CONTROL }] });
  const { body, dropped } = sentOn(openai, call);
  expect([body["messages"], dropped]).toEqual([
    [{ role: "user", content: [{ type: "text", text: "u", ...BREAKPOINT }] }],
    [],
  ]);
});

test("a server of which nothing is known is sent another client's marks when it is said to take them", () => {
  const generic = WAYS.find(({ name }) => name === "generic")!;
  const way = { ...generic, location: { accepts: { cacheMarks: "marks_with_ttl" } } } as const;
  for (const place of EVERYWHERE.filter((one) => one !== "call")) {
    const { text, dropped } = sentOn(way, READERS.messages(messages(place, CONTROL).body));
    expect([place, marksIn(text), dropped]).toEqual([place, ["cache_control"], []]);
  }
});
