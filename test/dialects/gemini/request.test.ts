import { describe, expect, test } from "vitest";
import { gemini } from "../../../src/dialects/gemini/index.ts";
import type { Json } from "../../../src/kit/index.ts";
import { joinPath } from "../../../src/upstream/send/request.ts";
import { testTarget } from "../../support/snapshot.ts";
import { attempt } from "../wire-cases.ts";
import { type Cases, casesOf } from "../cases.ts";
import { callOf, send } from "./support.ts";

/** A body's fields beside `model` and `messages`, and what of them goes out. */
interface RequestCase {
  readonly body: Json;
  /** Left out: a 2.5 Flash. */
  readonly model?: string;
  /** Beside `contents`. */
  readonly sends: Json;
  /** Left out: nothing. */
  readonly dropped?: readonly string[];
}

const casesIn = (file: string) => casesOf(new URL(`requests/${file}.yaml`, import.meta.url));
const CONTENTS = [{ role: "user", parts: [{ text: "hi" }] }];
describe.each(["sampling", "thinking", "tools"])("%s", (file) => {
  test.each(casesIn(file) as Cases<RequestCase>)("%s", (_, { body, model, sends, dropped = [] }) => {
    const sent = send(callOf(body), model);
    expect({ body: sent.body, dropped: sent.dropped }).toEqual({ body: { contents: CONTENTS, ...sends }, dropped });
  });
});

interface MessagesCase {
  readonly model?: string;
  readonly messages: readonly unknown[];
  readonly system?: readonly string[];
  readonly contents?: readonly Json[];
  readonly dropped?: readonly string[];
}

describe("messages", () => {
  test.each(casesIn("messages") as Cases<MessagesCase>)(
    "%s",
    (_, { messages, model, system, contents, dropped = [] }) => {
      const sent = send(callOf({ messages }), model);
      const systemInstruction = system && { systemInstruction: { parts: system.map((text) => ({ text })) } };
      expect({ body: sent.body, dropped: sent.dropped }).toEqual({ body: { ...systemInstruction, contents }, dropped });
    },
  );

  test.each(casesIn("refused") as Cases<{ readonly messages: readonly unknown[]; readonly refused: string }>)(
    "%s is refused",
    (_, { messages, refused }) => {
      const { error } = attempt(() => send(callOf({ messages })));
      expect(error?.message).toBe(`Invalid request: ${refused}`);
    },
  );
});

describe("where it goes", () => {
  test.each([
    [false, "gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:generateContent", "application/json"],
    [true, "gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "text/event-stream"],
    [false, "models/gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:generateContent", "application/json"],
    [false, "tunedModels/a b?c", "/v1beta/tunedModels/a%20b%3Fc:generateContent", "application/json"],
  ])("stream %s, model %s: %s", (stream, model, path, accept) => {
    const sent = send(callOf({ stream }), model);
    expect(sent.path).toBe(path);
    expect(sent.headers).toEqual({ "x-goog-api-key": "k", "content-type": "application/json", accept });
    expect(sent.body).not.toHaveProperty("model");
    expect(sent.body).not.toHaveProperty("stream");
  });

  test.each([
    ["AIza123", { "x-goog-api-key": "AIza123" }],
    ["ya29.token", { authorization: "Bearer ya29.token" }],
    ["", {}],
  ])("the key %j is sent as %j", (key, headers) => {
    const own = { "content-type": "application/json", accept: "application/json" };
    expect(send(callOf(), undefined, key).headers).toEqual({ ...own, ...headers });
    expect(gemini.probe(key)).toEqual({
      method: "GET",
      path: "/v1beta/models",
      headers: { accept: "application/json", ...headers },
      body: null,
    });
  });

  test("a version in the base URL is not doubled", () => {
    expect(joinPath("/v1", send(callOf()).path)).toBe("/v1/models/gemini-2.5-flash:generateContent");
    expect(joinPath("", gemini.probe("k").path)).toBe("/v1beta/models");
  });
});

describe("what other clients say", () => {
  test("fields without a canonical place are named as the client wrote them", () => {
    const call = {
      ...callOf({ user: "u", stop: [""] }),
      dialect: "messages" as const,
      native: { context_management: { edits: [] }, container: null },
    };
    expect(send(call).dropped).toEqual(["/stop_sequences/0", "/metadata/user_id", "/context_management"]);
  });

  test("a refusal names the client's place too", () => {
    const body = { messages: [{ role: "tool", content: "y" }] };
    const call = { ...callOf(body), dialect: "responses" as const };
    const { error } = attempt(() => gemini.codecs.chat!.request(call, testTarget("alpha", { model: "m" }), "k"));
    expect(error?.message).toBe("Invalid request: /input/0/tool_call_id must be the id of a tool call");
  });

  test("a schema nested too deeply is the client's fault", () => {
    let schema: unknown = {};
    for (let depth = 0; depth < 20_000; depth += 1) schema = { items: schema };
    const body = { tools: [{ type: "function", function: { name: "a", parameters: schema } }] };
    const { error } = attempt(() => send(callOf(body)));
    expect(error?.message).toBe("Invalid request: / is nested too deeply");
  });
});
