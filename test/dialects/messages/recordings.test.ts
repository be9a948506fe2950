import { describe, expect, test } from "vitest";
import { isJson } from "../../../src/kit/index.ts";
import { ANSWERS, answerOf, of, payloadsOf, recorded } from "../recordings.ts";
import { CHAT, chat, decode, framed, list, MESSAGES } from "./support.ts";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

test.skipIf(!recorded)("what only the Messages format says reaches a client that speaks it", () => {
  const { events } = decode([framed(payloadsOf("anthropic/anthropic-clear-thinking.1"))], MESSAGES);
  const last = events.findLast(({ data }) => list(data["choices"]).length > 0);
  expect(last?.data["choices"]).toMatchObject([
    { delta: { native: { event: { type: "message_delta", context_management: { applied_edits: [] } } } } },
  ]);
});

describe.skipIf(!recorded)("recorded bodies", () => {
  test.each(of(ANSWERS, "anthropic"))("%s", (name, { bytes }) => {
    const { body, usage } = chat.answer(bytes(), CHAT);
    const said = answerOf(name);
    const counts = said["usage"] as Readonly<Record<string, number>>;
    expect(usage).toMatchObject({ prompt: counts["input_tokens"], completion: counts["output_tokens"] });
    const [choice] = list(body["choices"]);
    const message = isJson(choice?.["message"]) ? choice["message"] : {};
    const blocks = list(said["content"]);
    const texts = blocks.map((block) => text(block["text"])).join("");
    expect(text(message["content"])).toBe(texts);
    expect(text(message["reasoning_content"])).toBe(blocks.map((block) => text(block["thinking"])).join(""));
    expect(list(message["tool_calls"]).map(({ id }) => id)).toEqual(
      blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id),
    );
    expect(choice).toMatchObject({ native_finish_reason: said["stop_reason"] });
  });
});
