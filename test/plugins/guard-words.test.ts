import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import guardWords from "../../plugins/guard-words.ts";
import type { Json, StreamEvent } from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";
import { Bench } from "../support/bench.ts";
import { testExchange } from "../support/exchange.ts";
import { deepFreeze, testSnapshot } from "../support/snapshot.ts";
import { chunk, FakeSource } from "../support/source.ts";
import { answers, completion, streamsFrom, USAGE } from "../support/upstream.ts";
import { pluginHost, setUp } from "./harness.ts";

type Options = Parameters<typeof guardWords.setup>[0];

const snapshot = testSnapshot();
const host = await pluginHost({ snapshot });

async function asked(options: Options, body: Json): Promise<Json> {
  const hooks = await setUp(guardWords, options, host);
  const exchange = testExchange(snapshot, { body });
  return (await hooks.transform!(deepFreeze({ ...exchange.call }), exchange)).body;
}

async function masked(options: Omit<Options, "action">, text: string): Promise<unknown> {
  const body = await asked({ ...options, action: "mask" }, { messages: [{ role: "user", content: text }] });
  return (body["messages"] as readonly Json[])[0]?.["content"];
}

describe("words", () => {
  test.each<readonly [readonly string[], string, string]>([
    [["secret"], "A Secret, a SECRET; secretly no Secrets", "A ***, a ***; secretly no Secrets"],
    [["secret", "secret plan"], "the secret plan, the secret", "the ***, the ***"],
    [["top secret"], "top  \n secret, top-secret, topsecret", "***, top-secret, topsecret"],
    [["C++"], "C++, C++11 and (C++)", "***, ***11 and (***)"],
    [["über"], "Über den, überall", "*** den, überall"],
    [["a.b"], "a.b axb", "*** axb"],
    [["secret"], "se\u200bcr\u00adet", "***"],
    [["a b", "b c"], "a b c d", "*** d"],
    [["bc", "abcd"], "bc abcd abc", "*** *** abc"],
    [["ab", "abc", "a", "a b c"], "a ab abc abcd a b c", "*** *** *** abcd ***"],
    [["x"], "x x\u{1f4a3}x", "*** ***\u{1f4a3}***"],
    [["secret"], "ｓＥcret \u24e2ecret \u017fecret", "*** *** ***"],
    [["secret"], "s\u202eecret se\ufe0fcret sec\u034fret \u2066secret", "*** *** *** \u2066***"],
    [
      ["secret"],
      "se\u{e0041}cret sec\u{e0101}ret \u{1d173}secret s\u{1bca0}\u{e0020}\u{e007f}ecret",
      "*** *** \u{1d173}*** ***",
    ],
    [["\u{1d11e}a", "se\u{e0061}cret"], "\u{1d11e}a \u{1d11e}b secret", "*** \u{1d11e}b ***"],
    [["\u{1f468}\u200d\u{1f467}", "\u2764\ufe0f"], "\u{1f468}\u200d\u{1f467} \u2764\ufe0f \u2764", "*** ***\ufe0f ***"],
  ])("%j in %j", async (words, text, expected) => {
    expect(await masked({ words: [...words] }, text)).toBe(expected);
  });

  test("parts of words, where that is asked for", async () => {
    expect(await masked({ words: ["secret"], whole_words: false, replacement: "" }, "asecrets")).toBe("as");
  });
});

const isWord = (unit = ""): boolean => /[\p{L}\p{N}_]/u.test(unit);

/** The same, by looking at every place for every word. */
function naive(words: readonly string[], text: string): string {
  const spans: (readonly [start: number, end: number])[] = [];
  for (const word of words) {
    for (let start = 0; start + word.length <= text.length; start += 1) {
      const end = start + word.length;
      if (text.slice(start, end).toLowerCase() !== word.toLowerCase()) continue;
      const begins = !(isWord(text[start - 1]) && isWord(text[start]));
      if (begins && !(isWord(text[end - 1]) && isWord(text[end]))) spans.push([start, end]);
    }
  }
  const ordered = spans.toSorted(([a, b], [c, d]) => a - c || b - d);
  let written = "";
  let done = 0;
  for (const [start, end] of ordered) {
    if (start >= done) written += `${text.slice(done, start)}***`;
    done = Math.max(done, end);
  }
  return written + text.slice(done);
}

