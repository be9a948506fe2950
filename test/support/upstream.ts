import {
  AttemptError,
  type Call,
  type Exchange,
  type FailureClass,
  type Json,
  type Reply,
  type Target,
  type Thinking,
  type Usage,
} from "../../src/kit/index.ts";
import type { Send } from "../../src/pipeline/attempts.ts";
import { chunk, FakeSource, usageChunk } from "./source.ts";

/** What one attempt does. One that replies has been sent its request. */
export type Play = (target: Target, call: Call, exchange: Exchange, onSent: () => void) => Reply | Promise<Reply>;

/** Failures of a request that was never sent. */
const UNSENT: ReadonlySet<FailureClass> = new Set(["connect", "saturated", "resting", "unsupported", "skipped"]);

/** Stands in for the upstream layer: each attempt plays the next line of the script, the last one over and over. */
export class ScriptedUpstream {
  readonly attempts: { readonly target: Target; readonly call: Call; readonly exchange: Exchange }[] = [];
  readonly sources: FakeSource[] = [];
  #script: readonly Play[] = [streams()];
  #line = 0;

  play(...script: readonly [Play, ...Play[]]): void {
    this.#script = script;
    this.#line = 0;
  }

  readonly send: Send = async (target, call, exchange, onSent) => {
    this.attempts.push({ target, call, exchange });
    const play = this.#script[Math.min(this.#line, this.#script.length - 1)]!;
    this.#line += 1;
    const reply = await play(target, call, exchange, onSent);
    onSent();
    if (reply.type === "events" && reply.source instanceof FakeSource) this.sources.push(reply.source);
    return reply;
  };
}

export const USAGE: Usage = { prompt: 10, completion: 5, cached: 0, reasoning: 0 };

/** A whole stream: two texts, a finish reason, a count, the end. */
export function streams(usage: Usage | null = USAGE): Play {
  return (target) => {
    const source = new FakeSource();
    source.emit(chunk({ role: "assistant", content: "" }));
    source.emit(chunk({ content: "Hello " }), chunk({ content: "world" }), chunk({}, { finish: "stop" }));
    if (usage !== null) source.emit(usageChunk(usage));
    source.finish();
    return { type: "events" as const, target, source };
  };
}

/** A stream in the test's own hands. */
export function streamsFrom(source: FakeSource, thinking?: Thinking): Play {
  return (target) => ({ type: "events" as const, target, source, ...(thinking && { thinking }) });
}

/** A complete answer. */
export function answers(usage: Usage | null = USAGE): Play {
  return (target) => ({ type: "answer" as const, target, body: completion(usage), usage });
}

export function fails(failure: FailureClass, message = `upstream ${failure}`): Play {
  return (_target, _call, _exchange, onSent) => {
    if (!UNSENT.has(failure)) onSent();
    throw new AttemptError(failure, message);
  };
}

/** Never connects; gives up when nobody waits any more, as the upstream layer does. */
export const connects: Play = (_target, _call, { signal }) =>
  new Promise((_resolve, reject) => {
    const giveUp = (): void => reject(new AttemptError("aborted", "the request was given up"));
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
  });

/** Takes the request and never answers. */
export const hangs: Play = (target, call, exchange, onSent) => {
  if (!exchange.signal.aborted) onSent();
  return connects(target, call, exchange, onSent);
};

export function completion(usage: Usage | null): Json {
  const body = {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_768_478_400,
    model: "upstream-model",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello world" }, finish_reason: "stop" }],
  };
  if (usage === null) return body;
  const { prompt, completion } = usage;
  return {
    ...body,
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  };
}
