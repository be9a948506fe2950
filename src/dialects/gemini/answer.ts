import type { Call } from "../../kit/index.ts";
import type { Decoded } from "../dialect.ts";
import { malformed } from "../errors.ts";
import { parseAnswer } from "../requests.ts";
import { assembled } from "./assemble.ts";
import { Candidates } from "./candidates.ts";
import { readCounts } from "./usage.ts";

/** A complete answer. @throws AttemptError for one without candidates, or with one that has not ended. */
export function chatAnswer(bytes: Uint8Array, call: Call): Decoded {
  const answer = parseAnswer(bytes);
  const candidates = new Candidates(call);
  const deltas = candidates.add(answer);
  if (!candidates.ended) throw malformed("an answer without an end");
  const all = [...deltas, ...candidates.finish()];
  const indexes = new Set(all.map(({ index }) => Number(index)));
  const choices = [...indexes]
    .toSorted((a, b) => a - b)
    .map((index) => assembled(all.filter((choice) => choice["index"] === index)));
  const counted = readCounts(answer);
  return {
    body: { ...candidates.head, object: "chat.completion", choices, ...(counted && { usage: counted.shown }) },
    usage: counted?.usage ?? null,
  };
}
