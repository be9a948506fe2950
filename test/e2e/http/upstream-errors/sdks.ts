import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic, { APIError as AnthropicError } from "@anthropic-ai/sdk";
import { APICallError, generateText, type LanguageModel, streamText } from "ai";
import OpenAI, { APIError } from "openai";
import { isJson } from "../../../../src/kit/index.ts";
import type { Meeting } from "./situations.ts";

/** What a program finds in the error that an SDK throws. */
export interface Told {
  readonly status: unknown;
  /** The code, or of the Messages format the type. */
  readonly code: unknown;
  readonly message: string;
}

/** Makes a request that fails, and says how the SDK tells it. */
export type Sdk = (url: string, meeting: Meeting) => Promise<Told>;

const MESSAGES = [{ role: "user" as const, content: "Hello there" }];
const LIMIT = 32_000;

async function thrown(run: () => Promise<unknown>): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

async function drained(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

async function openai(url: string, { key, model, stream }: Meeting): Promise<Told> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  const ask = { model, messages: MESSAGES, max_tokens: LIMIT };
  const error = await thrown(async () => {
    if (stream) await drained(await client.chat.completions.create({ ...ask, stream }));
    else await client.chat.completions.create(ask);
  });
  if (!(error instanceof APIError)) throw error;
  return { status: error.status, code: error.code, message: error.message };
}

async function anthropic(url: string, { key, model, stream }: Meeting): Promise<Told> {
  const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
  const ask = { model, messages: MESSAGES, max_tokens: LIMIT };
  const error = await thrown(async () => {
    if (stream) await drained(await client.messages.create({ ...ask, stream }));
    else await client.messages.create(ask, { timeout: 60_000 });
  });
  if (!(error instanceof AnthropicError)) throw error;
  return { status: error.status, code: error.type, message: error.message };
}

function aiSdk(modelAt: (url: string, key: string, model: string) => LanguageModel): Sdk {
  return async (url, { key, model, stream }) => {
    const settings = {
      model: modelAt(url, key, model),
      maxRetries: 0,
      maxOutputTokens: LIMIT,
      messages: MESSAGES,
      providerOptions: { openai: { store: false } },
    };
    const error = await thrown(async () => {
      if (!stream) return generateText(settings);
      const errors: unknown[] = [];
      await drained(streamText({ ...settings, onError: ({ error: one }) => void errors.push(one) }).textStream);
      throw errors[0];
    });
    // What a stream says of its end comes as it is.
    if (!APICallError.isInstance(error)) return { status: undefined, code: undefined, message: JSON.stringify(error) };
    const failure = isJson(error.data) && isJson(error.data["error"]) ? error.data["error"] : {};
    return { status: error.statusCode, code: failure["code"], message: error.message };
  };
}

/** By the names that `docs/clients.md` has for them. */
export const SDKS: Readonly<Record<string, Sdk>> = {
  openai,
  "@ai-sdk/openai": aiSdk((url, apiKey, model) => createOpenAI({ baseURL: `${url}/v1`, apiKey })(model)),
  "@ai-sdk/openai-compatible": aiSdk((url, apiKey, model) => {
    return createOpenAICompatible({ name: "gateway", baseURL: `${url}/v1`, apiKey })(model);
  }),
  "@anthropic-ai/sdk": anthropic,
};
