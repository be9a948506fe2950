import type { Json } from "../../kit/index.ts";
import {
  type Answer,
  answer,
  argumentDeltas,
  type Choice,
  countTokens,
  onlyChoice,
  sign,
  subtract,
} from "../answer.ts";
import {
  bodyPart,
  decodePathPart,
  jsonOf,
  jsonReply,
  MALFORMED,
  namedEvent,
  type ParsedRequest,
  type Part,
  type ReceivedRequest,
  streamReply,
} from "../endpoint.ts";
import { SimError } from "../fields.ts";
import type { Script } from "../script.ts";
import { invalid, turnsOf } from "./anthropic-messages.ts";
import { type MessagesRequest, parseMessages, parseModel, readTexts } from "./anthropic-request.ts";

/** `POST /v1/messages`. */
export function readMessages(received: ReceivedRequest): ParsedRequest {
  const body = jsonOf(received);
  return repliedTo(parseMessages(body, received.headers["anthropic-version"]?.toString()), body, received);
}

/** The reply to a request that was read, wherever Claude is served. */
function repliedTo(
  { question, stream, thinking }: MessagesRequest,
  { sim }: Json,
  received: ReceivedRequest,
): ParsedRequest {
  return {
    model: question.model,
    sim,
    reply: (script) => {
      const made = answer(question, script, received.body.toString());
      const headers = { "request-id": `req_sim_${made.seed}` };
      const reply = stream
        ? streamReply(events(made, thinking, script), frame)
        : jsonReply(200, message(made, thinking, script));
      return { ...reply, headers: { ...reply.headers, ...headers } };
    },
  };
}

/** Inside a stream most errors say that the service has too much to do. */
function frame(error: Error | null): string {
  if (error === null) return `event: content_block_delta\ndata: ${MALFORMED}\n\n`;
  return namedEvent("error", { error: { type: "overloaded_error", message: error.message } });
}

/** `POST /v1/messages/count_tokens`: the tokens of a prompt, of which nothing is used. */
export function readCountTokens(received: ReceivedRequest): ParsedRequest {
  if (received.headers["anthropic-version"] === undefined) throw invalid("anthropic-version", "header is required");
  return countedIn(jsonOf(received));
}

function countedIn(body: Json): ParsedRequest {
  const model = parseModel(body);
  const { prompt } = readTexts(body, turnsOf(body["messages"]));
  const tokens = prompt.reduce((sum, text) => sum + countTokens(text), 0);
  return {
    model,
    sim: body["sim"],
    reply: (script) => jsonReply(200, { data: JSON.stringify({ input_tokens: script["usage.prompt"] ?? tokens }) }),
  };
}

type ThinkingDisplay = MessagesRequest["thinking"];

/** Of Claude wherever it is served. */
export const CLAUDE_STOP_REASONS: Readonly<Record<Choice["finish"], string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
};

/** The body of a `message`. */
export function message(answer: Answer, display: ThinkingDisplay, script: Script): Part<string> {
  const choice = onlyChoice(answer);
  const body = {
    ...head(answer),
    content: contentOf(choice, answer.seed, display),
    ...ending(choice, script),
    usage: answer.claims && usageOf(answer),
  };
  return bodyPart(answer, body);
}

/** The events of a stream; the last one is its ending. */
export function* events(answer: Answer, display: ThinkingDisplay, script: Script): Generator<Part<string>> {
  const choice = onlyChoice(answer);
  const usage = answer.claims && usageOf(answer);
  const start = {
    ...head(answer),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usage && { ...usage, output_tokens: 1 },
  };
  yield { data: namedEvent("message_start", { message: start }), units: { prompt: answer.prompt } };
  for (const [index, block] of blocksOf(choice, answer.seed, display).entries()) {
    yield { data: namedEvent("content_block_start", { index, content_block: block.start }), tokens: block.tokens };
    if (index === 0) yield { data: namedEvent("ping", {}) };
    for (const { delta, tokens } of block.deltas)
      yield { data: namedEvent("content_block_delta", { index, delta }), tokens };
    yield { data: namedEvent("content_block_stop", { index }) };
  }
  yield {
    data: namedEvent("message_delta", { delta: ending(choice, script), usage }),
    claims: answer.claims,
  };
  if (!script.no_done) yield { data: namedEvent("message_stop", {}), uncounted: true };
}

interface Streamed {
  readonly start: object;
  /** In the start itself. */
  readonly tokens?: number;
  readonly deltas: readonly { readonly delta: object; readonly tokens: number }[];
}

function blocksOf({ reasoning, content, calls }: Choice, seed: string, display: ThinkingDisplay): readonly Streamed[] {
  const blocks: Streamed[] = [];
  if (reasoning.length > 0) blocks.push(thinking(reasoning, seed, display));
  if (content.length > 0) {
    const deltas = content.map((text) => ({ delta: { type: "text_delta", text }, tokens: countTokens(text) }));
    blocks.push({ start: { type: "text", text: "" }, deltas });
  }
  for (const call of calls) {
    const argumentTexts = call.arguments === "{}" ? [] : [...argumentDeltas(call)];
    const deltas = [{ text: "", tokens: 1 }, ...argumentTexts].map(({ text, tokens }) => ({
      delta: { type: "input_json_delta", partial_json: text },
      tokens,
    }));
    blocks.push({
      start: { type: "tool_use", id: idOf(call.id), name: call.name, input: {} },
      tokens: argumentTexts.length === 0 ? countTokens(call.arguments) : 0,
      deltas,
    });
  }
  return blocks;
}