test("any words in any text are those that a look at every place finds", async () => {
  const unit = fc.constantFrom("a", "B", "ab", "+", "-", "é");
  const word = fc.array(unit, { minLength: 1, maxLength: 4 }).map((units) => units.join(""));
  const texts = fc.array(fc.oneof(unit, fc.constant(" ")), { maxLength: 20 }).map((units) => units.join(""));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(word, { minLength: 1, maxLength: 5 }), texts, async (words, text) => {
      expect(await masked({ words }, text)).toBe(naive(words, text));
    }),
    { numRuns: RUNS },
  );
});

describe("patterns", () => {
  test.each<readonly [string, string, string]>([
    [String.raw`\b\d{3}-\d{2}-\d{4}\b`, "123-45-6789, 0123-45-6789", "***, 0123-45-6789"],
    [String.raw`\bTICKET-\d{2,4}`, "TICKET-12345 ticket-1 XTICKET-12", "***5 ticket-1 XTICKET-12"],
    ["(?:ab|cd)?e", "abe cde e", "*** *** ***"],
    ["[^a-c]x", "ax dx", "ax ***"],
    [String.raw`\bab?c?\b`, "a ab ac abc abb xa", "*** *** *** *** abb xa"],
    [String.raw`a\.b|\u0041\x42\n?`, "a.b aB AB\n.", "*** *** ***."],
    ["(a(b|c)){2}", "abac abab ab", "*** *** ab"],
    [String.raw`\p{Lu}{3}`, "ABC", "***"],
    [String.raw`id-\d{2}`, "id-１2", "***"],
    ["[¹²]x", "²x 2x", "*** 2x"],
    ["\u{1f4a3}{2}!", "\u{1f4a3}! \u{1f4a3}\u{1f4a3}!", "\u{1f4a3}! ***"],
  ])("%s in %j", async (pattern, text, expected) => {
    expect(await masked({ patterns: [pattern] }, text)).toBe(expected);
  });

  test.each([
    "a*",
    "a+b",
    "a{2,}",
    "^a",
    "a$",
    "(?=a)b",
    "(?<=a)b",
    String.raw`(a)\1`,
    String.raw`a\bb`,
    "a{0,2}",
    "a{600}",
    "(a{500}){500}",
    "[a-z]{1,500}@",
    "(?:\\w{1,50}-?){1,8}z",
    "[\u{1f4a3}]",
    String.raw`[\u{1f4a3}]`,
    "(",
    "[",
  ])("%s is refused at setup", async (pattern) => {
    await expect(async () => setUp(guardWords, { patterns: [pattern] }, host)).rejects.toThrow(
      /unbounded time|no regular expression|where nothing is|more than \d+ char|too many|repeat too much|beyond U\+FFFF/,
    );
  });

  test("a text that would hold up a backtracking engine takes as many steps as it has characters", async () => {
    const patterns = ["(a|a){1,10}(a|a){1,10}(a|a){1,10}c", "(?:a?){1,10}a{10}c"];
    const startedAt = process.cpuUsage();
    expect(await masked({ patterns }, "a".repeat(20_000))).toBe("a".repeat(20_000));
    expect(process.cpuUsage(startedAt).user / 1000).toBeLessThan(10_000);
  });
});

