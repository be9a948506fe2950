import { describe, expect, test } from "vitest";
import { anthropic } from "../../../../src/dialects/messages/index.ts";
import { readResponses } from "../../../../src/dialects/responses/client/request.ts";
import { responsesFormat } from "../../../../src/dialects/responses/client/format.ts";
import type { AnswerCodec } from "../../../../src/dialects/dialect.ts";
import { isJson, type Json, type Target } from "../../../../src/kit/index.ts";
import { answerOf, framed, linesOf, recorded, recordedBytes } from "../../recordings.ts";
import { contract } from "./contract.ts";
import { assemble, BILL, essence, EXTRAS, faults, frames, request } from "./support.ts";

/* Across the canonical middle: a provider's recording to the client, and what the client sends back to the provider. */

const check = contract();
const codec = anthropic.codecs.chat as AnswerCodec;
const target = { upstream: "a", model: "claude", weight: 1, contextWindow: null, features: [] } as unknown as Target;
const TOOLS = { tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} } }] };
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

describe.skipIf(!recorded)("anthropic", () => {
  const RECORDINGS = ["text", "tool-no-args", "clear-thinking.1"].map((name) => `anthropic/anthropic-${name}`);
  const call = readResponses(request({ stream: true }));

  /** The output of a recording, streamed and whole. */
  function outputs(name: string): readonly [readonly Json[], readonly Json[]] {
    const decoder = codec.decoder!(call);
    const events = [...decoder.feed(framed("anthropic", linesOf(name))), ...decoder.finish()];
    expect([decoder.fault, decoder.complete]).toEqual([null, true]);
    const { stream } = responsesFormat(call);
    const all = frames(events.map((event) => stream.event(event)).join("") + stream.done(BILL));
    expect(faults(check, all)).toEqual([]);
    const { output } = all.at(-1)!["response"] as Json;
    expect(essence(assemble(all))).toEqual(essence(output));
    const { body: answer } = codec.answer(recordedBytes(`${name}.json`), call);
    const whole = JSON.parse(responsesFormat(call).answer(answer, EXTRAS)) as Json;
    expect(check("Response", whole)).toEqual([]);
    return [list(output), list(whole["output"])];
  }

  test.each(RECORDINGS)("%s: streamed and whole it has the same kinds of items", (name) => {
    const [streamed, whole] = outputs(name);
    expect(streamed.map(({ type }) => type)).toEqual(whole.map(({ type }) => type));
    expect(streamed.length).toBeGreaterThan(0);
  });

  test.each(RECORDINGS)("%s: the next request has its blocks again, signatures and all", (name) => {
    const original = answerOf(name);
    const [, whole] = outputs(name);
    const answers = whole
      .filter(({ type }) => type === "function_call")
      .map(({ call_id }) => ({ type: "function_call_output", call_id, output: "ok" }));
    const next = readResponses(
      request({
        ...TOOLS,
        input: [{ role: "user", content: "hi" }, ...whole, ...answers, { role: "user", content: "go on" }],
      }),
    );
    const { body, dropped = [] } = codec.request(next, target, "k");
    const { messages } = JSON.parse(body as string) as Json;
    const turn = list(messages).find(({ role }) => role === "assistant");
    const essential = (blocks: unknown) =>
      list(blocks).map(({ type, text, thinking, signature, id, name, input }) => ({
        type,
        text,
        thinking,
        signature,
        id,
        name,
        input,
      }));
    const content = turn?.["content"];
    expect(essential(typeof content === "string" ? [{ type: "text", text: content }] : content)).toEqual(
      essential(original["content"]),
    );
    expect(dropped).toEqual([]);
  });
});
