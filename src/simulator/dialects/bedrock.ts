import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { crc32 } from "node:zlib";
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
  type ParsedRequest,
  type Part,
  type ReceivedRequest,
  type Reply,
} from "../endpoint.ts";
import { asNumber, SimError } from "../fields.ts";
import { bedrockType } from "../provider.ts";
import type { Script } from "../script.ts";
import { CLAUDE_STOP_REASONS } from "./anthropic.ts";
import { parseConverse } from "./bedrock-request.ts";

/** `POST /model/{id}/converse` and `/model/{id}/converse-stream`. */
export function readConverse(received: ReceivedRequest): ParsedRequest {
  checkSigned(received.headers, received.body);
  const [, id = "", stream] = /\/model\/([^/]+)\/converse(-stream)?$/.exec(received.path) ?? [];
  const body = jsonOf(received);
  const question = parseConverse(body, decodePathPart(id));
  return {
    model: question.model,
    sim: body["sim"],
    reply: (script): Reply => {
      const made = answer(question, script, `${question.model} ${received.body.toString()}`);
      const headers = { "x-amzn-requestid": `sim-${made.seed}` };
      if (stream === undefined) {
        const reply = jsonReply(200, converse(made, script));
        return { ...reply, headers: { ...reply.headers, ...headers } };
      }
      return {
        status: 200,
        headers: { ...headers, "content-type": EVENT_STREAM },
        type: "events",
        parts: events(made, script),
        frame: faultFrame,
      };
    },
  };
}

const LATENCY_MS = 1;
/** The body of a whole answer. */
export function converse(answer: Answer, script: Script): Part<string> {
  const choice = onlyChoice(answer);
  const body = {
    metrics: { latencyMs: LATENCY_MS },
    output: { message: { content: contentOf(choice, answer), role: "assistant" } },
    stopReason: reasonOf(choice, script),
    usage: answer.claims && usageOf(answer),
  };
  return bodyPart(answer, body);
}

/** The events of a stream. A block is announced only where it is the use of a tool. */
export function* events(answer: Answer, script: Script): Generator<Part<Uint8Array>> {
  const choice = onlyChoice(answer);
  yield { data: eventFrame("messageStart", { role: "assistant" }), units: { prompt: answer.prompt } };
  for (const [contentBlockIndex, block] of blocksOf(choice, answer).entries()) {
    const { start, deltas } = block;
    if (start) yield { data: eventFrame("contentBlockStart", { contentBlockIndex, start }), tokens: 1 };
    for (const { delta, tokens } of deltas) {
      yield { data: eventFrame("contentBlockDelta", { contentBlockIndex, delta }), tokens };
    }
    yield { data: eventFrame("contentBlockStop", { contentBlockIndex }) };
  }
  const stop: Part<Uint8Array> = { data: eventFrame("messageStop", { stopReason: reasonOf(choice, script) }) };
  if (script.metadata !== "before") yield stop;
  const usage = answer.claims && usageOf(answer);
  yield {
    data: eventFrame("metadata", { metrics: { latencyMs: LATENCY_MS }, usage }),
    claims: answer.claims,
  };
  if (script.metadata === "before") yield stop;
}

interface Streamed {
  readonly start?: object;
  readonly deltas: readonly { readonly delta: object; readonly tokens: number }[];
}

function blocksOf({ reasoning, content, calls }: Choice, { seed, model }: Answer): readonly Streamed[] {
  const blocks: Streamed[] = [];
  if (reasoning.length > 0) {
    const tokens = reasoning.reduce((sum, text) => sum + countTokens(text), 0);
    const signature = {
      delta: { reasoningContent: { signature: sign("claude", seed, reasoning.join("")) } },
      tokens: 0,
    };
    const visible = reasoning.map((text) => ({ delta: { reasoningContent: { text } }, tokens: countTokens(text) }));
    const redacted = { delta: { reasoningContent: { redactedContent: sign("claude", seed, "") } }, tokens };
    blocks.push({ deltas: isRedacted(model) ? [redacted] : [...visible, signature] });
  }
  if (content.length > 0)
    blocks.push({ deltas: content.map((text) => ({ delta: { text }, tokens: countTokens(text) })) });
  for (const call of calls) {
    const deltas = [...argumentDeltas(call)].map(({ text, tokens }) => ({
      delta: { toolUse: { input: text } },
      tokens,
    }));
    blocks.push({ start: { toolUse: { toolUseId: idOf(call.id), name: call.name } }, deltas });
  }
  return blocks;
}

function contentOf({ reasoning, content, calls }: Choice, { seed, model }: Answer): readonly object[] {
  const blocks: object[] = [];
  if (reasoning.length > 0) {
    const text = reasoning.join("");
    const reasoningContent = isRedacted(model)
      ? { redactedContent: sign("claude", seed, "") }
      : { reasoningText: { text, signature: sign("claude", seed, text) } };
    blocks.push({ reasoningContent });
  }
  if (content.length > 0) blocks.push({ text: content.join("") });
  for (const { id, name, arguments: text } of calls) {
    blocks.push({ toolUse: { toolUseId: idOf(id), name, input: JSON.parse(text) as unknown } });
  }
  return blocks;
}

