import type { Admission, Call, LedgerRecord } from "../src/kit/index.ts";

export const SHIPPED_CONFIG = new URL("../gateway.yaml", import.meta.url).pathname;

export const CHUNKS = 100;
const WORD = " lorem ipsum dolor sit amet";

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_767_225_600, model: "upstream-model-1" };
const chunk = (delta: object, beside: object, finish: string | null = null, usage: object | null = null) => {
  const choices = usage ? [] : [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...head, choices, usage, ...beside })}\n\n`;
};

/** An upstream's stream of CHUNKS content events with usage, one read an event, as it comes off a socket. */
const stream = (beside: (at: number) => object): readonly Uint8Array[] =>
  [
    chunk({ role: "assistant", content: "" }, beside(0)),
    ...Array.from({ length: CHUNKS }, (_, at) => chunk({ content: WORD }, beside(at))),
    chunk({}, beside(1), "stop"),
    chunk({}, beside(2), null, { prompt_tokens: 10, completion_tokens: 500, total_tokens: 510 }),
    "data: [DONE]\n\n",
  ].map((event) => Buffer.from(event));

export const STREAM = stream(() => ({}));
/** As OpenAI sends it: filled up behind a usage of null, each chunk otherwise. */
export const PADDED_STREAM = stream((at) => ({ obfuscation: "Qz7aPx1c".slice(at % 8) }));

export const STREAM_TEXT = WORD.repeat(CHUNKS);

export const CALL: Call = {
  kind: "chat",
  model: "route/bench",
  stream: true,
  body: { model: "route/bench", stream: true, messages: [{ role: "user", content: "hi" }] },
  promptBytes: 2,
  maxOutput: null,
};

export const CREDITS = 10n ** 18n;
export const HOLD = 1_000_000n;
export const CHARGE = 400_000n;

export function admissionOf(id: string, userId: string): Admission {
  const limits = { day: 1e9, hour: 1e9, minute: 1e9, streams: 1e9 };
  return { id, userId, limits, units: 1, stream: true, hold: HOLD, enforceCredits: true, model: "route/bench" };
}

export function recordOf(now: number): LedgerRecord {
  const usage = { prompt: 10, completion: 500, cached: 0, reasoning: 0 };
  const ending = { upstream: "mock", outcome: "served", usage, estimated: false } as const;
  return { requestId: "bench", keyId: null, model: "route/bench", ...ending, receivedAt: now, endedAt: now };
}
