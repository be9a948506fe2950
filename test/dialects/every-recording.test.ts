import { readFileSync, globSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChat } from "../../src/dialects/chat/client.ts";
import { isJson, type Json } from "../../src/kit/index.ts";
import { RUNS } from "../properties/runs.ts";
import { assemble } from "./assemble.ts";
import { expectCanonical } from "./chat/rules.ts";
import { COMPLETE } from "./complete.ts";
import { cutAt, cuts, type Decoding, decodeWith } from "./decode.ts";
import {
  ANSWERS,
  codecFor,
  FILES,
  framed,
  linesOf,
  of,
  PAYLOADS,
  payloadsOf,
  recorded,
  type Recording,
  WIRES,
} from "./recordings.ts";

/* What holds of each recorded stream and answer of chat, whoever made it: found in the folder, not listed. */

const CALL = readChat({ model: "route/a", messages: [{ role: "user", content: "hi" }], stream: true });
/** Of every recording as many. */
const CUT_RUNS = Math.ceil(RUNS / 20);
const STREAMS = [...PAYLOADS, ...WIRES];

/** What the recording's codec makes of a body in these pieces. */
const decode = (recording: Recording, pieces: readonly Uint8Array[]): Decoding =>
  decodeWith(codecFor(recording).decoder!(CALL), pieces);

const bytewise = (bytes: Uint8Array): readonly Uint8Array[] => cutAt(bytes, [...bytes.keys()].slice(1));

/** The choice that a client puts together. */
const streamed = (recording: Recording): Json =>
  assemble(decode(recording, [recording.bytes()]).events.map(({ data }) => data));
const answered = (recording: Recording, body: Json): Json => {
  const decoded = codecFor(recording).answer(new TextEncoder().encode(JSON.stringify(body)), CALL);
  return (decoded.body["choices"] as readonly Json[])[0]!;
};
const complete = (recording: Recording): Json => {
  const { body } = codecFor(recording).answer(recording.bytes(), CALL);
  return (body["choices"] as readonly Json[])[0]!;
};

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

/** What an answer says; ids and signatures of calls are made anew for every answer. */
function said({ message, finish_reason, native_finish_reason }: Json): Json {
  const { role, content, reasoning_content, reasoning_details, tool_calls } = message as Json;
  return {
    role,
    content,
    reasoning_content,
    reasoning_details,
    tool_calls: list(tool_calls).map(({ function: called }) => called),
    finish_reason,
    native_finish_reason,
  };
}

/** Of what kind it is: which fields it has, what they are made of, how it ends. */
function kind(choice: Json): Json {
  const { message, finish_reason, native_finish_reason } = choice;
  const { content, reasoning_content, reasoning_details, tool_calls } = message as Json;
  return {
    content: typeof content === "string" && content !== "",
    reasoning: typeof reasoning_content === "string" && reasoning_content !== "",
    details: list(reasoning_details).map((detail) => Object.keys(detail)),
    calls: list(tool_calls).map(({ id, type, function: called }) => [
      typeof id,
      type,
      isJson(JSON.parse((called as { readonly arguments: string }).arguments)),
    ]),
    finish_reason,
    native_finish_reason,
  };
}

describe.skipIf(!recorded)("every recorded stream", () => {
  test("there are 34 as payloads and 8 as bytes", () => {
    expect([PAYLOADS.length, WIRES.length]).toEqual([34, 8]);
  });

  describe.each(of(STREAMS))("%s", (_, recording) => {
    test("is a whole answer, and the same one byte by byte and in any pieces", () => {
      const bytes = recording.bytes();
      const whole = decode(recording, [bytes]);
      expect(whole).toMatchObject({ fault: null, complete: true });
      expectCanonical(whole.events);
      expect(isDeepStrictEqual(decode(recording, bytewise(bytes)), whole)).toBe(true);
      fc.assert(
        fc.property(cuts(bytes), (places) => {
          expect(isDeepStrictEqual(decode(recording, cutAt(bytes, places)), whole)).toBe(true);
        }),
        { numRuns: CUT_RUNS },
      );
    });

    test("cut off anywhere it is complete if it has said how it ends, and between events no fault", () => {
      const bytes = recording.bytes();
      const between = [...bytes.keys()].filter((at) => bytes[at - 1] === 10 && bytes[at - 2] === 10);
      fc.assert(
        fc.property(fc.oneof(fc.nat(bytes.length - 1), fc.constantFrom(0, ...between)), (place) => {
          const { events, fault, complete } = decode(recording, [bytes.subarray(0, place)]);
          const choices = events.flatMap(({ data }) => list(data["choices"]));
          const hasEnded = choices.some((choice) => choice["finish_reason"] !== null);
          // A line that was cut off is read, and is no JSON; a frame is not.
          if (fault !== null && recording.dialect !== "bedrock" && !between.includes(place)) return;
          expect({ fault, complete }).toEqual({ fault: null, complete: hasEnded });
        }),
        { numRuns: CUT_RUNS },
      );
    });
  });
});

