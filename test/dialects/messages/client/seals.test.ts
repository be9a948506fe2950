import { describe, expect, test } from "vitest";
import type { Json, StreamEvent } from "../../../../src/kit/index.ts";
import { args, assembled, begun, chunk, finish, frames, said, written } from "./support.ts";

const seal = (data: string): StreamEvent => chunk({ reasoning_details: [{ type: "reasoning.encrypted", data }] });
const content = (...events: readonly StreamEvent[]): readonly Json[] => assembled(frames(written(events))).content;
const text = (text: string): Json => ({ type: "text", text });
const redacted = (data: string): Json => ({ type: "redacted_thinking", data });

/** Coding agents take the last block of an answer for what it says. */
describe("encrypted reasoning behind a text", () => {
  test("is left out where the answer ends with it", () => {
    expect(content(said("Done."), seal("A"), seal("B"), finish("stop"))).toEqual([text("Done.")]);
  });

  test("is kept where a tool is called next, before the call", () => {
    const answer = content(said("I look."), seal("A"), begun(0, "look"), args(0, "{}"), finish("tool_calls"));
    expect(answer).toEqual([
      text("I look."),
      redacted("A"),
      { type: "tool_use", id: "call_0", name: "look", input: {} },
    ]);
  });

  test("is kept where more is said", () => {
    expect(content(said("a"), seal("A"), said("b"), finish("stop"))).toEqual([text("a"), redacted("A"), text("b")]);
  });

  test("is kept where the answer did not end by itself", () => {
    expect(content(said("a"), seal("A"), finish("length"))).toEqual([text("a"), redacted("A")]);
  });

  test("is kept where nothing was said", () => {
    expect(content(seal("A"), finish("stop"))).toEqual([redacted("A")]);
  });
});
