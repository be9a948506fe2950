import { parentPort } from "node:worker_threads";
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base";

/** Merging takes time quadratic in a run without a boundary: longer runs are cut, which miscounts by under 1 %. */
const MAX_RUN_CHARACTERS = 256;
/** Runs kept with their merges: about 2 MB. */
const MAX_CACHED_RUNS = 5_000;
/** `<|endoftext|>` inside a prompt is plain text, not an error. */
const PLAIN = { disallowedSpecial: new Set<string>() };
/** Counted in one go. Of letters at random, the dearest text, it takes some 30 ms; of prose less than one. */
const SLICE_CHARACTERS = 8_192;
/** How far before the end of a slice a boundary of words is looked for. */
const MAX_WORD_CHARACTERS = 512;

/** A text to be counted. */
export interface CountJob {
  readonly id: number;
  readonly text: string;
  /** Whose question it is; null for a settlement, which waits for no client. */
  readonly userId: string | null;
}

/** The owners of texts take turns, a slice each; the texts of one owner are counted in order. */
export class Turns {
  /** By owner; whose turn is next comes first. */
  readonly #queues = new Map<string, Counting[]>();

  get empty(): boolean {
    return this.#queues.size === 0;
  }

  add(owner: string, job: CountJob): void {
    const queue = this.#queues.get(owner);
    const counting = { job, at: 0, tokens: 0 };
    if (queue === undefined) this.#queues.set(owner, [counting]);
    else queue.push(counting);
  }

  /** Counts the next slice. @returns what it finishes, or null. */
  turn(): { readonly id: number; readonly tokens: number } | null {
    const [next] = this.#queues;
    if (next === undefined) return null;
    const [owner, queue] = next;
    const counting = queue[0]!;
    const { id, text } = counting.job;
    const end = sliceEnd(text, counting.at);
    counting.tokens += tokensIn(text.slice(counting.at, end));
    counting.at = end;
    const isDone = end === text.length;
    if (isDone) queue.shift();
    this.#queues.delete(owner);
    if (queue.length > 0) this.#queues.set(owner, queue);
    return isDone ? { id, tokens: counting.tokens } : null;
  }
}

interface Counting {
  readonly job: CountJob;
  at: number;
  tokens: number;
}

/** Where the slice from `start` ends: before a word if one is near, for no token spans that; never within a character. */
export function sliceEnd(text: string, start: number): number {
  const limit = start + SLICE_CHARACTERS;
  if (limit >= text.length) return text.length;
  for (let at = limit; at > limit - MAX_WORD_CHARACTERS; at -= 1) {
    if (text.charCodeAt(at) === SPACE && !isBlank(text.charCodeAt(at - 1))) return at;
  }
  return splitsPair(text.charCodeAt(limit - 1), text.charCodeAt(limit)) ? limit + 1 : limit;
}

const SPACE = 0x20;

function isBlank(code: number): boolean {
  return code <= SPACE;
}

/** Whether a cut between the two code units would split a surrogate pair. */
function splitsPair(code: number, next: number): boolean {
  return code >= 0xd800 && code < 0xdc00 && next >= 0xdc00 && next < 0xe000;
}

/** Takes time linear in the text. */
export function tokensIn(text: string): number {
  let tokens = 0;
  let from = 0;
  let run = 0;
  let blank = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    run = isBlank(code) === blank ? run + 1 : 1;
    blank = isBlank(code);
    if (run < MAX_RUN_CHARACTERS || splitsPair(code, text.charCodeAt(at + 1))) continue;
    tokens += countTokens(text.slice(from, at + 1), PLAIN);
    from = at + 1;
    run = 0;
  }
  return tokens + countTokens(text.slice(from), PLAIN);
}

setMergeCacheSize(MAX_CACHED_RUNS);
if (parentPort !== null) serve(parentPort);

/** Counts what is posted. Between two slices it looks for new texts. */
function serve(port: NonNullable<typeof parentPort>): void {
  const clients = new Turns();
  /** Every text for itself: a long one of some user must not hold up the settlements of others. */
  const settlements = new Turns();
  let isRunning = false;
  const step = (): void => {
    for (const turns of [settlements, clients]) {
      const done = turns.turn();
      if (done !== null) port.postMessage(done, []);
    }
    isRunning = !settlements.empty || !clients.empty;
    if (isRunning) setImmediate(step);
  };
  port.on("message", (job: CountJob) => {
    if (job.userId === null) settlements.add(String(job.id), job);
    else clients.add(job.userId, job);
    if (isRunning) return;
    isRunning = true;
    setImmediate(step);
  });
}