function thinking(reasoning: readonly string[], seed: string, display: ThinkingDisplay): Streamed {
  const all = reasoning.reduce((sum, text) => sum + countTokens(text), 0);
  if (display === "redacted") {
    return { start: { type: "redacted_thinking", data: sign("claude", seed, "") }, tokens: all, deltas: [] };
  }
  const texts = display === "omitted" ? [] : reasoning;
  const signature = sign("claude", seed, texts.join(""));
  return {
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...texts.map((text) => ({ delta: { type: "thinking_delta", thinking: text }, tokens: countTokens(text) })),
      { delta: { type: "signature_delta", signature }, tokens: display === "omitted" ? all : 0 },
    ],
  };
}

function contentOf({ reasoning, content, calls }: Choice, seed: string, display: ThinkingDisplay): readonly object[] {
  const blocks: object[] = [];
  if (reasoning.length > 0 && display === "redacted")
    blocks.push({ type: "redacted_thinking", data: sign("claude", seed, "") });
  else if (reasoning.length > 0) {
    const text = display === "omitted" ? "" : reasoning.join("");
    blocks.push({ type: "thinking", thinking: text, signature: sign("claude", seed, text) });
  }
  if (content.length > 0) blocks.push({ type: "text", text: content.join("") });
  for (const { id, name, arguments: text } of calls) {
    blocks.push({ type: "tool_use", id: idOf(id), name, input: JSON.parse(text) as unknown });
  }
  return blocks;
}

function head({ seed, model }: Answer): object {
  return { id: `msg_sim_${seed}`, type: "message", role: "assistant", model };
}

function ending({ finish, stopped }: Choice, script: Script): object {
  const reason = stopped === null ? CLAUDE_STOP_REASONS[finish] : "stop_sequence";
  return { stop_reason: script.finish ?? reason, stop_sequence: script.finish === undefined ? stopped : null };
}

/** Input tokens are those that neither came from the cache nor went there. */
function usageOf({ usage }: Answer): object {
  const { prompt, completion, cached, cacheWrite, reasoning } = usage;
  return {
    input_tokens: subtract(prompt, cached, cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: completion,
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
    service_tier: "standard",
  };
}

function idOf(id: string): string {
  return id.replace("call_", "toolu_");
}

/*
 * Claude on Vertex AI (https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai): the Messages format, with
 * the model in the path and the version in the body.
 */

const VERSION = "vertex-2023-10-16";
/** Whose rules that version has. */
const MESSAGES_VERSION = "2023-06-01";
const MAXIMUM_BYTES = 30 * 1024 * 1024;

/** https://github.com/BerriAI/litellm litellm/anthropic_beta_headers_config.json, `vertex_ai`, and the page above. */
const BETAS: ReadonlySet<string> = new Set(
  (
    "compact-2026-01-12 compact-2026-09-04 computer-use-2025-01-24 computer-use-2025-11-24 context-1m-2025-08-07 " +
    "context-management-2025-06-27 dangerous-tool-use-2026-09-03 fallback-credit-2026-07-01 " +
    "interleaved-thinking-2025-05-14 per-turn-control-2026-07-01 thinking-binding-controls-2026-08-01 " +
    "thinking-display-updates-2026-08-18 tool-search-tool-2025-10-19 web-search-2025-03-05"
  ).split(" "),
);

/** `POST …/publishers/anthropic/models/{model}:rawPredict` and `:streamRawPredict`; of `count-tokens` a count. */
export function readRawPredict(received: ReceivedRequest): ParsedRequest {
  const [, name = ""] = /\/models\/([^/]+):\w+$/.exec(received.path) ?? [];
  if (received.body.length > MAXIMUM_BYTES) throw new SimError(413, "Request exceeds the maximum size");
  checkBetas(received.headers["anthropic-beta"]?.toString() ?? "");
  const { anthropic_version: version, ...body } = jsonOf(received);
  const model = decodePathPart(name);
  // The body names the model that counts; the version may be left out.
  if (model === "count-tokens") return countedIn(body);
  checkForm(body, version);
  return repliedTo(parseMessages({ ...body, model }, MESSAGES_VERSION), body, received);
}

function checkForm(body: Json, version: unknown): void {
  if (version === undefined) throw invalid("anthropic_version", "Field required");
  if (version !== VERSION) throw invalid("anthropic_version", `Input should be '${VERSION}'`);
  if (body["model"] !== undefined) throw invalid("model", "Extra inputs are not permitted");
}

/** In the words of https://github.com/anthropics/claude-code/issues/12429. */
function checkBetas(header: string): void {
  const unknown = header
    .split(",")
    .map((beta) => beta.trim())
    .filter((beta) => beta !== "" && !BETAS.has(beta));
  if (unknown.length === 0) return;
  throw new SimError(
    400,
    `Unexpected value(s) ${unknown.map((beta) => `\`${beta}\``).join(", ")} for the \`anthropic-beta\` header. Please consult our documentation at docs.anthropic.com or try again without the header.`,
  );
}
