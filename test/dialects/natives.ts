import type { Json } from "../../src/kit/index.ts";
import type { Recorded } from "./recordings.ts";

/** What a model may answer, in no dialect. */
export interface Turn {
  readonly thoughts: readonly { readonly text: string; readonly signature: string }[];
  /** Empty for none. */
  readonly text: string;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly input: Json;
    readonly signature: string;
  }[];
}

/** How a provider says a turn; written apart from the codecs. */
export interface Native {
  readonly dialect: Recorded;
  /** Whether thoughts are part of the dialect's history, and whether they are signed. */
  readonly thoughts: "none" | "plain" | "signed";
  /** The complete answer. */
  readonly answer: (turn: Turn) => Json;
  /** The payloads of the stream, its texts in pieces of so many characters. */
  readonly stream: (turn: Turn, size: number) => readonly Json[];
  /** The assistant's turn in the history of a request. */
  readonly history: (request: Json) => unknown;
}

const pieces = (text: string, size: number): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.slice(n * size, (n + 1) * size));
const byRole = (list: unknown, role: string): Json => (list as readonly Json[]).find((one) => one["role"] === role)!;

const openaiMessage = ({ text, calls }: Turn): Json => ({
  role: "assistant",
  content: text === "" ? null : text,
  ...(calls.length > 0 && {
    tool_calls: calls.map(({ id, name, input }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    })),
  }),
});
const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "up",
  choices: [{ index: 0, delta, finish_reason }],
});
const openai: Native = {
  dialect: "openai",
  thoughts: "none",
  answer: (turn) => ({
    choices: [{ index: 0, message: openaiMessage(turn), finish_reason: turn.calls.length > 0 ? "tool_calls" : "stop" }],
  }),
  stream: ({ text, calls }, size) => [
    chunk({ role: "assistant", content: "" }),
    ...pieces(text, size).map((content) => chunk({ content })),
    ...calls.flatMap(({ id, name, input }, index) => [
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...pieces(JSON.stringify(input), size).map((args) =>
        chunk({ tool_calls: [{ index, function: { arguments: args } }] }),
      ),
    ]),
    chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
  ],
  history: (request) => byRole(request["messages"], "assistant"),
};

const anthropicBlocks = ({ thoughts, text, calls }: Turn): readonly Json[] => [
  ...thoughts.map((thought) => ({ type: "thinking", thinking: thought.text, signature: thought.signature })),
  ...(text === "" ? [] : [{ type: "text", text }]),
  ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })),
];
const anthropicStop = ({ calls }: Turn): string => (calls.length > 0 ? "tool_use" : "end_turn");
const anthropic: Native = {
  dialect: "anthropic",
  thoughts: "signed",
  answer: (turn) => ({ id: "m", role: "assistant", content: anthropicBlocks(turn), stop_reason: anthropicStop(turn) }),
  stream: (turn, size) => [
    { type: "message_start", message: { id: "m", role: "assistant", content: [] } },
    ...anthropicBlocks(turn).flatMap((block, index) => {
      const { type } = block;
      const start =
        type === "text" ? { text: "" } : type === "thinking" ? { thinking: "", signature: "" } : { input: {} };
      const deltas =
        type === "text"
          ? pieces(String(block["text"]), size).map((text) => ({ type: "text_delta", text }))
          : type === "thinking"
            ? [
                ...pieces(String(block["thinking"]), size).map((thinking) => ({ type: "thinking_delta", thinking })),
                { type: "signature_delta", signature: block["signature"] },
              ]
            : pieces(JSON.stringify(block["input"]), size).map((partial_json) => ({
                type: "input_json_delta",
                partial_json,
              }));
      return [
        { type: "content_block_start", index, content_block: { ...block, ...start } },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ];
    }),
    { type: "message_delta", delta: { stop_reason: anthropicStop(turn) }, usage: {} },
    { type: "message_stop" },
  ],
  history: (request) => {
    const { content } = byRole(request["messages"], "assistant");
    return typeof content === "string" ? [{ type: "text", text: content }] : content;
  },
};

const signed = (signature: string): Json => (signature === "" ? {} : { thoughtSignature: signature });
const geminiCalls = ({ calls }: Turn): readonly Json[] =>
  calls.map(({ id, name, input, signature }) => ({ functionCall: { id, name, args: input }, ...signed(signature) }));
const geminiParts = (turn: Turn): readonly Json[] => [
  ...turn.thoughts.map(({ text, signature }) => ({ text, thought: true, ...signed(signature) })),
  ...(turn.text === "" ? [] : [{ text: turn.text }]),
  ...geminiCalls(turn),
];
const candidate = (parts: readonly Json[], more: Json = {}): Json => ({
  responseId: "r",
  candidates: [{ index: 0, content: { role: "model", parts }, ...more }],
});
const gemini: Native = {
  dialect: "gemini",
  thoughts: "signed",
  answer: (turn) => candidate(geminiParts(turn), { finishReason: "STOP" }),
  stream: (turn, size) => [
    ...turn.thoughts.flatMap(({ text, signature }) => {
      const all = pieces(text, size);
      return all.map((piece, n) =>
        candidate([{ text: piece, thought: true, ...(n === all.length - 1 ? signed(signature) : {}) }]),
      );
    }),
    ...pieces(turn.text, size).map((text) => candidate([{ text }])),
    ...geminiCalls(turn).map((part) => candidate([part])),
    candidate([], { finishReason: "STOP" }),
  ],
  history: (request) => byRole(request["contents"], "model")["parts"],
};

