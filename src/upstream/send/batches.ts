import type { Batches } from "../../dialects/dialect.ts";
import type { AnswerReply, Call, Exchange, Reply, Target } from "../../kit/index.ts";

/** Requests of one call that are out at a time. */
const AT_ONCE = 4;

export interface Parts {
  readonly batches: Batches;
  readonly calls: readonly Call[];
  readonly target: Target;
  readonly exchange: Exchange;
  readonly send: (call: Call, exchange: Exchange) => Promise<Reply>;
}

/** One attempt in several requests; the first that fails ends it, and the others with it. @throws AttemptError */
export async function sendInBatches({ batches, calls, target, exchange, send }: Parts): Promise<AnswerReply> {
  const failed = new AbortController();
  const part: Exchange = { ...exchange, signal: AbortSignal.any([exchange.signal, failed.signal]) };
  const replies: AnswerReply[] = Array.from({ length: calls.length });
  // Shared by those that work on it: each takes what is next.
  const waiting = calls.entries();
  const work = async (): Promise<void> => {
    for (const [index, call] of waiting) {
      const reply = await send(call, part);
      if (reply.type !== "answer") throw new TypeError("a batch was answered with a stream");
      replies[index] = reply;
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } catch (error) {
    failed.abort();
    throw error;
  }
  const dropped = [...new Set(replies.flatMap((reply) => reply.dropped ?? []))];
  return { type: "answer", target, ...batches.join(replies), ...(dropped.length > 0 && { dropped }) };
}
