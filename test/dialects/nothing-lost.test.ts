import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FEW_RUNS } from "../properties/runs.ts";
import { readChat } from "../../src/dialects/chat/client.ts";
import { readMessages } from "../../src/dialects/messages/client/format.ts";
import { readResponses } from "../../src/dialects/responses/client/request.ts";
import type { AnswerCodec } from "../../src/dialects/dialect.ts";
import { chatAt } from "../../src/dialects/chat/index.ts";
import type { Call, Json } from "../../src/kit/index.ts";
import { testTarget } from "../support/snapshot.ts";
import { codecOf } from "./wire-cases.ts";

/*
 * Everything that a client says in a conversation is in the upstream's request once, or is named among what was dropped:
 * for every dialect of chat and every client format. What is said are marks, each made once.
 */

/** What is said in one turn, in no format. */
type Said =
  | { readonly type: "system" | "text" | "image" | "document" | "audio" | "answer" }
  /** A call of the model's with its result. */
  | { readonly type: "call" };

interface Written {
  readonly body: Json;
  /** Each mark, and a pointer to where it stands. */
  readonly marks: ReadonlyMap<string, string>;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
/** Only some dialects take audio; the Messages format has none. */
const audio = (mark: string): Json => ({ type: "input_audio", input_audio: { data: base64(mark), format: "wav" } });
const SPEAK = { type: "text", text: "?" };
const PNG = "data:image/png;base64,";

/** Writes turns down in one format. `at` is the pointer to the message or item that is to come. */
interface Writer {
  readonly write: (said: readonly Said[]) => Written;
  readonly read: (body: Json) => Call;
}

class Marks {
  readonly all = new Map<string, string>();

  /** A mark of three bytes, so that its base64 stands alone. */
  next(at: string): string {
    const mark = `mark${String(this.all.size).padStart(5, "0")}`;
    this.all.set(mark, at);
    return mark;
  }
}

const chat: Writer = {
  read: readChat,
  write(said) {
    const marks = new Marks();
    const messages: Json[] = [];
    for (const { type } of said) {
      const at = `/messages/${messages.length}`;
      const part = `${at}/content/0`;
      if (type === "system") messages.push({ role: "system", content: marks.next(`${at}/content`) });
      if (type === "text") messages.push({ role: "user", content: [{ type: "text", text: marks.next(part) }] });
      if (type === "answer") messages.push({ role: "assistant", content: marks.next(`${at}/content`) });
      if (type === "audio") messages.push({ role: "user", content: [audio(marks.next(part)), SPEAK] });
      if (type === "image" || type === "document") {
        const text = { type: "text", text: marks.next(`${at}/content/1`) };
        const data = base64(marks.next(part));
        const media =
          type === "image"
            ? { type: "image_url", image_url: { url: `${PNG}${data}` } }
            : { type: "file", file: { filename: "a.txt", file_data: `data:text/plain;base64,${data}` } };
        messages.push({ role: "user", content: [media, text] });
      }
      if (type === "call") {
        const id = `call_${messages.length}`;
        const args = JSON.stringify({ a: marks.next(`${at}/tool_calls/0`) });
        messages.push(
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id, type: "function", function: { name: "f", arguments: args } }],
          },
          { role: "tool", tool_call_id: id, content: marks.next(`/messages/${messages.length + 1}/content`) },
        );
      }
    }
    const description = marks.next("/tools/0");
    const parameters = { type: "object", properties: { a: { type: "string", description: marks.next("/tools/0") } } };
    const tools = [{ type: "function", function: { name: "f", description, parameters } }];
    return { body: { model: "route/a", messages, tools }, marks: marks.all };
  },
};

const messages: Writer = {
  read: (body) => readMessages(body),
  write(said) {
    const marks = new Marks();
    const turns: Json[] = [];
    const system: Json[] = [];
    for (const { type } of said) {
      const at = `/messages/${turns.length}`;
      const part = `${at}/content/0`;
      if (type === "system") system.push({ type: "text", text: marks.next(`/system/${system.length}`) });
      if (type === "text") turns.push({ role: "user", content: [{ type: "text", text: marks.next(part) }] });
      if (type === "answer") turns.push({ role: "assistant", content: [{ type: "text", text: marks.next(part) }] });
      if (type === "image" || type === "document") {
        const text = { type: "text", text: marks.next(`${at}/content/1`) };
        const mark = marks.next(part);
        const media =
          type === "image"
            ? { type, source: { type: "base64", media_type: "image/png", data: base64(mark) } }
            : { type, source: { type: "text", media_type: "text/plain", data: mark } };
        turns.push({ role: "user", content: [media, text] });
      }
      if (type === "call") {
        const id = `call_${turns.length}`;
        const result = `/messages/${turns.length + 1}/content/0`;
        turns.push(
          { role: "assistant", content: [{ type: "tool_use", id, name: "f", input: { a: marks.next(part) } }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: marks.next(result) }] },
        );
      }
    }
    const input_schema = { type: "object", properties: { a: { type: "string", description: marks.next("/tools/0") } } };
    const tools = [{ name: "f", description: marks.next("/tools/0"), input_schema }];
    const body = { model: "route/a", max_tokens: 99, system, messages: turns, tools };
    return { body, marks: marks.all };
  },
};

