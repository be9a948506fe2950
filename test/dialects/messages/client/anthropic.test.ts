import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RUNS } from "../../../properties/runs.ts";
import { anthropic } from "../../../../src/dialects/messages/index.ts";
import { readMessages } from "../../../../src/dialects/messages/client/format.ts";
import { isJson, type Json } from "../../../../src/kit/index.ts";
import { testTarget } from "../../../support/snapshot.ts";
import { acceptedRequests } from "./arbitrary.ts";
import { claudeCode } from "./claude-code.ts";
import { request } from "./support.ts";

/** An upstream whose operator lets everything through. */
const accepts = { fields: ["service_tier", "container", "web_search"] };
const codec = anthropic.at!({ baseUrl: "", headers: {}, accepts }).codecs.chat!;

const target = testTarget("up", { model: "their-model" });

const objects = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

const isOwn = ({ type }: Json): boolean => type !== undefined && type !== "custom";
const isResult = ({ type }: Json): boolean => type === "tool_result";

/** A request as the API understands it: what is said in two ways is said in one. */
function normal(body: Json): Json {
  const tools = objects(body["tools"]);
  return {
    ...body,
    ...(body["system"] === undefined ? {} : { system: normalContent(body["system"]) }),
    ...(tools.length > 0
      ? { tools: [...tools.filter((tool) => !isOwn(tool)), ...tools.filter(isOwn)].map(withoutNulls) }
      : {}),
    messages: objects(body["messages"]).map((message) => ({ ...message, content: normalContent(message["content"]) })),
  };
}

function normalContent(content: unknown): unknown {
  if (typeof content === "string") return [{ type: "text", text: content }];
  const blocks = objects(content).map((block) =>
    withoutNulls(isResult(block) ? { ...block, content: normalContent(block["content"] ?? "") } : block),
  );
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

function withoutNulls(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

function sent(body: Json, headers: Json = {}): { readonly body: Json; readonly dropped: readonly string[] } {
  const { body: text, dropped = [] } = codec.request(readMessages(body, headers), target, "k");
  return { body: JSON.parse(text as string) as Json, dropped };
}

describe("a Messages request to a Messages upstream", () => {
  test("that of a coding agent arrives whole", () => {
    const { body, dropped } = sent(claudeCode);
    expect(normal(body)).toEqual(normal({ ...claudeCode, model: "their-model" }));
    expect(dropped).toEqual([]);
  });

  test("version and betas are the client's", () => {
    const headers = { "anthropic-version": "2026-10-21", "anthropic-beta": "effort-2025-11-24,claude-code-20250219" };
    expect(codec.request(readMessages(request(), headers), target, "k").headers).toMatchObject(headers);
  });

  test("nothing is lost, whatever it holds", () => {
    fc.assert(
      fc.property(acceptedRequests, (original) => {
        const { body, dropped } = sent(original);
        expect(dropped).toEqual([]);
        expect(normal(body)).toEqual(normal({ ...original, model: "their-model" }));
      }),
      { numRuns: RUNS },
    );
  });
});
