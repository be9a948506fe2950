import { describe, expect, test } from "vitest";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { assemble } from "../assemble.ts";
import { ANSWERS, answerOf, of, PAYLOADS, payloadsOf, recorded, WIRES } from "../recordings.ts";
import { chatCall, codec, decode } from "./support.ts";

interface Recorded {
  readonly text: string;
  readonly reasoning: string;
  readonly signature: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly reason: unknown;
  /** Prompt and completion. */
  readonly usage: readonly [number, number];
}

/** What the events of a recording say, read by hand. */
function read(events: readonly Json[]): Recorded {
  let [text, reasoning, signature] = ["", "", ""];
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  let reason: unknown;
  let usage: readonly [number, number] = [0, 0];
  for (const { contentBlockStart, contentBlockDelta, messageStop, metadata } of events as readonly Record<
    string,
    never
  >[]) {
    if (contentBlockStart?.["start"]["toolUse"]) {
      const { toolUseId, name } = contentBlockStart["start"]["toolUse"];
      calls.set(contentBlockStart["contentBlockIndex"], { id: toolUseId, name, arguments: "" });
    }
    if (contentBlockDelta) {
      const { text: said, toolUse, reasoningContent } = contentBlockDelta["delta"] as Record<string, never>;
      text += said ?? "";
      reasoning += reasoningContent?.["text"] ?? "";
      signature += reasoningContent?.["signature"] ?? "";
      if (toolUse) calls.get(contentBlockDelta["contentBlockIndex"])!.arguments += toolUse["input"];
    }
    if (messageStop) reason = messageStop["stopReason"];
    if (metadata) usage = [metadata["usage"]["inputTokens"], metadata["usage"]["outputTokens"]];
  }
  const written = [...calls.values()].map((call) => ({ ...call, arguments: call.arguments || "{}" }));
  return { text, reasoning, signature, calls: written, reason, usage };
}

/** The same of an assembled choice. */
function told({ message, native_finish_reason: reason }: Json, usage: unknown): Recorded {
  const { content, reasoning_content = "", reasoning_details, tool_calls } = message as Record<string, unknown>;
  const calls = (Array.isArray(tool_calls) ? tool_calls : []) as readonly Record<string, Record<string, string>>[];
  const [detail] = (Array.isArray(reasoning_details) ? reasoning_details : []) as readonly Record<string, string>[];
  const counted = isJson(usage) ? usage : {};
  return {
    text: (content ?? "") as string,
    reasoning: reasoning_content as string,
    signature: detail?.["signature"] ?? "",
    calls: calls.map(({ id, function: called }) => ({
      id: id as unknown as string,
      name: called!["name"]!,
      arguments: called!["arguments"]!,
    })),
    reason,
    usage: [counted["prompt_tokens"], counted["completion_tokens"]] as [number, number],
  };
}

describe.skipIf(!recorded)("recorded streams", () => {
  test.each(of(PAYLOADS, "bedrock"))("%s says what its recorded lines say", (name, { bytes }) => {
    const wire = WIRES.find((one) => name.endsWith(`/${one.name.replace(".bin", "")}`))!;
    const whole = decode([wire.bytes()]);
    expect(whole.done).toBe(true);
    const chunks = whole.events.map(({ data }) => data);
    expect(told(assemble(chunks), chunks.at(-1)!["usage"])).toEqual(read(payloadsOf(name)));
    // The frames of the recording hold those very lines.
    expect(decode([bytes()])).toEqual(whole);
  });
});

describe.skipIf(!recorded)("recorded bodies", () => {
  test.each(of(ANSWERS, "bedrock"))("%s", (name, { bytes }) => {
    const recorded = answerOf(name) as Record<string, never>;
    const { body, usage } = codec.answer(bytes(), chatCall({}));
    expect(usage).toEqual({
      prompt: recorded["usage"]!["inputTokens"],
      completion: recorded["usage"]!["outputTokens"],
      cached: 0,
      reasoning: 0,
      cacheWrite: 0,
    });
    const [choice] = body["choices"] as readonly Json[];
    const blocks = recorded["output"]!["message"]["content"] as readonly Record<string, never>[];
    const thoughts = blocks.flatMap(({ reasoningContent }) =>
      reasoningContent ? [reasoningContent["reasoningText"]] : [],
    );
    expect(told(choice!, body["usage"])).toEqual({
      text: blocks.map(({ text }) => text ?? "").join(""),
      reasoning: thoughts.map(({ text }) => text).join(""),
      signature: thoughts.map(({ signature }) => signature).join(""),
      calls: blocks.flatMap(({ toolUse }) =>
        toolUse
          ? [{ id: toolUse["toolUseId"], name: toolUse["name"], arguments: JSON.stringify(toolUse["input"]) }]
          : [],
      ),
      reason: recorded["stopReason"],
      usage: [recorded["usage"]!["inputTokens"], recorded["usage"]!["outputTokens"]],
    });
    expect(choice!["finish_reason"]).toBe(recorded["stopReason"] === "tool_use" ? "tool_calls" : "stop");
  });
});
