import { isJson, type StreamEvent, type Units, type Usage } from "../kit/index.ts";
import { type CountTokens, KeptText } from "./kept-text.ts";

/** Characters of produced text that are kept for a tokenizer: most upstreams count, and then it is not asked. */
const KEPT_CHARACTERS = 256 * 1024;

/** What one exchange uses: what its upstream tells, and for what that leaves out the text it produced. */
export class Metered {
  /** The upstream's last count. */
  usage: Usage | null = null;
  /** Whether `usage` counts all that was produced so far. */
  usageComplete = false;
  /** A finish reason was seen. */
  finished = false;
  /** The upstream has counted with the finish reason or behind it. */
  #toldAtEnd = false;
  /** Produced text, as far as it is kept. */
  #text = "";
  /** Characters of what was produced beyond it. */
  #unkept = 0;
  readonly #countTokens: CountTokens;

  constructor(countTokens: CountTokens) {
    this.#countTokens = countTokens;
  }

  /** The answer is whole and the upstream's count is still to come. */
  get owesCount(): boolean {
    return this.finished && !this.#toldAtEnd;
  }

  event({ data, text, usage, partial }: StreamEvent): void {
    if (text !== "") {
      this.usageComplete = false;
      this.produced(text);
    }
    this.finished ||= hasFinish(data["choices"]);
    if (usage === undefined) return;
    this.usage = usage;
    this.usageComplete = partial !== true;
    this.#toldAtEnd = this.finished && this.usageComplete;
  }

  /** The count that came with an answer, or with the head of a body. */
  told(usage: Usage | null): void {
    this.usage = usage;
    this.usageComplete = usage !== null;
  }

  produced(text: string): void {
    if (this.#text.length < KEPT_CHARACTERS) this.#text += text;
    else this.#unkept += text.length;
  }

  /** What `Ending.estimate` promises. */
  async estimate(asked: () => KeptText, units: Units | undefined): Promise<Usage> {
    const { usage } = this;
    if (usage !== null && this.usageComplete) return { ...usage, ...units };
    // No prompt is empty: an upstream that says so at the start counts at the end.
    const prompt = usage?.prompt || asked().tokens(this.#countTokens);
    const completion = Math.max(usage?.completion ?? 0, await this.#producedTokens());
    return { cached: 0, reasoning: 0, ...usage, prompt: await prompt, completion, ...units };
  }

  /** What is not kept has as many tokens a character as what is. */
  async #producedTokens(): Promise<number> {
    const kept = this.#text.length;
    if (kept === 0) return 0;
    const tokens = await new KeptText(this.#text).tokens(this.#countTokens);
    return Math.ceil(tokens * (1 + this.#unkept / kept));
  }
}

function hasFinish(choices: unknown): boolean {
  if (!Array.isArray(choices)) return false;
  for (const choice of choices) if (isJson(choice) && typeof choice["finish_reason"] === "string") return true;
  return false;
}