describe("a request", () => {
  test("is refused before an upstream sees it", async () => {
    const bench = await guarded({ words: ["secret"] }, "quota");
    const client = await bench.serve({ body: { messages: [{ role: "user", content: "a secret" }] } });
    expect(client.refused?.error).toMatchObject({
      code: "INVALID_REQUEST",
      message: "Invalid request: it has words that are not allowed",
    });
    expect(bench.upstream.attempts).toEqual([]);
    expect(await bench.used()).toEqual({ day: 0, hour: 0, minute: 0 });
    await bench.audit();
  });

  test.each<readonly [string, Json, Json]>([
    ["system", { role: "system", content: "secret" }, { role: "system", content: "***" }],
    [
      "parts",
      {
        role: "user",
        content: [
          { type: "text", text: "secret" },
          { type: "image_url", image_url: { url: "secret" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "text", text: "***" },
          { type: "image_url", image_url: { url: "secret" } },
        ],
      },
    ],
    [
      "arguments, which stay JSON",
      {
        role: "assistant",
        tool_calls: [{ id: "secret", function: { name: "secret", arguments: '{ "a":"\\nsecret" }' } }],
      },
      {
        role: "assistant",
        tool_calls: [{ id: "secret", function: { name: "secret", arguments: '{ "a":"\\n***" }' } }],
      },
    ],
    [
      "but no signed thought",
      { role: "assistant", reasoning_content: "secret", reasoning_details: [{ text: "secret", signature: "x" }] },
      { role: "assistant", reasoning_content: "secret", reasoning_details: [{ text: "secret", signature: "x" }] },
    ],
  ])("masked: %s", async (_, message, expected) => {
    const body = await asked({ words: ["secret"], action: "mask" }, { messages: [message] });
    expect(body["messages"]).toEqual([expected]);
  });

  test("untouched where only answers are looked at, and the very same without a match", async () => {
    const hooks = await setUp(guardWords, { words: ["secret"], in: ["answer"] }, host);
    expect("transform" in hooks).toBe(false);
    const both = await setUp(guardWords, { words: ["secret"] }, host);
    const exchange = testExchange(snapshot);
    expect(await both.transform!(exchange.call, exchange)).toBe(exchange.call);
  });

  test("neither words nor patterns: refused at setup", async () => {
    await expect(async () => setUp(guardWords, {}, host)).rejects.toThrow(/neither/);
  });
});

async function guarded(options: Options, ...admit: readonly string[]): Promise<Bench> {
  return Bench.create({
    pipeline: ["auth", ...admit, "breaker", { use: "guard-words", options }, "stream-relay", "meter"],
  });
}

interface Written {
  readonly content: string;
  readonly reasoning: string;
  readonly arguments: string;
  readonly text: string;
}

/** What a client reads of a stream of these events. */
async function streamed(bench: Bench, events: readonly StreamEvent[]): Promise<Written> {
  const source = new FakeSource();
  for (const event of events) source.emit(event);
  bench.upstream.play(streamsFrom(source.emit(chunk({}, { finish: "stop" })).finish()));
  const { client, done } = bench.stream();
  await done;
  await bench.audit();
  const deltas = client.text
    .split("\n\n")
    .filter((line) => line.startsWith("data: {"))
    .flatMap((line) => (JSON.parse(line.slice("data: ".length)) as { choices?: readonly Json[] }).choices ?? [])
    .map(({ delta }) => delta as { content?: string; reasoning_content?: string; tool_calls?: readonly Call[] });
  return {
    content: deltas.map(({ content = "" }) => content).join(""),
    reasoning: deltas.map(({ reasoning_content: thoughts = "" }) => thoughts).join(""),
    arguments: deltas.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function.arguments)).join(""),
    text: client.text,
  };
}

interface Call {
  readonly function: { readonly arguments: string };
}

function pieces(text: string, sizes: readonly number[]): string[] {
  const list: string[] = [];
  let at = 0;
  for (const size of sizes) {
    list.push(text.slice(at, at + size));
    at += size;
  }
  return [...list, text.slice(at)].filter((piece) => piece !== "");
}

const SIZES = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 20 });
const TEXT = fc.array(
  fc.constantFrom("secret", "sec", "ret", " ", "a-12", "a-1", "2", "x", "é", "\u200b", "\u{1f4a3}"),
  {
    maxLength: 12,
  },
);

