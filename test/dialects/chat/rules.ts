import { expect } from "vitest";
import { isJson, type Json, type StreamEvent } from "../../../src/kit/index.ts";

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const objects = (value: unknown): readonly Json[] => list(value).filter(isJson);

const FINISHES = ["stop", "length", "tool_calls", "content_filter", "function_call"];

/**
 * What every canonical stream keeps, whatever upstream it came from.
 * @param ordered whether the upstream ended its choices where they end: what comes later is passed on, not lost.
 */
export function expectCanonical(events: readonly StreamEvent[], ordered = true): void {
  const chunks = events.map(({ data }) => data);
  expect(new Set(chunks.map(({ id }) => id)).size).toBeLessThanOrEqual(1);
  expect(new Set(chunks.map(({ created }) => created)).size).toBeLessThanOrEqual(1);
  for (const { object, x_groq } of chunks) {
    expect(object).toBe("chat.completion.chunk");
    expect(isJson(x_groq) && "usage" in x_groq).toBe(false);
  }
  const counted = chunks.filter(({ usage }) => usage !== undefined && usage !== null);
  expect(counted).toEqual(counted.length === 0 ? [] : chunks.slice(-1));
  expect(counted.flatMap(({ choices }) => choices)).toEqual([]);
  for (const { data, raw } of events) expect(raw === undefined ? data : JSON.parse(raw)).toEqual(data);
  const choices = chunks.flatMap((chunk) => objects(chunk["choices"]));
  for (const index of new Set(choices.map((choice) => choice["index"]))) {
    expect(index).toEqual(expect.any(Number));
    expectCanonicalChoice(
      choices.filter((choice) => choice["index"] === index),
      ordered,
    );
  }
}

function expectCanonicalChoice(choices: readonly Json[], ordered: boolean): void {
  const deltas = choices.map(({ delta }) => delta as Json);
  expect(deltas[0]?.["role"]).toBe("assistant");
  for (const [position, delta] of deltas.entries()) {
    expect(delta["role"] ?? "assistant").toBe("assistant");
    expect(delta).not.toHaveProperty("reasoning");
    const nulls = Object.entries(delta).filter(([, value]) => position > 0 && value === null);
    expect(nulls).toEqual([]);
    for (const name of ["content", "reasoning_content"]) expect(delta[name] ?? "").toEqual(expect.any(String));
  }
  const finishes = choices.map((choice) => choice["finish_reason"]);
  for (const finish of finishes) expect(finish).not.toBeUndefined();
  const ends = finishes.filter((finish) => finish !== null);
  expect(ends.length).toBeLessThanOrEqual(1);
  expect(ordered && ends.length > 0 ? finishes.at(-1) : ends[0]).toBe(ends[0]);
  for (const finish of ends) expect(FINISHES).toContain(finish);
  expectCanonicalCalls(
    deltas.flatMap((delta) => objects(delta["tool_calls"])),
    ordered ? ends[0] : undefined,
  );
}

function expectCanonicalCalls(calls: readonly Json[], finish: unknown): void {
  const begun: Json[] = [];
  for (const call of calls) {
    const { index, id, type, function: called, custom } = call;
    if (id === undefined) {
      expect(begun[Number(index)]).toBeDefined();
      expect(called ?? custom).toEqual({ [custom ? "input" : "arguments"]: expect.any(String) });
      expect(type).toBeUndefined();
      continue;
    }
    expect([index, type]).toEqual([begun.length, custom ? "custom" : "function"]);
    const texts = { name: expect.stringMatching(/./), [custom ? "input" : "arguments"]: expect.any(String) };
    expect(called ?? custom).toMatchObject(texts);
    begun.push(call);
  }
  const ids = begun.map(({ id }) => id);
  expect(ids.every((id) => typeof id === "string" && id !== "")).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect([begun.length > 0, finish]).not.toEqual([true, "stop"]);
}
