import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { expect, test } from "vitest";
import { describeMatrix, type SdkClient, type SdkStage, WEATHER } from "../support/sdk-matrix.ts";

// The SDK's notes on what a provider cannot say would stand between the results.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

type Provider = (model: string) => LanguageModel;

const providers = (at: SdkStage): Readonly<Record<string, () => Provider>> => {
  const settings = () => ({ baseURL: `${at.url}/v1`, apiKey: at.user.key });
  return {
    "@ai-sdk/openai-compatible": () => createOpenAICompatible({ name: "gateway", ...settings(), includeUsage: true }),
    "@ai-sdk/anthropic": () => createAnthropic(settings()),
    "@ai-sdk/openai (Responses)": () => createOpenAI(settings()),
    "@ai-sdk/openai (chat)": () => (model) => createOpenAI(settings()).chat(model),
  };
};

/** Vercel's SDK with its providers, unmodified, against a gateway process in front of a simulator process. */
const stage = describeMatrix((at) =>
  Object.fromEntries(Object.entries(providers(at)).map(([name, make]) => [name, () => adapt(make())])),
);

/** Nothing is stored: without `store: false` this provider refers to items instead of sending them again. */
const providerOptions = { openai: { store: false } };
const SETTINGS = { maxRetries: 0, maxOutputTokens: 1_024, providerOptions } as const;

/** Providers for OpenAI's APIs put the status in an error's message, and a body that is text beside it. */
function inWords(error: unknown): never {
  throw APICallError.isInstance(error) ? new Error(error.responseBody, { cause: error }) : error;
}

function adapt(provider: Provider): SdkClient {
  return {
    async chat(model, prompt) {
      return (await generateText({ ...SETTINGS, model: provider(model), prompt }).catch(inWords)).text;
    },
    async stream(model, prompt) {
      const errors: unknown[] = [];
      const onError = ({ error }: { error: unknown }) => void errors.push(error);
      const result = streamText({ ...SETTINGS, model: provider(model), prompt, onError });
      const pieces: string[] = [];
      for await (const piece of result.textStream) pieces.push(piece);
      if (errors.length > 0) throw new Error("the stream broke off", { cause: errors[0] });
      expect(await result.finishReason).toBe("stop");
      return pieces;
    },
    async tools(model, prompt, streamed) {
      const calls: unknown[] = [];
      const weather = tool({
        description: WEATHER.description,
        inputSchema: jsonSchema<{ city: string }>({ ...WEATHER.parameters, required: ["city"] } as never),
        execute(input) {
          calls.push(input);
          return "sunny";
        },
      });
      const options = {
        ...SETTINGS,
        model: provider(model),
        prompt,
        tools: { [WEATHER.name]: weather },
        stopWhen: stepCountIs(5),
      };
      if (!streamed) return { calls, text: (await generateText(options)).text };
      const result = streamText(options);
      await result.consumeStream();
      return { calls, text: await result.text };
    },
    async image(model, text, png) {
      const content = [
        { type: "image" as const, image: png, mediaType: "image/png" },
        { type: "text" as const, text },
      ];
      return (await generateText({ ...SETTINGS, model: provider(model), messages: [{ role: "user", content }] })).text;
    },
  };
}

test.each(Object.keys(providers(stage)))("%s reads counts and the reason of the end, streamed or not", async (name) => {
  const model = providers(stage)[name]!()("route/openai");
  const whole = await generateText({ ...SETTINGS, model, prompt: "Hello there" });
  const streamed = streamText({ ...SETTINGS, model, prompt: "Hello there" });
  await streamed.consumeStream();
  for (const { usage, finishReason } of [
    whole,
    { usage: await streamed.usage, finishReason: await streamed.finishReason },
  ]) {
    expect([usage.inputTokens, usage.outputTokens, finishReason]).toEqual([2, 9, "stop"]);
  }
});