/** The names of what a payload says to be read. */
const TEXTS: ReadonlySet<string> = new Set(["text", "content", "thinking", "reasoning_content", "reasoning"]);
const FOREIGN = "é中🌍";

describe.skipIf(!recorded)("every recorded stream, in letters of two to four bytes", () => {
  test.each(of(PAYLOADS))("%s", (_, recording) => {
    let texts = 0;
    const lines = linesOf(recording.name).map((line) =>
      JSON.stringify(
        JSON.parse(line, (name, value: unknown) => {
          if (typeof value !== "string" || value === "" || !TEXTS.has(name)) return value;
          texts += 1;
          return value + FOREIGN;
        }),
      ),
    );
    const bytes = framed(recording.dialect, lines);
    const whole = decode(recording, [bytes]);
    expect(isDeepStrictEqual(decode(recording, bytewise(bytes)), whole)).toBe(true);
    const { content, reasoning_content } = assemble(whole.events.map(({ data }) => data))["message"] as Json;
    const read = `${String(content)}${String(reasoning_content)}`;
    // Where one thought has two names it is read once.
    expect(read.split(FOREIGN).length - 1).toBe(texts);
    expect(read).not.toContain("\uFFFD");
  });
});

describe.skipIf(!recorded)("a stream put together is the complete answer", () => {
  test.each(of(PAYLOADS.filter(({ dialect }) => dialect !== "anthropic")))(
    "%s: that its payloads come to",
    (_, recording) => {
      const make = COMPLETE[recording.dialect as keyof typeof COMPLETE];
      expect(said(streamed(recording))).toEqual(said(answered(recording, make(payloadsOf(recording.name)))));
    },
  );

  const PAIRS = PAYLOADS.flatMap((one) =>
    ANSWERS.filter(({ name }) => name === one.name).map((body) => ({ one, body })),
  );

  test("31 were recorded both ways", () => {
    expect(PAIRS.length).toBe(31);
  });

  // The same question asked twice: what is said differs, of what kind it is does not.
  test.each(PAIRS.map((pair) => [pair.one.name, pair] as const))(
    "%s: that was recorded is of the same kind",
    (_, pair) => {
      expect(kind(streamed(pair.one))).toEqual(kind(complete(pair.body)));
    },
  );

  test("5 of them said the same both times, and are equal", () => {
    const equal = PAIRS.filter(({ one, body }) => isDeepStrictEqual(said(streamed(one)), said(complete(body))));
    expect(equal.map(({ one }) => one.name)).toEqual([
      "amazon-bedrock/amazon-bedrock-tool-no-args",
      "cohere/cohere-text",
      "google/google-tool-call-gemini3",
      "google/google-tool-call",
      "groq/groq-tool-call",
    ]);
  });
});

/** Recordings that have no dialect or kind here, and why. */
const APART: Readonly<Record<string, string>> = {
  "cartesia/cartesia-transcription.json": "no dialect of it",
};

describe.skipIf(!recorded)("every recording", () => {
  const sources = globSync("**/*.ts", { cwd: import.meta.dirname })
    .map((file) => readFileSync(`${import.meta.dirname}/${file}`, "utf8"))
    .join("\n");
  const chats = new Set([
    ...PAYLOADS.map(({ name }) => `${name}.chunks.txt`),
    ...ANSWERS.map(({ name }) => `${name}.json`),
  ]);

  test("is read by a suite: those of chat by this one, the others by their names", () => {
    const unread = FILES.filter((file) => !chats.has(file) && !sources.includes(file) && !Object.hasOwn(APART, file));
    expect(unread).toEqual([]);
  });

  test("of a complete answer is one", () => {
    expect(ANSWERS.length).toBe(38);
    for (const answer of ANSWERS) expect(complete(answer)["message"]).toMatchObject({ role: "assistant" });
  });
});
