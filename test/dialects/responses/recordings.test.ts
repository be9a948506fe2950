import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chat } from "../../../src/dialects/openai/chat.ts";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { sharedFixtures } from "../../support/shared.ts";
import { decode } from "../decode.ts";
import { contract } from "./contract.ts";
import { answer, assemble, essence, faults, frames, stream, words } from "./support.ts";

/** Recorded OpenAI-style streams: text, reasoning in two fields, tool calls, usage in every place. */
const STREAMS = [
  "openai/chat/openai-text",
  "openai/chat/azure-model-router.1",
  "alibaba/alibaba-reasoning",
  "alibaba/alibaba-tool-call",
  "deepseek/chat/deepseek-text",
  "deepseek/chat/deepseek-tool-call",
  "groq/groq-reasoning",
  "groq/groq-tool-call",
  "xai/xai-text",
  "xai/xai-tool-call",
  "perplexity/perplexity-text",
];
const BODIES = [
  "openai/chat/openai-text",
  "alibaba/alibaba-tool-call",
  "deepseek/chat/deepseek-json",
  "groq/groq-reasoning",
  "xai/xai-tool-call",
];

const check = contract();
const folder = sharedFixtures("vercel-ai");
const file = (name: string): string => (folder === null ? "" : readFileSync(join(folder, name), "utf8"));
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

describe.skipIf(folder === null)("recorded streams", () => {
  test.each(STREAMS)("%s", (name) => {
    const lines = file(`${name}.chunks.txt`)
      .split("\n")
      .filter((line) => line.trim() !== "");
    const { events } = decode([new TextEncoder().encode(lines.map((line) => `data: ${line}\n\n`).join(""))]);
    const all = frames(stream(events));
    expect(faults(check, all)).toEqual([]);
    const response = all.at(-1)!["response"] as Json;
    expect(essence(assemble(all))).toEqual(essence(response["output"]));

    const deltas = lines
      .flatMap((line) => list((JSON.parse(line) as Json)["choices"]))
      .map(({ delta }) => (isJson(delta) ? delta : {}));
    const said = (type: string): string =>
      list(response["output"])
        .filter((item) => item["type"] === type)
        .flatMap(({ content }) => list(content))
        .map(({ text }) => words(text))
        .join("");
    expect(said("message")).toBe(deltas.map(({ content }) => words(content)).join(""));
    expect(said("reasoning")).toBe(
      deltas.map((delta) => words(delta["reasoning_content"] ?? delta["reasoning"])).join(""),
    );
    const written = list(response["output"])
      .map((item) => words(item["arguments"]))
      .join("");
    const sent = deltas
      .flatMap((delta) => list(delta["tool_calls"]))
      .map((call) => (isJson(call["function"]) ? words(call["function"]["arguments"]) : ""));
    expect(written).toBe(sent.join(""));
    const usage = events.findLast((event) => event.usage !== undefined)?.usage;
    expect(response["usage"]).toMatchObject({
      input_tokens: usage?.prompt ?? 7,
      output_tokens: usage?.completion ?? 5,
    });
  });
});

describe.skipIf(folder === null)("recorded bodies", () => {
  test.each(BODIES)("%s", (name) => {
    const { body, usage } = chat.answer(new TextEncoder().encode(file(`${name}.json`)));
    const got = answer(body);
    expect(check("Response", got)).toEqual([]);
    expect(list(got["output"]).length).toBeGreaterThan(0);
    expect(got["usage"]).toMatchObject({ input_tokens: usage?.prompt, output_tokens: usage?.completion });
  });
});
