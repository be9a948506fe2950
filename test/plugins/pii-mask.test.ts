import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import piiMask from "../../plugins/pii-mask.ts";
import { type Call, dataText, type Json, readDataUrl } from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";
import { Bench } from "../support/bench.ts";
import { testExchange } from "../support/exchange.ts";
import { deepFreeze, testSnapshot } from "../support/snapshot.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { completion, USAGE } from "../support/upstream.ts";
import { pluginHost, setUp } from "./harness.ts";

type Options = Parameters<typeof piiMask.setup>[0];

const snapshot = testSnapshot();
const host = await pluginHost({ snapshot });

async function maskedBody(body: Json, options: Options = {}, more: Partial<Call> = {}): Promise<Call> {
  const hooks = await setUp(piiMask, options, host);
  const exchange = testExchange(snapshot);
  return hooks.transform!(deepFreeze({ ...exchange.call, body, ...more }), exchange);
}

async function masked(text: string, options: Options = {}): Promise<unknown> {
  const { body } = await maskedBody({ messages: [{ role: "user", content: text }] }, options);
  return (body["messages"] as readonly Json[])[0]?.["content"];
}

const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${"aA0+/=\n".repeat(40)}-----END RSA PRIVATE KEY-----`;

function inlined(type: string, text: string): string {
  return `data:${type};base64,${Buffer.from(text).toString("base64")}`;
}

/** Text under other heads, as clients write them. */
const TEXT_HEADS = [
  "data:text/plain;charset=us-ascii;base64,",
  "DATA:Text/CSV; charset=UTF-8; base64,",
  "data:application/json;base64,",
  "data:,",
  "data:text/plain,",
];

function documents(text: string): readonly Json[] {
  return [
    { type: "file", file: { file_data: inlined("text/plain", text), filename: "a" } },
    { type: "file", file: { file_data: inlined("application/pdf", "ann@example.com") } },
    { type: "native", block: { source: { type: "text", data: text } } },
    { type: "native", block: { source: { type: "base64", data: "ann@example.com" } } },
  ];
}

function thought(text: string): Json {
  return {
    role: "assistant",
    reasoning_content: text,
    reasoning_details: [{ type: "reasoning.text", text, signature: "s" }],
  };
}

describe("what is masked", () => {
  test.each<readonly [string, string]>([
    ["Ann <ann.o'neil+x@mail.example.com>, bob@example.org.", "Ann <[EMAIL_1]>, [EMAIL_2]."],
    ["ann@example.com and ann@example.com", "[EMAIL_1] and [EMAIL_1]"],
    ["jürgen@bücher.example", "[EMAIL_1]"],
    ["@decorator a@b user@localhost", "@decorator a@b user@localhost"],
    ["+49 (0)30 1234-5678 or 0049 30 12345678", "[PHONE_1] or [PHONE_2]"],
    ["(555) 234-5678, 555-234-5678, 1 555 234 5678", "[PHONE_1], [PHONE_2], [PHONE_3]"],
    ["030 1234567, 0171/2345678", "[PHONE_1], [PHONE_2]"],
    ["2024-01-15 12:30:45, 01-2024, 1763887469000, 12345678", "2024-01-15 12:30:45, 01-2024, 1763887469000, 12345678"],
    ["DE89 3704 0044 0532 0130 00 AND GB82WEST12345698765432.", "[IBAN_1] AND [IBAN_2]."],
    ["GB83WEST12345698765432, DE89", "GB83WEST12345698765432, DE89"],
    ["4111 1111 1111 1111, 4111-1111-1111-1112, 378282246310005", "[CARD_1], 4111-1111-1111-1112, [CARD_2]"],
    ["4111 1111 1111 1111 12/27, 4111-1111-1111-1111 123", "[CARD_1] 12/27, [CARD_2] 123"],
    ["4111 1111 1111 1112 12/27, 41111111111111111", "4111 1111 1111 1112 12/27, 41111111111111111"],
    ["10.0.0.1, 256.1.1.1, 1.2.3.4.5, 10.0.0.1.", "[IP_1], 256.1.1.1, 1.2.3.4.5, [IP_1]."],
    ["fe80::1ff:fe23:4567:890a std::vector a::b 12:30:45 2001:db8::1", "[IP_1] std::vector a::b 12:30:45 [IP_2]"],
    [`key sk-proj-${"a1".repeat(20)}, AKIAIOSFODNN7EXAMPLE`, "key [KEY_1], [KEY_2]"],
    ["sk-short, task-1234567890abcdefghij", "sk-short, task-1234567890abcdefghij"],
    ["[EMAIL_1] is not ann@example.com", "[EMAIL_1] is not [EMAIL_2]"],
  ])("%j", async (text, expected) => {
    expect(await masked(text)).toBe(expected);
  });

  test("a private key, as a whole", async () => {
    expect(await masked(`${PEM}\n`)).toBe("[KEY_1]\n");
  });

  test("the kinds that are asked for", async () => {
    expect(await masked("ann@example.com 10.0.0.1", { kinds: ["ip"] })).toBe("ann@example.com [IP_1]");
  });

  test("in every place that an upstream reads, the same value alike", async () => {
    const call = await maskedBody({
      model: "a@b.example",
      user: "ann@example.com",
      messages: [
        { role: "system", content: [{ type: "text", text: "ann@example.com" }] },
        {
          role: "assistant",
          tool_calls: [{ id: "a@b.example", function: { arguments: '{"to": "ann@example.com"}' } }],
        },
        { role: "tool", tool_call_id: "a@b.example", content: "bob@example.com" },
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://x/?a@b.example" } }] },
      ],
    });
    expect(call.body).toEqual({
      model: "a@b.example",
      user: "[EMAIL_1]",
      messages: [
        { role: "system", content: [{ type: "text", text: "[EMAIL_1]" }] },
        { role: "assistant", tool_calls: [{ id: "a@b.example", function: { arguments: '{"to": "[EMAIL_1]"}' } }] },
        { role: "tool", tool_call_id: "a@b.example", content: "[EMAIL_2]" },
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://x/?a@b.example" } }] },
      ],
    });
  });

  test("what a call has beside its body: fields of the client's dialect, and its own request", async () => {
    const messages = [{ role: "user", content: "ann@example.com" }];
    const more = {
      native: { note: "bob@example.com" },
      request: { input: "ann@example.com" },
      canonical: { messages },
    };
    const call = await maskedBody({ messages }, {}, more);
    expect(call).toMatchObject({
      body: { messages: [{ content: "[EMAIL_1]" }] },
      native: { note: "[EMAIL_2]" },
      request: { input: "[EMAIL_1]" },
      canonical: { messages: [{ content: "[EMAIL_1]" }] },
    });
  });

  test("documents of plain text, inlined or in the client's own form, and no others", async () => {
    const { body } = await maskedBody({ messages: [{ role: "user", content: documents("ann@example.com") }] });
    expect(body["messages"]).toEqual([{ role: "user", content: documents("[EMAIL_1]") }]);
  });

  test.each(TEXT_HEADS)("a document of text that begins with %s", async (head) => {
    const text = "mail ann@example.com";
    const file_data =
      head + (head.includes("base64") ? Buffer.from(text).toString("base64") : encodeURIComponent(text));
    const call = await maskedBody({ messages: [{ role: "user", content: [{ type: "file", file: { file_data } }] }] });
    const [, sent] = /"file_data":"([^"]*)"/.exec(JSON.stringify(call.body))!;
    expect(dataText(readDataUrl(sent!)!)).toBe("mail [EMAIL_1]");
  });

  test("a signed thought goes back as it was made: masked what was masked then, and nothing else", async () => {
    const { body } = await maskedBody({
      messages: [{ role: "user", content: "ann@example.com" }, thought("ann@example.com, not eve@example.com")],
    });
    expect((body["messages"] as readonly Json[])[1]).toEqual(thought("[EMAIL_1], not eve@example.com"));
  });

  test("no text takes long", async () => {
    const startedAt = process.cpuUsage();
    for (const part of [
      "a",
      "a.",
      "a@",
      "1",
      "1 ",
      "1.",
      "a:",
      "+1",
      "a@a.",
      "DE89 ",
      "sk-",
      "eyJ",
      "-----BEGIN PRIVATE KEY-----",
      "0",
      "[",
    ]) {
      await masked(part.repeat(200_000 / part.length));
    }
    expect(process.cpuUsage(startedAt).user / 1000).toBeLessThan(20_000);
  });

  test("nothing: the call is the very same, and answers are not looked at", async () => {
    const hooks = await setUp(piiMask, {}, host);
    const exchange = testExchange(snapshot);
    expect(await hooks.transform!(exchange.call, exchange)).toBe(exchange.call);
    expect(hooks.stream!(exchange)).toBeNull();
    const body = { choices: [{ message: { content: "[EMAIL_1]" } }] };
    expect(await hooks.response!(body, exchange)).toBe(body);
  });
});

const VALUES = ["ann@example.com", "+49 30 12345678", "4111 1111 1111 1111", "10.0.0.1", PEM, "GB82WEST12345698765432"];
const PARTS = fc.array(
  fc.oneof(
    fc.constantFrom(...VALUES, "[EMAIL_1]", "[EMAIL_", "[", "]", '"', "\\", "\n", "é", "\u{1f4a3}"),
    fc.string({ maxLength: 8 }),
  ),
  { maxLength: 8 },
);
const SIZES = fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 30 });

function pieces(text: string, sizes: readonly number[]): string[] {
  const list: string[] = [];
  let at = 0;
  for (const size of sizes) {
    list.push(text.slice(at, at + size));
    at += size;
  }
  return [...list, text.slice(at)].filter((piece) => piece !== "");
}

interface Delta {
  readonly content?: string;
  readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[];
}

async function bench(): Promise<Bench> {
  return Bench.create({ pipeline: ["auth", "breaker", "pii-mask", "stream-relay", "meter"] });
}

describe("an answer that repeats what the upstream read", () => {
  test("is what the client wrote, in whatever pieces it streams, in words and arguments", async () => {
    const masking = await bench();
    await fc.assert(
      fc.asyncProperty(PARTS, SIZES, async (parts, sizes) => {
        const text = parts.join(" ").toWellFormed();
        masking.upstream.play((target, { body }) => {
          const read = String((body["messages"] as readonly Json[])[0]?.["content"]);
          const source = new FakeSource();
          for (const content of pieces(read, sizes)) source.emit(chunk({ content }));
          for (const part of pieces(JSON.stringify({ text: read }), sizes)) {
            source.emit(chunk({ tool_calls: [{ index: 0, id: "c", function: { arguments: part } }] }));
          }
          return { type: "events", target, source: source.emit(chunk({}, { finish: "stop" })).finish() };
        });
        const { client, done } = masking.stream({ body: { messages: [{ role: "user", content: text }] } });
        await done;
        const deltas = client.text
          .split("\n\n")
          .filter((line) => line.startsWith("data: {"))
          .flatMap((line) => (JSON.parse(line.slice("data: ".length)) as { choices: readonly Json[] }).choices)
          .map(({ delta }) => delta as Delta);
        expect(deltas.map(({ content = "" }) => content).join("")).toBe(text);
        const written = deltas.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function.arguments));
        expect(JSON.parse(written.join(""))).toEqual({ text });
      }),
      { numRuns: Math.ceil(RUNS / 3) },
    );
    await masking.audit();
  });

  test("is what the client wrote, complete", async () => {
    const masking = await bench();
    await fc.assert(
      fc.asyncProperty(PARTS, async (parts) => {
        const text = parts.join(" ").toWellFormed();
        masking.upstream.play((target, { body }) => {
          const read = String((body["messages"] as readonly Json[])[0]?.["content"]);
          const calls = [
            { id: "c", type: "function", function: { name: "f", arguments: JSON.stringify({ text: read }) } },
          ];
          const message = { role: "assistant", content: read, tool_calls: calls };
          const choices = [{ index: 0, message, finish_reason: "stop" }];
          return { type: "answer", target, usage: USAGE, body: { ...completion(USAGE), choices } };
        });
        const client = await masking.serve({ body: { messages: [{ role: "user", content: text }] } });
        const { choices } = JSON.parse(client.answered?.body ?? "") as {
          choices: readonly { message: Json & Delta }[];
        };
        const { content, tool_calls: calls } = choices[0]!.message;
        expect(content).toBe(text);
        expect(JSON.parse(calls![0]!.function.arguments)).toEqual({ text });
      }),
      { numRuns: Math.ceil(RUNS / 3) },
    );
    await masking.audit();
  });

  test("knows nothing of another exchange", async () => {
    const masking = await bench();
    masking.upstream.play((target) => ({
      type: "answer",
      target,
      usage: USAGE,
      body: { ...completion(USAGE), choices: [{ message: { content: "[EMAIL_1]" } }] },
    }));
    const first = await masking.serve({ body: { messages: [{ role: "user", content: "ann@example.com" }] } });
    expect(first.answered?.body).toContain("ann@example.com");
    expect((await masking.serve()).answered?.body).toContain("[EMAIL_1]");
  });

  test("a conversation that goes on is masked as before", async () => {
    const turns = [
      { role: "user", content: "ann@example.com, 10.0.0.1" },
      { role: "assistant", content: "ann@example.com" },
    ];
    const first = (await maskedBody({ messages: turns.slice(0, 1) })).body["messages"] as readonly Json[];
    const next = await maskedBody({ messages: [...turns, { role: "user", content: "bob@example.com" }] });
    expect((next.body["messages"] as readonly Json[]).slice(0, 1)).toEqual(first);
  });
});
