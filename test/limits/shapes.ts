/** Bodies at the bounds of what is taken, each a different kind of work. Made where they are sent from. */

export interface Shape {
  readonly path: string;
  /** What it may be sent to, by the names of `MODELS`. */
  readonly models: readonly string[];
  /** The body, about `values` values or `bytes` bytes of it. */
  readonly body: (model: string, size: Size) => string;
}

export interface Size {
  /** In what a model is to read: a conversation, inputs, documents. */
  readonly values: number;
  /** In fields that nobody knows. */
  readonly unknown: number;
  readonly keys: number;
  /** Characters of what tools are called with. */
  readonly argument: number;
  readonly bytes: number;
}

const CHAT = "/v1/chat/completions";
const MESSAGES = "/v1/messages";
const RESPONSES = "/v1/responses";

const ALL = ["openai", "responses", "anthropic", "gemini", "bedrock", "cohere"];
const FEW = ["openai", "anthropic", "gemini"];
const ONE = ["openai"];

function repeated(count: number, item: (index: number) => string): string {
  const items: string[] = [];
  for (let index = 0; index < count; index++) items.push(item(index));
  return items.join(",");
}

function chat(models: readonly string[], rest: (size: Size) => string): Shape {
  return { path: CHAT, models, body: (model, size) => `{"model":"${model}",${rest(size)}}` };
}

function messages(models: readonly string[], rest: (size: Size) => string): Shape {
  return { path: MESSAGES, models, body: (model, size) => `{"model":"${model}","max_tokens":9,${rest(size)}}` };
}

function responses(models: readonly string[], rest: (size: Size) => string): Shape {
  return { path: RESPONSES, models, body: (model, size) => `{"model":"${model}","store":false,${rest(size)}}` };
}

const HI = '"messages":[{"role":"user","content":"hi"}]';
const turn = (index: number): string => (index % 2 === 0 ? "user" : "assistant");

function textOf(unit: string, bytes: number): string {
  return unit.repeat(Math.max(1, Math.floor((bytes - 1024) / Buffer.byteLength(unit))));
}

const said = (unit: string): Shape =>
  chat(unit === "x" ? ALL : FEW, ({ bytes }) => `"messages":[{"role":"user","content":"${textOf(unit, bytes)}"}]`);

/** Two messages of 14 values: a call and its result. */
function calls(count: number): string {
  return repeated(
    count,
    (n) =>
      `{"role":"assistant","content":null,"tool_calls":[{"id":"c${n}","type":"function","function":{"name":"f","arguments":"{\\"a\\":${n}}"}}]},` +
      `{"role":"tool","tool_call_id":"c${n}","content":"${n}"}`,
  );
}

function argumentsOf(text: string): string {
  return (
    `"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",` +
    `"function":{"name":"f","arguments":${JSON.stringify(text)}}}]},{"role":"tool","tool_call_id":"c","content":"1"}]`
  );
}

/** Lists of 190 levels, each around as many values. */
function deep(values: number): string {
  const chain = "[".repeat(190) + repeated(20_000, () => "1") + "]".repeat(190);
  return repeated(Math.max(1, Math.floor(values / 20_200)), () => chain);
}