describe("an answer", () => {
  const options: Options = { words: ["secret"], patterns: [String.raw`a-\d{2}`], action: "mask" };

  test("reads the same in whatever pieces it comes, and as one that comes whole", async () => {
    const bench = await guarded(options);
    await fc.assert(
      fc.asyncProperty(TEXT, SIZES, async (parts, sizes) => {
        const text = parts.join("");
        const expected = await masked(options, text);
        const events = pieces(text, sizes).map((content) => chunk({ content }));
        expect((await streamed(bench, events)).content).toBe(expected);
        const thoughts = pieces(text, sizes).map((reasoning_content) => chunk({ reasoning_content }));
        expect((await streamed(bench, thoughts)).reasoning).toBe(expected);
      }),
      { numRuns: Math.ceil(RUNS / 5) },
    );
  });

  test("so do arguments, which stay JSON", async () => {
    const bench = await guarded(options);
    await fc.assert(
      fc.asyncProperty(TEXT, SIZES, async (parts, sizes) => {
        const text = parts.join("\n");
        const json = JSON.stringify({ a: [text], b: 7 });
        const events = pieces(json, sizes).map((piece, at) =>
          chunk({ tool_calls: [{ index: 0, ...(at === 0 && { id: "call_1" }), function: { arguments: piece } }] }),
        );
        const written = JSON.parse((await streamed(bench, events)).arguments) as Json;
        expect(written).toEqual({ a: [await masked(options, text)], b: 7 });
      }),
      { numRuns: Math.ceil(RUNS / 5) },
    );
  });

  test("refused: nothing of the word is sent, in whatever pieces it comes", async () => {
    const bench = await guarded({ words: ["secret"] });
    await fc.assert(
      fc.asyncProperty(SIZES, async (sizes) => {
        const events = pieces("this is a secret thing", sizes).map((content) => chunk({ content }));
        const { content, text } = await streamed(bench, events);
        expect("this is a ").toContain(content);
        expect(text).toContain("The answer has words that are not allowed");
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
    expect(bench.observer.finishes[0]?.outcome).toMatchObject({ kind: "refused", begun: true });
  });

  test("a complete one is masked or refused", async () => {
    const bench = await guarded({ words: ["world"], action: "mask" });
    bench.upstream.play(answers());
    expect((await bench.serve()).answered?.body).toContain("Hello ***");
    const refusing = await guarded({ words: ["world"] });
    refusing.upstream.play(answers());
    expect((await refusing.serve()).refused?.error).toMatchObject({ code: "INVALID_REQUEST" });
    await refusing.audit();
  });

  test("the probabilities of its tokens do not tell what is masked", async () => {
    const logprobs = { content: [{ token: "world", logprob: 0 }] };
    const bench = await guarded({ words: ["world"], action: "mask" });
    const body = completion(USAGE) as { choices: readonly Json[] };
    bench.upstream.play((target) => ({
      type: "answer",
      target,
      usage: USAGE,
      body: { ...body, choices: [{ ...body.choices[0], logprobs }] },
    }));
    expect((await bench.serve()).answered?.body).not.toContain("world");
    const { data, text } = chunk({ content: "world" });
    const [choice] = data["choices"] as readonly Json[];
    const event = { data: { ...data, choices: [{ ...choice, logprobs }] }, text };
    expect((await streamed(bench, [event])).text).not.toContain("world");
  });

  test("what is held back comes before what follows it", async () => {
    const bench = await guarded({ words: ["secret"], action: "mask" });
    const { text } = await streamed(bench, [
      chunk({ reasoning_content: "a sec" }),
      chunk({ content: "b sec" }),
      chunk({ tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "{}" } }] }),
    ]);
    const places = ["a ", '"sec"', "b ", "tool_calls", '"stop"'].map((part) => text.indexOf(part));
    expect(places.toSorted((a, b) => a - b)).toEqual(places);
    expect(text.match(/"sec"/g)).toHaveLength(2);
  });
});

describe("invisible characters", () => {
  const invisible = fc.constantFrom(
    "\u200b",
    "\u00ad",
    "\ufe0f",
    "\u{e0041}",
    "\u{e0101}",
    "\u{1d173}",
    "\u{1bca3}",
    "\u3164",
  );

  test("hide no word, wherever they stand and wherever a stream breaks", async () => {
    const hooks = await setUp(guardWords, { words: ["secret"], action: "mask" }, host);
    const places = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), invisible), { maxLength: 8 });
    const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(places, sizes, async (hidden, cuts) => {
        let word = "";
        for (const [at, unit] of "secret".split("").entries())
          word +=
            hidden
              .filter(([place]) => place === at)
              .map(([, one]) => one)
              .join("") + unit;
        const text = `a ${word} b`;
        const change = hooks.stream!(testExchange(snapshot))!;
        const units = text.split("");
        const events: StreamEvent[] = [];
        for (const size of [...cuts, text.length]) {
          const content = units.splice(0, size).join("");
          if (content !== "") events.push(...change.event(chunk({ content })));
        }
        events.push(...change.event(chunk({}, { finish: "stop" })), ...change.end!());
        expect(events.map((event) => event.text).join("")).toBe("a *** b");
        const body = await hooks.response!({ choices: [{ message: { content: text } }] }, testExchange(snapshot));
        expect(body).toEqual({ choices: [{ message: { content: "a *** b" } }] });
      }),
      { numRuns: Math.ceil(RUNS / 3) },
    );
  });
});

