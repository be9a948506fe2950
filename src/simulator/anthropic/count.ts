import { countTokens } from "../answer.ts";
import type { Asked, Received } from "../endpoints/endpoint.ts";
import { jsonOf } from "../endpoints/endpoint.ts";
import { jsonReply } from "../reply.ts";
import { turnsOf } from "./blocks.ts";
import { bad } from "./refusal.ts";
import { parseModel, readTexts } from "./request.ts";

/** `POST /v1/messages/count_tokens`: the tokens of a prompt, of which nothing is used. */
export function readCountTokens(received: Received): Asked {
  if (received.headers["anthropic-version"] === undefined) throw bad("anthropic-version", "header is required");
  const body = jsonOf(received);
  const model = parseModel(body);
  const { prompt } = readTexts(body, turnsOf(body["messages"]));
  const tokens = prompt.reduce((sum, text) => sum + countTokens(text), 0);
  return {
    model,
    sim: body["sim"],
    reply: (script) => jsonReply(200, { data: JSON.stringify({ input_tokens: script["usage.prompt"] ?? tokens }) }),
  };
}
