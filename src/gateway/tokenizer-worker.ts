import { parentPort } from "node:worker_threads";
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base";

/** Merging takes time quadratic in a run without a boundary: longer runs are cut, which miscounts by under 1 %. */
const MAX_RUN_CHARACTERS = 256;
/** Runs kept with their merges: about 2 MB. */
const MAX_CACHED_RUNS = 5_000;
/** `<|endoftext|>` inside a prompt is plain text, not an error. */
const PLAIN = { disallowedSpecial: new Set<string>() };

setMergeCacheSize(MAX_CACHED_RUNS);
parentPort?.on("message", ({ id, text }: { id: number; text: string }) => {
  parentPort?.postMessage({ id, tokens: tokensIn(text) }, []);
});

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
    const isBlank = code <= 0x20;
    run = isBlank === blank ? run + 1 : 1;
    blank = isBlank;
    if (run < MAX_RUN_CHARACTERS || splitsPair(code, text.charCodeAt(at + 1))) continue;
    tokens += countTokens(text.slice(from, at + 1), PLAIN);
    from = at + 1;
    run = 0;
  }
  return tokens + countTokens(text.slice(from), PLAIN);
}
