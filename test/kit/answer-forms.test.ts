import { describe, expect, test } from "vitest";
import { readChat } from "../../src/dialects/chat/client.ts";
import { answerOfEvents, eventsOfAnswer, isJson, type Json, type Usage } from "../../src/kit/index.ts";
import { assemble } from "../dialects/assemble.ts";
import { expectCanonical } from "../dialects/chat/rules.ts";
import { decodeWith } from "../dialects/decode.ts";
import { ANSWERS, codecFor, of, PAYLOADS, recorded, WIRES } from "../dialects/recordings.ts";
import { chunk } from "../support/source.ts";
import { completion, USAGE } from "../support/upstream.ts";

const CALL = readChat({ model: "route/a", messages: [{ role: "user", content: "hi" }], stream: true });

const objects = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

function plainCall({ index: _index, extra_content: extra, ...call }: Json): Json {
  const { arguments: _arguments, ...own } = isJson(extra) ? extra : {};
  return { ...call, ...(isJson(extra) && { extra_content: own }) };
}

/** Without what a stream has no place for: nulls, and probabilities, which it tells with their tokens. */
function said(choice: Json | undefined): Json {
  const { message, logprobs: _logprobs, ...ending } = choice ?? {};
  const { tool_calls: calls, ...fields } = message as Json;
  // Some providers number the calls of complete answers, too; the assembled ones have arguments in every object.
  const plain: Json = Array.isArray(calls) ? { tool_calls: objects(calls).map(plainCall) } : {};
  const given = Object.entries({ ...fields, ...plain }).filter(
    ([, value]) => value !== null && value !== undefined && value !== "",
  );
  return { ...ending, message: Object.fromEntries(given) as Json };
}

describe.skipIf(!recorded)("recorded", () => {
  test.each(of([...PAYLOADS, ...WIRES]))("stream %s: makes the answer that a client puts together", (_, one) => {
    const { events } = decodeWith(codecFor(one).decoder!(CALL), [one.bytes()]);
    const answer = answerOfEvents(events)!;
    expect(said(objects(answer["choices"])[0])).toEqual(said(assemble(events.map(({ data }) => data))));
    const again = eventsOfAnswer(answer, USAGE)!;
    expectCanonical(again);
    expect(answerOfEvents(again)).toEqual(answer);
  });

  test.each(of(ANSWERS))("answer %s: is the same as a stream, and back", (_, one) => {
    const { body } = codecFor(one).answer(one.bytes(), CALL);
    const events = eventsOfAnswer(body, USAGE)!;
    expectCanonical(events);
    const again = answerOfEvents(events)!;
    expect(objects(again["choices"]).map(said)).toEqual(objects(body["choices"]).map(said));
    expect(again["usage"]).toEqual(body["usage"]);
  });
});

test("what only one form has: none", () => {
  const native = { dialect: "responses" };
  expect(answerOfEvents([chunk({ content: "a" }), chunk({ native })])).toBeNull();
  expect(answerOfEvents([])).toBeNull();
  expect(eventsOfAnswer({ ...completion(USAGE), native }, USAGE)).toBeNull();
  expect(eventsOfAnswer({ choices: [{ index: 0, message: { role: "assistant", audio: {} } }] }, USAGE)).toBeNull();
  expect(eventsOfAnswer({ data: [] }, USAGE)).toBeNull();
});

test("several choices, and the probabilities of their tokens", () => {
  const logprobs = { content: [{ token: "a", logprob: 0 }], refusal: null };
  const choice = (index: number): Json => ({
    index,
    message: { role: "assistant", content: `${index}` },
    finish_reason: "stop",
    logprobs,
  });
  const body = { id: "x", object: "chat.completion", choices: [choice(0), choice(1)] };
  const usage: Usage = { prompt: 1, completion: 2, cached: 0, reasoning: 0 };
  expect(answerOfEvents(eventsOfAnswer(body, usage)!)).toEqual(body);
});
