import {
  type Answer,
  answer,
  argumentDeltas,
  type Choice,
  countTokens,
  CREATED_SECONDS,
  type ToolCall,
} from "../answer.ts";
import { parseBody } from "../fields.ts";
import { type LedgerEntry, NO_UNITS } from "../ledger.ts";
import { jsonReply, note, type Part, type Reply, streamReply } from "../endpoint.ts";
import { parseScript, type Script } from "../script.ts";
import { checkVendor, habitsOf } from "../strict/vendors.ts";
import { type ChatRequest, parseChat } from "./chat-request.ts";
import { defectiveAnswer, defectiveChunks } from "./chat-variants.ts";

const REMEMBERED_REQUEST_CHARACTERS = 16_384;
const REMEMBERED_ANSWERS = 128;

/** A healthy answer, encoded whole. */
export interface Encoded {
  readonly reply: Reply<string>;
  readonly payload: Buffer;
  /** Enters it into the ledger. */
  readonly facts: Pick<
    LedgerEntry,
    "model" | "stream" | "status" | "events" | "bytes" | "tokens" | "units" | "claimed"
  >;
}

/** Answers chat completions; remembers the healthy answers to the last requests, which repeat in benchmarks. */
export class Chat {
  readonly #encoded = new Map<string, Encoded>();

  /** The whole answer to a request that has been answered before without any script. */
  recall(text: string): Encoded | undefined {
    return this.#encoded.get(text);
  }

  /** @throws SimError 400 */
  read(text: string, ...scripts: readonly unknown[]): { readonly request: ChatRequest; readonly script: Script } {
    const body = parseBody(text);
    const script = parseScript(...scripts, body["sim"]);
    checkVendor(script, "/chat/completions", body);
    // A vendor has a limit of its own, or none.
    return { script, request: parseChat(body, script.vendor ? Infinity : undefined) };
  }

  /** The reply as `script` shapes it; its faults are not in it yet. */
  reply(text: string, { question, stream, includeUsage }: ChatRequest, script: Script): Reply<string> {
    const made = answer(question, script, text);
    const defects = habitsOf(script);
    if (!stream) {
      const whole = completion(made, !script.no_usage, script.finish);
      return jsonReply(200, defects ? defectiveAnswer(whole, defects) : whole);
    }
    // Some vendors tell it without being asked, and some refuse to be asked.
    const unasked = !script.defect && defects?.some((defect) => defect.startsWith("usage-"));
    const healthy = chunks(made, (includeUsage || unasked === true) && !script.no_usage, script.finish);
    const parts = defects ? defectiveChunks(healthy, made, defects) : healthy;
    return streamReply(ended(parts, script.no_done || defects?.includes("no-done") ? "" : DONE));
  }

  /** Encodes a healthy reply once, for this request and its repetitions. */
  encode(text: string, model: string, reply: Reply<string>): Encoded {
    const parts = [...reply.parts];
    const payload = Buffer.from(parts.map((part) => part.data).join(""));
    const facts: Encoded["facts"] = {
      model,
      stream: reply.type === "events",
      status: reply.status,
      events: 0,
      bytes: payload.length,
      tokens: 0,
      units: NO_UNITS,
      claimed: null,
    };
    for (const part of parts) note(facts, part);
    const encoded: Encoded = { reply, payload, facts };
    if (this.#encoded.size >= REMEMBERED_ANSWERS) this.#encoded.clear();
    if (text.length <= REMEMBERED_REQUEST_CHARACTERS) this.#encoded.set(text, encoded);
    return encoded;
  }
}

/** A stream with its ending. */
export function* ended(parts: Iterable<Part<string>>, ending: string): Generator<Part<string>> {
  yield* parts;
  yield { data: ending, uncounted: true };
}

const FINGERPRINT = "simulated";

export const DONE = "data: [DONE]\n\n";

/** The body of a `chat.completion`. `withUsage` false leaves the token counts out; `finish` stands for the true reason. */
export function completion(answer: Answer, withUsage: boolean, finish?: string): Part<string> {
  const body = {
    id: idOf(answer),
    object: "chat.completion",
    created: CREATED_SECONDS,
    model: answer.model,
    choices: answer.choices.map((choice, index) => ({
      index,
      message: messageOf(choice),
      logprobs: null,
      finish_reason: finish ?? choice.finish,
    })),
    usage: withUsage ? usageOf(answer) : undefined,
    system_fingerprint: FINGERPRINT,
  };
  return {
    data: JSON.stringify(body),
    tokens: answer.choices.reduce((sum, choice) => sum + choice.tokens, 0),
    claims: withUsage ? answer.usage : undefined,
    units: { prompt: answer.prompt },
  };
}

/** The events of a stream without their ending: with `withUsage` the counts come last and are null until then. */
export function* chunks(answer: Answer, withUsage: boolean, finishReason?: string): Generator<Part<string>> {
  // Only what differs is serialised for each event: a long stream's cost is here.
  const head = `data: ${JSON.stringify({
    id: idOf(answer),
    object: "chat.completion.chunk",
    created: CREATED_SECONDS,
    model: answer.model,
    system_fingerprint: FINGERPRINT,
  }).slice(0, -1)},"choices":[`;
  const tail = withUsage ? '],"usage":null}\n\n' : "]}\n\n";
  let units: Part["units"] = { prompt: answer.prompt };
  for (const [index, choice] of answer.choices.entries()) {
    for (const { delta, finish, tokens } of deltas(choice)) {
      const reason = finish === undefined ? "null" : JSON.stringify(finishReason ?? finish);
      const data = `${head}{"index":${index},"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${reason}}${tail}`;
      yield { data, tokens, units };
      units = undefined;
    }
  }
  if (withUsage) {
    yield { data: `${head}],"usage":${JSON.stringify(usageOf(answer))}}\n\n`, claims: answer.usage };
  }
}

interface Delta {
  readonly delta: object;
  readonly finish?: string;
  readonly tokens: number;
}

function* deltas({ reasoning, content, calls, finish }: Choice): Generator<Delta> {
  yield { delta: { role: "assistant", content: calls.length > 0 ? null : "", refusal: null }, tokens: 0 };
  for (const text of reasoning) yield { delta: { reasoning_content: text }, tokens: countTokens(text) };
  for (const text of content) yield { delta: { content: text }, tokens: countTokens(text) };
  for (const [index, call] of calls.entries()) yield* callDeltas(call, index);
  yield { delta: {}, finish, tokens: 0 };
}

function* callDeltas(call: ToolCall, index: number): Generator<Delta> {
  const { id, name } = call;
  yield { delta: { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }, tokens: 1 };
  for (const { text, tokens } of argumentDeltas(call)) {
    yield { delta: { tool_calls: [{ index, function: { arguments: text } }] }, tokens };
  }
}

function messageOf({ reasoning, content, calls }: Choice): object {
  return {
    role: "assistant",
    content: calls.length > 0 ? null : content.join(""),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join("") }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: text }) => ({
        id,
        type: "function",
        function: { name, arguments: text },
      })),
    }),
    refusal: null,
  };
}

function usageOf({ usage }: Answer): object {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: Number(usage.prompt) + Number(usage.completion),
    prompt_tokens_details: {
      cached_tokens: usage.cached,
      ...(usage.cacheWrite !== 0 && { cache_write_tokens: usage.cacheWrite }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

function idOf(answer: Answer): string {
  return `chatcmpl-sim-${answer.seed}`;
}