export const SHAPES: Readonly<Record<string, Shape>> = {
  "chat: messages": chat(
    ALL,
    ({ values }) =>
      `"messages":[${repeated(values / 3, (n) => `{"role":"${turn(n)}","content":"${"word ".repeat(10)}${n}"}`)}]`,
  ),
  "chat: messages of one letter": chat(
    ALL,
    ({ values }) => `"messages":[${repeated(values / 3, (n) => `{"role":"${turn(n)}","content":"x"}`)}]`,
  ),
  "chat: messages of one part": chat(
    FEW,
    ({ values }) =>
      `"messages":[${repeated(values / 6, (n) => `{"role":"${turn(n)}","content":[{"type":"text","text":"${n}"}]}`)}]`,
  ),
  "chat: parts": chat(
    ALL,
    ({ values }) =>
      `"messages":[{"role":"user","content":[${repeated(values / 3, (n) => `{"type":"text","text":"some words and ${n}"}`)}]}]`,
  ),
  "chat: images": chat(
    FEW,
    ({ values }) =>
      `"messages":[{"role":"user","content":[${repeated(values / 4, (n) => `{"type":"image_url","image_url":{"url":"https://example.com/${n}.png"}}`)}]}]`,
  ),
  "chat: calls and results": chat(
    ALL,
    ({ values }) => `"messages":[{"role":"user","content":"go"},${calls(values / 16)}]`,
  ),
  "chat: calls of one message": chat(
    ALL,
    ({ values }) =>
      `"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[${repeated(
        values / 8,
        (n) => `{"id":"c${n}","type":"function","function":{"name":"f","arguments":"{}"}}`,
      )}]}]`,
  ),
  "chat: numbers as arguments": chat(FEW, ({ values }) => argumentsOf(`{"a":[${"0,".repeat(values - 20)}0]}`)),
  "chat: objects as arguments": chat(FEW, ({ values }) => argumentsOf(`{"a":[${"{},".repeat(values / 2 - 20)}0]}`)),
  "chat: a text as arguments": chat(FEW, ({ argument }) => argumentsOf(`{"a":"${textOf("word\\\\n", argument)}"}`)),
  "chat: keys in a message": chat(
    FEW,
    ({ keys }) => `"messages":[{"role":"user","content":"x",${repeated(keys, (n) => `"k${n}":0`)}}]`,
  ),
  "chat: tools": chat(
    FEW,
    ({ values }) => `${HI},"tools":[${repeated(values / 4, (n) => `{"type":"function","function":{"name":"f${n}"}}`)}]`,
  ),
  "chat: stop": chat(ONE, ({ unknown }) => `${HI},"stop":[${repeated(unknown, () => '"a"')}]`),
  "chat: unknown integers": chat(FEW, ({ unknown }) => `${HI},"x":[${repeated(unknown, () => "0")}]`),
  "chat: unknown doubles": chat(
    FEW,
    ({ unknown }) => `${HI},"x":[${repeated(unknown, (n) => `${n}.12345678901234567`)}]`,
  ),
  "chat: unknown texts": chat(ONE, ({ unknown }) => `${HI},"x":[${repeated(unknown, (n) => `"${n}"`)}]`),
  "chat: unknown objects": chat(ONE, ({ unknown }) => `${HI},"x":[${repeated(unknown / 2, (n) => `{"a":${n}}`)}]`),
  "chat: unknown objects of many shapes": chat(
    ONE,
    ({ unknown, keys }) => `${HI},"x":[${repeated(unknown / 2, (n) => `{"k${n % keys}":"${n} and some text"}`)}]`,
  ),
  "chat: unknown lists": chat(ONE, ({ unknown }) => `${HI},"x":[${repeated(unknown / 3, (n) => `[${n},1000]`)}]`),
  "chat: unknown keys": chat(ONE, ({ keys }) => `${HI},"x":{${repeated(keys, (n) => `"k${n}":0`)}}`),
  "chat: unknown objects of many keys": chat(
    ONE,
    ({ keys, unknown }) =>
      `${HI},"x":[${repeated(Math.max(1, Math.floor(unknown / keys)), (m) => `{${repeated(keys, (n) => `"k${n}":${m}`)}}`)}]`,
  ),
  "chat: fields": chat(FEW, ({ keys }) => `${HI},${repeated(keys, (n) => `"k${n}":0`)}`),
  "chat: unknown depth": chat(ONE, ({ unknown }) => `${HI},"x":[${deep(unknown)}]`),
  "chat: one text": said("x"),
  "chat: one text of line ends": said("\\n"),
  "chat: one text of \\u": said("\\u20ac"),
  "chat: one text of euros": said("€"),
  "chat: an image": chat(
    FEW,
    ({ bytes }) =>
      `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,${textOf("AAAA", bytes)}"}}]}]`,
  ),
  "chat: texts of 100 KB": chat(
    ALL,
    ({ bytes }) =>
      `"messages":[${repeated(bytes / 100_100, (n) => `{"role":"${turn(n)}","content":"${textOf("some words\\n", 100_000)}"}`)}]`,
  ),
  "chat: one text, streamed": chat(
    ["openai"],
    ({ bytes }) => `"stream":true,"messages":[{"role":"user","content":"${textOf("x", bytes)}"}]`,
  ),
  "messages: messages": messages(
    ALL,
    ({ values }) =>
      `"messages":[${repeated(values / 3, (n) => `{"role":"${turn(n)}","content":"${"word ".repeat(10)}${n}"}`)}]`,
  ),
  "messages: blocks": messages(
    ALL,
    ({ values }) =>
      `"messages":[{"role":"user","content":[${repeated(values / 3, (n) => `{"type":"text","text":"some words and ${n}"}`)}]}]`,
  ),
  "messages: calls and results": messages(
    FEW,
    ({ values }) =>
      `"messages":[{"role":"user","content":"go"},${repeated(
        values / 17,
        (n) =>
          `{"role":"assistant","content":[{"type":"tool_use","id":"c${n}","name":"f","input":{"a":1}}]},` +
          `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c${n}","content":"1"}]}`,
      )}]`,
  ),
  "messages: an input": messages(
    FEW,
    ({ values }) =>
      `"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"a":[${repeated(values / 2, (n) => `{"a":${n}}`)}]}}]},` +
      `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"1"}]}]`,
  ),
  "messages: system": messages(
    FEW,
    ({ values }) => `${HI},"system":[${repeated(values / 3, (n) => `{"type":"text","text":"some words and ${n}"}`)}]`,
  ),
  "messages: unknown integers": messages(FEW, ({ unknown }) => `${HI},"x":[${repeated(unknown, () => "0")}]`),
  "messages: one text": messages(
    FEW,
    ({ bytes }) => `"messages":[{"role":"user","content":"${textOf("some words\\n", bytes)}"}]`,
  ),
  "responses: messages": responses(
    ALL,
    ({ values }) =>
      `"input":[${repeated(values / 3, (n) => `{"role":"${turn(n)}","content":"${"word ".repeat(10)}${n}"}`)}]`,
  ),
  "responses: parts": responses(
    FEW,
    ({ values }) =>
      `"input":[{"role":"user","content":[${repeated(values / 3, (n) => `{"type":"input_text","text":"some words and ${n}"}`)}]}]`,
  ),
  "responses: calls and results": responses(
    FEW,
    ({ values }) =>
      `"input":[{"role":"user","content":"go"},${repeated(
        values / 12,
        (n) =>
          `{"type":"function_call","call_id":"c${n}","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c${n}","output":"${n}"}`,
      )}]`,
  ),
  "responses: one text": responses(ALL, ({ bytes }) => `"input":"${textOf("some words\\n", bytes)}"`),
  "embeddings: texts": {
    path: "/v1/embeddings",
    models: ["openai-embedding", "gemini-embedding", "cohere-embedding"],
    body: (model, { bytes }) =>
      `{"model":"${model}","input":[${repeated(2048, () => `"${textOf("some words\\n", bytes / 2048 + 1000)}"`)}]}`,
  },
  "embeddings: tokens": {
    path: "/v1/embeddings",
    models: ["openai-embedding", "gemini-embedding", "cohere-embedding"],
    body: (model, { unknown }) => `{"model":"${model}","input":[${repeated(unknown, (n) => String(n % 100_000))}]}`,
  },
  "embeddings: lists of tokens": {
    path: "/v1/embeddings",
    models: ["openai-embedding", "gemini-embedding", "cohere-embedding"],
    body: (model, { unknown }) =>
      `{"model":"${model}","input":[${repeated(2048, () => `[${repeated(Math.max(1, unknown / 2048 - 2), (n) => String(n))}]`)}]}`,
  },
  "rerank: documents": {
    path: "/v1/rerank",
    models: ["cohere-rerank"],
    body: (model, { bytes }) =>
      `{"model":"${model}","query":"q","documents":[${repeated(1000, () => `{"text":"${textOf("some words\\n", bytes / 1000 + 900)}"}`)}]}`,
  },
  "rerank: unknown values": {
    path: "/v1/rerank",
    models: ["cohere-rerank"],
    body: (model, { unknown }) =>
      `{"model":"${model}","query":"q","documents":[${repeated(1000, () => `{"text":"a","x":[${repeated(Math.max(1, unknown / 1000 - 5), (n) => String(n))}]}`)}]}`,
  },
  "count_tokens: messages": {
    path: "/v1/messages/count_tokens",
    models: ["anthropic"],
    body: (model) =>
      `{"model":"${model}","messages":[${repeated(16_000, (n) => `{"role":"${turn(n)}","content":"${"word ".repeat(40)}${n}"}`)}]}`,
  },
};
