import { type Answer, answer, type Choice, countTokens, onlyChoice } from "../answer.ts";
import type { Asked, Received } from "../endpoints/endpoint.ts";
import { jsonOf } from "../endpoints/endpoint.ts";
import type { SimError } from "../error.ts";
import type { Part } from "../part.ts";
import { argumentPieces } from "../pieces.ts";
import { jsonReply, MALFORMED, streamReply } from "../reply.ts";
import type { Script } from "../script.ts";
import { parseChat } from "./request.ts";

const REASONS: Readonly<Record<Choice["finish"], string>> = {
  stop: "COMPLETE",
  length: "MAX_TOKENS",
  tool_calls: "TOOL_CALL",
};
const PLAN = "I will use a simulated tool.";

/** `POST /v2/chat` of Cohere. */
export function readCohereChat(received: Received): Asked {
  const body = jsonOf(received);
  const { question, stream } = parseChat(body);
  return {
    model: question.model,
    sim: body["sim"],
    reply: (script) => {
      const made = answer(question, script, received.body.toString());
      return stream ? streamReply(events(made, script), frame) : jsonReply(200, whole(made, script));
    },
  };
}

function whole(made: Answer, script: Script): Part<string> {
  const choice = onlyChoice(made);
  const { reasoning, content, calls } = choice;
  const message = {
    role: "assistant",
    content: [
      ...(reasoning.length > 0 ? [{ type: "thinking", thinking: reasoning.join("") }] : []),
      ...(content.length > 0 ? [{ type: "text", text: content.join("") }] : []),
    ],
    ...(calls.length > 0 && {
      tool_plan: PLAN,
      tool_calls: calls.map(({ id, name, arguments: text }) => ({
        id,
        type: "function",
        function: { name, arguments: text },
      })),
    }),
  };
  const body = { id: idOf(made), message, finish_reason: reasonOf(choice, script), usage: usageOf(made, script) };
  return {
    data: JSON.stringify(body),
    tokens: choice.tokens,
    claims: script.no_usage ? undefined : made.usage,
    units: { prompt: made.prompt },
  };
}

function* events(made: Answer, script: Script): Generator<Part<string>> {
  const choice = onlyChoice(made);
  const { reasoning, content, calls } = choice;
  const empty = { role: "assistant", content: [], tool_plan: "", tool_calls: [], citations: [] };
  yield { data: event("message-start", { id: idOf(made), delta: { message: empty } }), units: { prompt: made.prompt } };
  let index = 0;
  for (const [name, pieces] of [["thinking", reasoning] as const, ["text", content] as const]) {
    if (pieces.length === 0) continue;
    const told = (value: object) => ({ index, delta: { message: { content: value } } });
    yield { data: event("content-start", told({ type: name, [name]: "" })) };
    for (const piece of pieces)
      yield { data: event("content-delta", told({ [name]: piece })), tokens: countTokens(piece) };
    yield { data: event("content-end", { index }) };
    index++;
  }
  if (calls.length > 0) yield { data: event("tool-plan-delta", { delta: { message: { tool_plan: PLAN } } }) };
  for (const [index, call] of calls.entries()) {
    const told = (value: object) => ({ index, delta: { message: { tool_calls: value } } });
    const start = { id: call.id, type: "function", function: { name: call.name, arguments: "" } };
    yield { data: event("tool-call-start", told(start)), tokens: 1 };
    for (const { text, tokens } of argumentPieces(call)) {
      yield { data: event("tool-call-delta", told({ function: { arguments: text } })), tokens };
    }
    yield { data: event("tool-call-end", { index }) };
  }
  const delta = { finish_reason: reasonOf(choice, script), usage: usageOf(made, script) };
  yield { data: event("message-end", { delta }), claims: script.no_usage ? undefined : made.usage };
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

/** A stream that fails ends properly, for a reason that says so. */
function frame(error: SimError | null): string {
  if (error === null) return `event: content-delta\ndata: ${MALFORMED}\n\n`;
  return event("message-end", { delta: { error: error.message, finish_reason: "ERROR" } });
}

function reasonOf({ finish, stopped }: Choice, script: Script): string {
  return script.finish ?? (stopped === null ? REASONS[finish] : "STOP_SEQUENCE");
}

function usageOf({ usage }: Answer, script: Script): object | undefined {
  if (script.no_usage) return undefined;
  const tokens = { input_tokens: usage.prompt, output_tokens: usage.completion };
  return { billed_units: tokens, tokens, ...(usage.cached !== 0 && { cached_tokens: usage.cached }) };
}

function idOf({ seed }: Answer): string {
  return `sim-${seed}`;
}