function reasonOf({ finish, stopped }: Choice, script: Script): string {
  return script.finish ?? (stopped === null ? CLAUDE_STOP_REASONS[finish] : "stop_sequence");
}

/** Input tokens are those that neither came from the cache nor went there. */
function usageOf({ usage }: Answer): object {
  const { prompt, completion, cached, cacheWrite } = usage;
  return {
    inputTokens: subtract(prompt, cached, cacheWrite),
    outputTokens: completion,
    totalTokens: asNumber(prompt) + asNumber(completion),
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: cacheWrite,
  };
}

function isRedacted(model: string): boolean {
  return model.includes("redact");
}

function idOf(id: string): string {
  return id.replace("call_", "tooluse_");
}

export const EVENT_STREAM = "application/vnd.amazon.eventstream";

const CHECKSUM_BYTES = 4;
/** Length of the frame, length of its headers, and the checksum of both. */
const PRELUDE_BYTES = 12;

/** An event of a stream as bytes: its payload is the inner object, its name a header. */
export function eventFrame(name: string, payload: object): Uint8Array {
  return frame({ ":event-type": name, ":message-type": "event" }, JSON.stringify(payload));
}

/** An exception in a stream; without one, an event whose checksum is wrong. */
export function faultFrame(error: SimError | null): Uint8Array {
  if (error !== null) {
    const type = bedrockType(error.status);
    const name = type.charAt(0).toLowerCase() + type.slice(1);
    return frame({ ":exception-type": name, ":message-type": "exception" }, JSON.stringify({ message: error.message }));
  }
  const bytes = frame({ ":event-type": "contentBlockDelta", ":message-type": "event" }, MALFORMED);
  const at = bytes.length - CHECKSUM_BYTES;
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  return bytes;
}

/** Of a header's value: its type. */
const TEXT = 7;

function frame(headers: Readonly<Record<string, string>>, payload: string): Uint8Array {
  const written = Object.entries({ ...headers, ":content-type": "application/json" }).map(([name, value]) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(Buffer.byteLength(value));
    return Buffer.concat([
      Buffer.of(Buffer.byteLength(name)),
      Buffer.from(name),
      Buffer.of(TEXT),
      length,
      Buffer.from(value),
    ]);
  });
  const fields = Buffer.concat(written);
  const bytes = Buffer.concat([
    Buffer.alloc(PRELUDE_BYTES),
    fields,
    Buffer.from(payload),
    Buffer.alloc(CHECKSUM_BYTES),
  ]);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(fields.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, PRELUDE_BYTES - CHECKSUM_BYTES)), PRELUDE_BYTES - CHECKSUM_BYTES);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, -CHECKSUM_BYTES)), bytes.length - CHECKSUM_BYTES);
  return bytes;
}

const SIGNATURE =
  /^AWS4-HMAC-SHA256 Credential=([^/\s,]+)\/(\d{8})\/([a-z0-9-]+)\/([a-z0-9-]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;

/**
 * A Bearer key, or a signature as SigV4 writes it: of these very bytes, for this service and day. Any secret will do.
 * @throws SimError 403
 */
export function checkSigned(headers: IncomingHttpHeaders, body: Uint8Array): void {
  const { authorization } = headers;
  if (authorization === undefined) throw refused("MissingAuthenticationTokenException", "Missing Authentication Token");
  if (/^Bearer \S/.test(authorization)) return;
  const [whole, , day, , service, signed = ""] = SIGNATURE.exec(authorization) ?? [];
  if (whole === undefined) {
    throw refused(
      "IncompleteSignatureException",
      "Authorization header requires 'Credential', 'SignedHeaders' and 'Signature' parameters.",
    );
  }
  if (service !== "bedrock") {
    throw refused("InvalidSignatureException", `Credential should be scoped to correct service: 'bedrock'.`);
  }
  const date = String(headers["x-amz-date"]);
  if (!/^\d{8}T\d{6}Z$/.test(date) || !date.startsWith(String(day))) {
    throw refused("InvalidSignatureException", "Date in Credential scope does not match the one of x-amz-date.");
  }
  const missing = ["host", "x-amz-date"].find((name) => !signed.split(";").includes(name));
  if (missing !== undefined)
    throw refused("InvalidSignatureException", `'${missing}' must be a 'SignedHeader' in the AWS Request.`);
  const digest = headers["x-amz-content-sha256"];
  if (digest !== undefined && digest !== "UNSIGNED-PAYLOAD" && digest !== hash("sha256", body)) {
    throw refused(
      "InvalidSignatureException",
      "The value passed in x-amz-content-sha256 does not match the request's payload.",
    );
  }
}

function refused(code: string, message: string): SimError {
  return new SimError(403, message, { code });
}