/** An answer in which every field says the word; what the model wrote, and what the provider says of it. */
const SAID = "word";
const WHOLE: Json = {
  id: SAID,
  object: SAID,
  model: SAID,
  created: 1,
  system_fingerprint: SAID,
  service_tier: SAID,
  provider: SAID,
  "x-request-id": SAID,
  choices: [
    {
      index: 0,
      finish_reason: SAID,
      native_finish_reason: SAID,
      message: {
        role: SAID,
        content: [{ type: SAID, text: SAID, id: SAID }],
        refusal: SAID,
        reasoning_content: SAID,
        reasoning_details: [{ type: SAID, text: SAID, summary: SAID, format: SAID, id: SAID }],
        tool_calls: [
          { id: SAID, type: "function", function: { name: SAID, arguments: '{"a":"word"}' } },
          { id: SAID, type: "custom", custom: { name: SAID, input: SAID } },
        ],
        function_call: { name: SAID, arguments: '{"a":"word"}' },
        audio: { id: SAID, transcript: SAID, data: SAID },
        annotations: [{ type: SAID, url_citation: { url: SAID, title: SAID } }],
      },
    },
  ],
};

describe("what of an answer is text", () => {
  test("is what the model wrote, and nothing that the provider says of it", async () => {
    const hooks = await setUp(guardWords, { words: [SAID], action: "mask" }, host);
    const answer = await hooks.response!(deepFreeze(WHOLE), testExchange(snapshot));
    const { choices, ...about } = answer as { readonly choices: readonly [{ readonly message: Json }] };
    const { choices: _choices, ...before } = WHOLE;
    expect(about).toEqual(before);
    const [{ message, ...choice }] = choices;
    expect(choice).toMatchObject({ finish_reason: SAID, native_finish_reason: SAID });
    expect(message).toEqual({
      role: SAID,
      content: [{ type: SAID, text: "***", id: SAID }],
      refusal: "***",
      reasoning_content: "***",
      reasoning_details: [{ type: SAID, text: "***", summary: "***", format: SAID, id: SAID }],
      tool_calls: [
        { id: SAID, type: "function", function: { name: SAID, arguments: '{"a":"***"}' } },
        { id: SAID, type: "custom", custom: { name: SAID, input: "***" } },
      ],
      function_call: { name: SAID, arguments: '{"a":"***"}' },
      audio: { id: SAID, transcript: "***", data: SAID },
      annotations: [{ type: SAID, url_citation: { url: SAID, title: "***" } }],
    });
  });

  test("is the same in a stream", async () => {
    const hooks = await setUp(guardWords, { words: [SAID], action: "mask" }, host);
    const change = hooks.stream!(testExchange(snapshot))!;
    const { choices, ...about } = WHOLE as unknown as { readonly choices: readonly [{ readonly message: Json }] };
    const [{ message, ...choice }] = choices;
    const { content: _content, ...delta } = message;
    const data = { ...about, choices: [{ ...choice, delta: { ...delta, content: SAID } }] };
    const events = [...change.event(deepFreeze({ data, text: "" })), ...change.end!()];
    const whole = (await hooks.response!(deepFreeze(WHOLE), testExchange(snapshot))) as typeof WHOLE & typeof data;
    const said = JSON.stringify(events.map((event) => event.data));
    const { choices: written } = whole as unknown as typeof WHOLE & { readonly choices: readonly [{ message: Json }] };
    const { content: _parts, ...expected } = written[0].message;
    const deltas = events.flatMap((event) =>
      (event.data["choices"] as readonly Json[]).map((one) => one["delta"] as Json),
    );
    const merged = Object.assign({}, ...deltas) as Json;
    expect({ ...merged, content: undefined }).toEqual({ ...expected, content: undefined });
    expect(merged["content"]).toBe("***");
    expect(said).toContain('"system_fingerprint":"word"');
  });
});
