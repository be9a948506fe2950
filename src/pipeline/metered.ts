import { isJson, type StreamEvent, type Units, type Usage } from "../kit/index.ts";

type CountTokens = (text: string) => Promise<number>;

/** A stream's produced text waits here, in characters, before it is counted: the bound of its memory. */
const SEGMENT_CHARACTERS = 32 * 1024;
const CHARACTERS_PER_TOKEN = 4;

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
  /** Produced text that is not counted yet. */
  #text = "";
  #tokens: Promise<number> = Promise.resolve(0);
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
    this.#text += text;
    if (this.#text.length >= SEGMENT_CHARACTERS) this.#countText();
  }

  /** What `Ending.estimate` promises. */
  async estimate(promptText: () => string, units: Units | undefined): Promise<Usage> {
    const { usage } = this;
    if (usage !== null && this.usageComplete) return { ...usage, ...units };
    // No prompt is empty: an upstream that says so at the start counts at the end.
    const prompt = usage?.prompt || countOrGuess(this.#countTokens, promptText());
    this.#countText();
    const completion = Math.max(usage?.completion ?? 0, await this.#tokens);
    return { cached: 0, reasoning: 0, ...usage, prompt: await prompt, completion, ...units };
  }

  #countText(): void {
    if (this.#text === "") return;
    const segment = this.#text;
    this.#text = "";
    const before = this.#tokens;
    const counted = Promise.all([before, countOrGuess(this.#countTokens, segment)]);
    this.#tokens = counted.then(([sum, tokens]) => sum + tokens);
  }
}

/**
 * Tokens of a text. A tokenizer that fails must not make an answer free, nor surface as an unhandled rejection in a
 * stream that later brings its own count: a guess by length then stands in.
 */
async function countOrGuess(countTokens: CountTokens, text: string): Promise<number> {
  try {
    return await countTokens(text);
  } catch {
    return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  }
}

function hasFinish(choices: unknown): boolean {
  if (!Array.isArray(choices)) return false;
  for (const choice of choices) if (isJson(choice) && typeof choice["finish_reason"] === "string") return true;
  return false;
}