const bedrockBlocks = ({ thoughts, text, calls }: Turn): readonly Json[] => [
  ...thoughts.map((thought) => ({ reasoningContent: { reasoningText: { ...thought } } })),
  ...(text === "" ? [] : [{ text }]),
  ...calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } })),
];
const bedrockStop = ({ calls }: Turn): Json => ({ stopReason: calls.length > 0 ? "tool_use" : "end_turn" });
const bedrock: Native = {
  dialect: "bedrock",
  thoughts: "signed",
  answer: (turn) => ({
    output: { message: { role: "assistant", content: bedrockBlocks(turn) } },
    ...bedrockStop(turn),
  }),
  stream: (turn, size) => {
    let block = -1;
    const delta = (fields: Json): Json => ({ contentBlockDelta: { contentBlockIndex: block, delta: fields } });
    const stop = (): Json => ({ contentBlockStop: { contentBlockIndex: block } });
    const events: Json[] = [{ messageStart: { role: "assistant" } }];
    for (const { text, signature } of turn.thoughts) {
      block += 1;
      events.push(...pieces(text, size).map((piece) => delta({ reasoningContent: { text: piece } })));
      events.push(delta({ reasoningContent: { signature } }), stop());
    }
    if (turn.text !== "") {
      block += 1;
      events.push(...pieces(turn.text, size).map((text) => delta({ text })), stop());
    }
    for (const { id, name, input } of turn.calls) {
      block += 1;
      events.push({ contentBlockStart: { contentBlockIndex: block, start: { toolUse: { toolUseId: id, name } } } });
      events.push(...pieces(JSON.stringify(input), size).map((piece) => delta({ toolUse: { input: piece } })), stop());
    }
    return [...events, { messageStop: bedrockStop(turn) }];
  },
  history: (request) => byRole(request["messages"], "assistant")["content"],
};

const cohereCalls = (turn: Turn): readonly Json[] => (openaiMessage(turn)["tool_calls"] ?? []) as readonly Json[];
/** Before calls a thought is the plan for them. */
const cohereMessage = (turn: Turn): Json => {
  const thought = turn.thoughts.map(({ text }) => text).join("");
  const calls = cohereCalls(turn);
  const content = [
    ...(thought !== "" && calls.length === 0 ? [{ type: "thinking", thinking: thought }] : []),
    ...(turn.text === "" ? [] : [{ type: "text", text: turn.text }]),
  ];
  return {
    role: "assistant",
    ...(content.length > 0 && { content }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(calls.length > 0 && thought !== "" && { tool_plan: thought }),
  };
};
const cohereFinish = ({ calls }: Turn): string => (calls.length > 0 ? "TOOL_CALL" : "COMPLETE");
const cohere: Native = {
  dialect: "cohere",
  thoughts: "plain",
  answer: (turn) => ({ id: "m", message: cohereMessage(turn), finish_reason: cohereFinish(turn) }),
  stream: (turn, size) => {
    const { content = [], tool_plan } = cohereMessage(turn) as { content?: readonly Json[]; tool_plan?: string };
    return [
      { type: "message-start", id: "m", delta: { message: { role: "assistant" } } },
      ...pieces(tool_plan ?? "", size).map((plan) => ({
        type: "tool-plan-delta",
        delta: { message: { tool_plan: plan } },
      })),
      ...content.flatMap((block, index) => {
        const name = block["type"] === "text" ? "text" : "thinking";
        return [
          { type: "content-start", index, delta: { message: { content: { type: name, [name]: "" } } } },
          ...pieces(String(block[name]), size).map((piece) => ({
            type: "content-delta",
            index,
            delta: { message: { content: { [name]: piece } } },
          })),
          { type: "content-end", index },
        ];
      }),
      ...turn.calls.flatMap(({ id, name, input }, index) => [
        {
          type: "tool-call-start",
          index,
          delta: { message: { tool_calls: { id, type: "function", function: { name, arguments: "" } } } },
        },
        ...pieces(JSON.stringify(input), size).map((args) => ({
          type: "tool-call-delta",
          index,
          delta: { message: { tool_calls: { function: { arguments: args } } } },
        })),
        { type: "tool-call-end", index },
      ]),
      { type: "message-end", delta: { finish_reason: cohereFinish(turn) } },
    ];
  },
  history: (request) => {
    const { content, ...rest } = byRole(request["messages"], "assistant");
    return { ...(content === undefined ? {} : { content: whole(content) }), ...rest };
  },
};

function whole(content: unknown): unknown {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

export const NATIVES: Readonly<Record<Recorded, Native>> = { openai, anthropic, gemini, bedrock, cohere };
