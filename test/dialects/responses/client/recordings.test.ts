import { describe, expect, test } from "vitest";
import { chat } from "../../../../src/dialects/chat/index.ts";
import { isJson, type Json } from "../../../../src/kit/index.ts";
import { decode } from "../../decode.ts";
import { ANSWERS, of, PAYLOADS, payloadsOf, recorded } from "../../recordings.ts";
import { contract } from "./contract.ts";
import { answer, assemble, essence, faults, frames, stream, words } from "./support.ts";

const check = contract();
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

describe.skipIf(!recorded)("recorded streams", () => {
  test.each(of(PAYLOADS, "openai"))("%s", (name, { bytes }) => {
    const { events } = decode([bytes()]);
    const all = frames(stream(events));
    expect(faults(check, all)).toEqual([]);
    const response = all.at(-1)!["response"] as Json;
    expect(essence(assemble(all))).toEqual(essence(response["output"]));

    const deltas = payloadsOf(name)
      .flatMap((payload) => list(payload["choices"]))
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

describe.skipIf(!recorded)("recorded bodies", () => {
  test.each(of(ANSWERS, "openai"))("%s", (_, { bytes }) => {
    const { body, usage } = chat.answer(bytes());
    const got = answer(body);
    expect(check("Response", got)).toEqual([]);
    expect(list(got["output"]).length).toBeGreaterThan(0);
    expect(got["usage"]).toMatchObject({ input_tokens: usage?.prompt, output_tokens: usage?.completion });
  });
});
