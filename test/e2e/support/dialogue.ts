import { isJson, type Json } from "../../../src/kit/index.ts";
import type { FormatName } from "./formats.ts";

export interface Called {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A conversation as a client keeps it: it sends back all that it was answered, whoever answered. */
export interface Dialogue {
  /** `messages`, or `input`. */
  readonly history: Json;
  ask(text: string, image?: string): void;
  /** Takes a whole answer into the history. @returns the calls that are the client's to make. */
  take(answer: Json): readonly Called[];
  give(call: Called, result: string): void;
  /** The same so far, to go on with on its own. */
  fork(): Dialogue;
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const parsed = (value: unknown): unknown => JSON.parse(text(value));

/** What a format's clients do with a conversation; `image` is base64 of a PNG. */
interface Habits {
  readonly field: string;
  readonly ask: (said: string, image?: string) => Json;
  readonly take: (answer: Json) => { readonly kept: readonly Json[]; readonly calls: readonly Called[] };
  readonly give: (call: Called, result: string) => Json;
}

const HABITS: Readonly<Record<FormatName, Habits>> = {
  chat: {
    field: "messages",
    ask: (said, image) => ({
      role: "user",
      content: image
        ? [
            { type: "text", text: said },
            { type: "image_url", image_url: { url: `data:image/png;base64,${image}` } },
          ]
        : said,
    }),
    take: ({ choices }) => {
      const { message } = list(choices)[0] ?? {};
      const calls = list(isJson(message) ? message["tool_calls"] : []).map(({ id, function: made }) => ({
        id: text(id),
        name: text(isJson(made) && made["name"]),
        input: parsed(isJson(made) && made["arguments"]),
      }));
      return { kept: isJson(message) ? [message] : [], calls };
    },
    give: ({ id }, content) => ({ role: "tool", tool_call_id: id, content }),
  },
  messages: {
    field: "messages",
    ask: (said, image) => ({
      role: "user",
      content: image
        ? [
            { type: "image", source: { type: "base64", media_type: "image/png", data: image } },
            { type: "text", text: said },
          ]
        : said,
    }),
    take: ({ content }) => ({
      kept: [{ role: "assistant", content }],
      calls: list(content)
        .filter(({ type }) => type === "tool_use")
        .map(({ id, name, input }) => ({ id: text(id), name: text(name), input })),
    }),
    give: ({ id }, content) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] }),
  },
  responses: {
    field: "input",
    ask: (said, image) => ({
      role: "user",
      content: image
        ? [
            { type: "input_text", text: said },
            { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${image}` },
          ]
        : said,
    }),
    take: ({ output }) => ({
      kept: list(output),
      calls: list(output)
        .filter(({ type }) => type === "function_call")
        .map(({ call_id: id, name, arguments: input }) => ({ id: text(id), name: text(name), input: parsed(input) })),
    }),
    give: ({ id }, output) => ({ type: "function_call_output", call_id: id, output }),
  },
};

export function dialogue(name: FormatName, before: readonly Json[] = []): Dialogue {
  const { field, ask, take, give } = HABITS[name];
  const items: Json[] = [...before];
  return {
    get history() {
      return { [field]: items };
    },
    ask: (said, image) => void items.push(ask(said, image)),
    take(answer) {
      const { kept, calls } = take(answer);
      items.push(...kept);
      return calls;
    },
    give: (call, result) => void items.push(give(call, result)),
    fork: () => dialogue(name, items),
  };
}
