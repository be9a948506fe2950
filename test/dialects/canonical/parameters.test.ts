import { describe, expect, test } from "vitest";
import { copiedBy, OF_THE_REQUEST, OPENAI_FIELDS, readBy } from "../../../src/dialects/canonical/parameters.ts";
import { DIALECTS } from "../../../src/dialects/capabilities.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { chatAt } from "../../../src/dialects/chat/index.ts";
import type { AnswerCodec } from "../../../src/dialects/dialect.ts";
import type { Json } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";

/*
 * What a dialect reads by the table is what it does not report unread, and what it copies is in its request: the row of a
 * parameter decides.
 */

const WRITERS = ["anthropic", "bedrock", "gemini", "cohere", "responses"] as const;
const ALL = new Set([...WRITERS.flatMap((writer) => [...readBy(writer)]), ...OPENAI_FIELDS]);
const VALUE = { said: "4711" };
/** Earlier ones take no options of caching. */
const MODELS: Readonly<Partial<Record<string, string>>> = { responses: "gpt-5.6" };

function codecOf(writer: (typeof WRITERS)[number]): AnswerCodec {
  const location = { baseUrl: "", headers: {}, vendor: "openai", api: "responses" } as const;
  return writer === "responses" ? chatAt(location, "openai") : (DIALECTS[writer]!.codecs.chat as AnswerCodec);
}

function sent(
  writer: (typeof WRITERS)[number],
  field: Json,
): { readonly body: Json; readonly dropped: readonly string[] } {
  const call = readChat({ model: "route/a", messages: [{ role: "user", content: "hi" }], ...field });
  const { body, dropped = [] } = codecOf(writer).request(call, testTarget("up", { model: MODELS[writer] ?? "m" }), "k");
  return { body: JSON.parse(body as string) as Json, dropped };
}

describe.each(WRITERS)("%s", (writer) => {
  const unread = [...ALL].filter((name) => !readBy(writer).has(name) && !OF_THE_REQUEST.has(name));

  test.each(unread)("reports %s", (name) => {
    expect(sent(writer, { [name]: VALUE }).dropped).toEqual([`/${name}`]);
  });

  test.each(copiedBy(writer).map((name) => [name]))("copies %s", (name) => {
    const { body, dropped } = sent(writer, { [name]: VALUE });
    expect([body[name], dropped]).toEqual([VALUE, []]);
  });
});

test("there is something to report", () => {
  expect(WRITERS.map((writer) => ALL.size - readBy(writer).size).filter((count) => count < 10)).toEqual([]);
});
