import { answer } from "./answer.ts";
import { defectiveAnswer, defectiveChunks } from "./defects.ts";
import { parseBody } from "./fields.ts";
import { note, NOTHING } from "./ledger.ts";
import type { LedgerEntry } from "./ledger.ts";
import { chunks, completion, DONE } from "./openai-answer.ts";
import { parseChat } from "./openai-request.ts";
import type { ChatRequest } from "./openai-request.ts";
import type { Part } from "./part.ts";
import { jsonReply, streamReply } from "./reply.ts";
import type { Reply } from "./reply.ts";
import { parseScript } from "./script.ts";
import type { Script } from "./script.ts";
import { checkVendor, habitsOf } from "./strict/vendors.ts";

const KEPT_TEXT = 16_384;
const KEPT = 128;

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
      units: NOTHING,
      claimed: null,
    };
    for (const part of parts) note(facts, part);
    const encoded: Encoded = { reply, payload, facts };
    if (this.#encoded.size >= KEPT) this.#encoded.clear();
    if (text.length <= KEPT_TEXT) this.#encoded.set(text, encoded);
    return encoded;
  }
}

/** A stream with its ending. */
export function* ended(parts: Iterable<Part<string>>, ending: string): Generator<Part<string>> {
  yield* parts;
  yield { data: ending, uncounted: true };
}
