import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FEW_RUNS } from "../../properties/runs.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { readResponses } from "../../../src/dialects/responses/client/request.ts";
import { responsesFormat } from "../../../src/dialects/responses/client/format.ts";
import type { Call, Json, Usage } from "../../../src/kit/index.ts";
import { assemble } from "../assemble.ts";
import { cutAt, cuts } from "../decode.ts";
import { contract } from "./client/contract.ts";
import { BILL, EXTRAS, assemble as assembleItems, essence, faults, frames, request } from "./client/support.ts";
import { casesIn, decoded, framed, sent } from "./support.ts";

/** A stream of a Responses upstream, in the shape that `shape` names. */
interface StreamCase {
  readonly shape: string;
  readonly events: readonly Json[];
  readonly tools?: { readonly chat: readonly Json[]; readonly responses: readonly Json[] };
  /** The canonical message without its role; of none for a stream that is no answer. */
  readonly message?: Json;
  readonly logprobs?: Json;
  readonly finish?: string;
  readonly usage?: Usage;
  readonly fault?: Json;
  readonly cut?: true;
  /** Items are told under other ids than in the whole answer. */
  readonly idsDiffer?: true;
}

const CASES = casesIn("streams") as readonly (readonly [string, StreamCase])[];
const ANSWERS = CASES.filter(([, { message }]) => message !== undefined);
const check = contract();
const chat = ({ tools }: StreamCase, stream = true): Call =>
  readChat({
    model: "route/a",
    messages: [{ role: "user", content: "hi" }],
    ...(tools && { tools: tools.chat }),
    stream,
  });
const native = ({ tools }: StreamCase): Call =>
  readResponses(request({ stream: true, ...(tools && { tools: tools.responses }) }));
const response = ({ events }: StreamCase): Json => events.at(-1)!["response"] as Json;
const list = (value: unknown): readonly Json[] => (value ?? []) as readonly Json[];

test.each(CASES)("%s: the same wherever its bytes are cut", (_, one) => {
  const bytes = framed(one.events);
  for (const call of [chat(one), native(one)]) {
    const whole = decoded(call, [bytes]);
    expect(isDeepStrictEqual(decoded(call, cutAt(bytes, [...bytes.keys()].slice(1))), whole)).toBe(true);
    fc.assert(
      fc.property(cuts(bytes), (places) => isDeepStrictEqual(decoded(call, cutAt(bytes, places)), whole)),
      { numRuns: FEW_RUNS },
    );
  }
});

describe.each(ANSWERS)("%s", (_, one) => {
  const { message, finish, usage, logprobs } = one;

  test("streamed: the canonical answer", () => {
    const { events, fault, complete } = decoded(chat(one), [framed(one.events)]);
    expect([fault, complete]).toEqual([null, true]);
    const choice = assemble(events.map(({ data }) => data));
    const said = choice["message"] as Json;
    // In a stream a text that is not said and one that is empty are the same.
    expect({ ...said, content: said["content"] || null }).toEqual({ role: "assistant", ...message });
    expect(choice["finish_reason"]).toBe(finish);
    expect(events.flatMap((event) => event.usage ?? [])).toEqual([usage]);
    const text = JSON.stringify(events.map(({ data }) => data));
    expect(text).toContain(logprobs ? JSON.stringify(logprobs) : "");
    // Nothing that is only for clients of the same format.
    expect(text).not.toContain('"native"');
    expect(events.at(0)?.data).toMatchObject({ id: "resp_1", object: "chat.completion.chunk", created: 1765552659 });
  });

  test("whole: the same answer", () => {
    const call = chat(one, false);
    const bytes = new TextEncoder().encode(JSON.stringify(response(one)));
    const answered = sent(call).form!.answer(bytes, call);
    expect(answered.usage).toEqual(usage);
    expect(answered.body["choices"]).toEqual([
      { index: 0, message: { role: "assistant", ...message }, ...(logprobs && { logprobs }), finish_reason: finish },
    ]);
  });

  test("to a client of the same format: its items, each with its id and all of its fields", () => {
    const call = native(one);
    const { events } = decoded(call, [framed(one.events)]);
    const format = responsesFormat(call).stream;
    const all = frames(events.map((event) => format.event(event)).join("") + format.done(BILL));
    const last = all.at(-1)!["response"] as Json;
    expect(last).toMatchObject({ status: response(one)["status"], model: "route/a", store: false });
    expect(last["incomplete_details"]).toEqual(response(one)["incomplete_details"]);
    const own = list(response(one)["output"]);
    expect(compared(last["output"], one)).toEqual(compared(own, one));
    expect(compared(assembleItems(all.filter(({ type }) => !type.includes("web_search"))), one)).toEqual(
      compared(own, one),
    );
    expect(faults(check, all)).toEqual([]);
  });

  test("whole, to a client of the same format: the very same items", () => {
    const call = native(one);
    const bytes = new TextEncoder().encode(JSON.stringify(response(one)));
    const { body } = sent(call).form!.answer(bytes, call);
    const got = JSON.parse(responsesFormat(call).answer(body, EXTRAS)) as Json;
    expect(unsealed(got["output"])).toEqual(unsealed(response(one)["output"]));
    expect(check("Response", got)).toEqual([]);
  });
});

test.each(CASES.filter(([, { fault }]) => fault !== undefined))("%s: the fault", (_, one) => {
  const { fault, complete } = decoded(chat(one), [framed(one.events)]);
  expect([fault, complete]).toEqual([one.fault, false]);
});

test.each(CASES.filter(([name]) => /^fault-(?!midway)/.test(name)))("%s: nothing was committed", (_, one) => {
  for (const call of [chat(one), native(one)]) expect(decoded(call, [framed(one.events)]).events).toEqual([]);
});

test("a stream without its ending is cut, whatever of it was there", () => {
  const [, one] = CASES.find(([name]) => name === "cut")!;
  const { events, fault, complete } = decoded(chat(one), [framed(one.events)]);
  expect([fault, complete]).toEqual([null, false]);
  expect((assemble(events.map(({ data }) => data))["message"] as Json)["content"]).toBe("Hello there");
});

test("what a plugin has changed of an answer is shown changed", () => {
  const [, one] = CASES.find(([name]) => name === "phases")!;
  const call = native(one);
  const bytes = new TextEncoder().encode(JSON.stringify(response(one)));
  const { body } = sent(call).form!.answer(bytes, call);
  const [choice] = list(body["choices"]);
  const changed = { ...body, choices: [{ ...choice, message: { role: "assistant", content: "[name]" } }] };
  const got = JSON.parse(responsesFormat(call).answer(changed, EXTRAS)) as Json;
  expect(JSON.stringify(got["output"])).toContain("[name]");
  expect(JSON.stringify(got["output"])).not.toContain("look it up");
});

/** Encrypted reasoning comes under a mark of the gateway's. */
function unsealed(output: unknown): readonly Json[] {
  return list(output).map((item) => {
    const { encrypted_content: sealed } = item;
    if (typeof sealed !== "string" || !sealed.startsWith("rgr1.")) return item;
    const details = JSON.parse(Buffer.from(sealed.slice(5), "base64url").toString()) as readonly Json[];
    return { ...item, encrypted_content: details.find(({ type }) => type === "reasoning.encrypted")!["data"] };
  });
}

function compared(output: unknown, { idsDiffer }: StreamCase): unknown {
  return essence(output).map((item) => (idsDiffer ? { ...item, id: "" } : item));
}
