import { type AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { expect, test } from "vitest";
import { describeMatrix, type SdkClient, type SdkStage, WEATHER } from "../support/sdk-matrix.ts";

const TOOLS = [{ type: "function" as const, function: { ...WEATHER } }];

/** LangChain, unmodified, by chat completions and by Responses, against a gateway process in front of a simulator process. */
const stage = describeMatrix((at) => ({
  "@langchain/openai (chat)": () => adapt((model) => chatModel(at, model, false)),
  "@langchain/openai (Responses)": () => adapt((model) => chatModel(at, model, true)),
}));

function chatModel(at: SdkStage, model: string, useResponsesApi: boolean): ChatOpenAI {
  return new ChatOpenAI({
    model,
    apiKey: at.user.key,
    maxRetries: 0,
    useResponsesApi,
    configuration: { baseURL: `${at.url}/v1` },
  });
}

function adapt(make: (model: string) => ChatOpenAI): SdkClient {
  return {
    chat: async (model, prompt) => (await make(model).invoke(prompt)).text,
    async stream(model, prompt) {
      const pieces: string[] = [];
      for await (const { text } of await make(model).stream(prompt)) if (text !== "") pieces.push(text);
      return pieces;
    },
    async tools(model, prompt, streamed) {
      const bound = make(model).bindTools(TOOLS);
      const messages: BaseMessage[] = [new HumanMessage(prompt)];
      const calls: unknown[] = [];
      for (;;) {
        const said = streamed ? await joined(await bound.stream(messages)) : await bound.invoke(messages);
        const made = said.tool_calls ?? [];
        if (made.length === 0) return { calls, text: said.text };
        calls.push(...made.map(({ args }) => args));
        messages.push(said, ...made.map(({ id = "" }) => new ToolMessage({ content: "sunny", tool_call_id: id })));
      }
    },
    async image(model, text, png) {
      const url = `data:image/png;base64,${png.toString("base64")}`;
      const content = [
        { type: "image_url", image_url: { url } },
        { type: "text", text },
      ];
      return (await make(model).invoke([new HumanMessage({ content })])).text;
    },
  };
}

type Chunk = Awaited<ReturnType<ChatOpenAI["invoke"]>>;

async function joined(chunks: AsyncIterable<Chunk>): Promise<AIMessage> {
  let whole: Chunk | null = null;
  for await (const chunk of chunks) whole = whole === null ? chunk : whole.concat(chunk);
  if (whole === null) throw new Error("nothing came");
  return whole;
}

test.each([false, true])("counts are read, streamed or not (Responses: %s)", async (responses) => {
  const model = chatModel(stage, "route/openai", responses);
  const whole = await model.invoke("Hello there");
  const streamed = await joined(await model.stream("Hello there"));
  for (const { usage_metadata: usage } of [whole, streamed]) {
    expect(usage).toMatchObject({ input_tokens: 2, output_tokens: 9, total_tokens: 11 });
  }
});