const responses: Writer = {
  read: readResponses,
  write(said) {
    const marks = new Marks();
    const input: Json[] = [];
    for (const { type } of said) {
      const at = `/input/${input.length}`;
      const part = `${at}/content/0`;
      if (type === "system") input.push({ role: "system", content: marks.next(`${at}/content`) });
      if (type === "text") input.push({ role: "user", content: [{ type: "input_text", text: marks.next(part) }] });
      if (type === "audio") input.push({ role: "user", content: [audio(marks.next(part)), SPEAK] });
      if (type === "answer") {
        input.push({ role: "assistant", content: [{ type: "output_text", text: marks.next(part) }] });
      }
      if (type === "image" || type === "document") {
        const text = { type: "input_text", text: marks.next(`${at}/content/1`) };
        const data = base64(marks.next(part));
        const media =
          type === "image"
            ? { type: "input_image", image_url: `${PNG}${data}` }
            : { type: "input_file", filename: "a.txt", file_data: `data:text/plain;base64,${data}` };
        input.push({ role: "user", content: [media, text] });
      }
      if (type === "call") {
        const call_id = `call_${input.length}`;
        input.push(
          { type: "function_call", call_id, name: "f", arguments: JSON.stringify({ a: marks.next(at) }) },
          { type: "function_call_output", call_id, output: marks.next(`/input/${input.length + 1}/output`) },
        );
      }
    }
    const parameters = { type: "object", properties: { a: { type: "string", description: marks.next("/tools/0") } } };
    const tools = [{ type: "function", name: "f", description: marks.next("/tools/0"), parameters }];
    return { body: { model: "route/a", input, tools }, marks: marks.all };
  },
};

const responsesAt = (vendor: "openai" | "generic"): AnswerCodec =>
  chatAt({ baseUrl: "", headers: {}, vendor, api: "responses" });
const UPSTREAMS: readonly (readonly [name: string, model: string, codec: AnswerCodec])[] = [
  ["openai", "m", codecOf("openai", "chat")],
  ["a Responses API", "m", responsesAt("generic")],
  ["OpenAI's Responses API", "gpt-5.1", responsesAt("openai")],
  ["azure", "m", codecOf("azure", "chat")],
  ["anthropic", "claude-sonnet-4-5", codecOf("anthropic", "chat")],
  ["gemini", "gemini-2.5-flash", codecOf("gemini", "chat")],
  ["bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", codecOf("bedrock", "chat")],
  ["bedrock", "meta.llama3-70b-instruct-v1:0", codecOf("bedrock", "chat")],
  ["cohere", "command-a", codecOf("cohere", "chat")],
];
const CLIENTS: Readonly<Record<string, Writer>> = { chat, messages, responses };

const said = fc
  .array(
    fc.record({
      type: fc.constantFrom<Said["type"]>("system", "text", "image", "document", "audio", "answer", "call"),
    }),
    {
      maxLength: 8,
    },
  )
  // What a conversation is to be answered on.
  .map((turns): readonly Said[] => [{ type: "text" }, ...turns, { type: "text" }]);

const times = (text: string, part: string): number => text.split(part).length - 1;

describe.each(UPSTREAMS)("%s, %s", (_name, model, codec) => {
  test.each(Object.entries(CLIENTS))("whatever a %s client says is sent once or named", (_, { read, write }) => {
    fc.assert(
      fc.property(said, (turns) => {
        const { body, marks } = write(turns);
        const { body: text, dropped = [] } = codec.request(read(body), testTarget("alpha", { model }), "k");
        const lost = [...marks].filter(([mark, at]) => {
          const sent = times(text as string, mark) + times(text as string, base64(mark));
          const named = dropped.some((pointer) => at === pointer || at.startsWith(`${pointer}/`));
          return sent + (named ? 1 : 0) !== 1;
        });
        expect(lost).toEqual([]);
      }),
      { numRuns: FEW_RUNS },
    );
  });
});
