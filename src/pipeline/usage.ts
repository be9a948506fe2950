import { isJson, type Json, type StreamEvent, type Thinking, type Units, type Usage } from "../kit/index.ts";
import { CHARACTERS_PER_TOKEN, type CountTokens, type PackedText, ProducedText } from "./texts.ts";

/** By how much an upstream's own tokenizer may count more than ours without any thoughts. */
const TOKENIZER_MARGIN = { share: 0.5, tokens: 32 };

/** Counts what one exchange uses: the upstream's own counts, and the produced text for what they leave out. */
export class UsageMeter {
  /** The upstream's last count. */
  usage: Usage | null = null;
  /** Whether `usage` counts all that was produced so far. */
  usageComplete = false;
  /** A finish reason was seen. */
  finished = false;
  /** How the model thinks; null: not at all, as far as is known. */
  thinking: Thinking | null = null;
  /** The upstream has counted with the finish reason or after it. */
  #countedAtEnd = false;
  /** Everything but thoughts. */
  readonly #visible = new ProducedText();
  /** null before the first. */
  #thoughts: ProducedText | null = null;
  /** Characters of both that the upstream's last count of all has in it. */
  #countedVisible = 0;
  #countedThoughts = 0;
  /** Its last count was one of everything up to then. */
  #isWhole = false;
  /** It has told what was thought before the first visible word. */
  #hasToldThoughts = false;
  /** A thought was a summary, or encrypted. */
  #isSummarized = false;
  #isDeclared = false;
  readonly #countTokens: CountTokens;

  constructor(countTokens: CountTokens) {
    this.#countTokens = countTokens;
  }

  /** The answer is whole and the upstream's count is still to come. */
  get owesCount(): boolean {
    return this.finished && !this.#countedAtEnd && !this.#isDeclared;
  }

  /** The model has thought what only the upstream's count can tell. */
  get hidesThoughts(): boolean {
    if (this.thinking === null || this.#hasToldThoughts || this.#isDeclared) return false;
    return this.#thoughts === null || this.#isSummarized || !this.thinking.whole;
  }

  /** Of a whole answer: its text says what its count does not. */
  get needsText(): boolean {
    return this.usage === null || (this.thinking !== null && this.usage.reasoning === 0);
  }

  /** What a plugin wants charged for its own answer: nothing that the answer says counts any more. */
  declare(usage: Usage | null): void {
    this.setUsage(usage);
    this.#isDeclared = true;
  }

  addEvent({ data, text, usage, partial }: StreamEvent): void {
    if (this.#isDeclared) {
      this.finished ||= hasFinishReason(data["choices"]);
      return;
    }
    if (text !== "") {
      this.usageComplete = false;
      this.#add(text, data["choices"]);
    }
    this.finished ||= hasFinishReason(data["choices"]);
    if (usage === undefined) return;
    this.#isWhole = partial !== true;
    this.#hasToldThoughts ||= usage.reasoning > 0 || (this.#isWhole && (this.finished || this.#visible.characters > 0));
    this.usage = usage;
    this.usageComplete = this.#isWhole;
    if (this.#isWhole) {
      this.#countedVisible = this.#visible.characters;
      this.#countedThoughts = this.#thoughts?.characters ?? 0;
    }
    this.#countedAtEnd = this.finished && this.usageComplete;
  }

  /** The count that came with a whole answer, or with the head of a body of bytes. */
  setUsage(usage: Usage | null): void {
    this.usage = usage;
    this.usageComplete = usage !== null;
  }

  /** Of a whole answer. */
  addText(text: string): void {
    this.#visible.add(text);
  }

  /** @param choices that the text is from. */
  #add(text: string, choices: unknown): void {
    const thought = thoughtOf(choices);
    if (thought === null) return this.#visible.add(text);
    this.#isSummarized ||= thought.isSummary;
    this.#thoughts ??= new ProducedText();
    this.#thoughts.add(thought.text);
    // A separator before a thought is in the delta and not in the text.
    if (text.length > thought.text.length) this.#visible.add(text.replace(thought.text, ""));
  }

  /**
   * As `Ending.estimate`.
   * @param prompt called only if the upstream has not counted the prompt.
   * @param hidden tokens that the model is taken to have thought in silence.
   */
  async estimate(prompt: () => PackedText, units: Units | undefined, hidden = 0): Promise<Usage> {
    const { usage } = this;
    if (usage !== null && this.usageComplete) return { ...usage, ...units };
    // No prompt is empty: a count of 0 is a placeholder of upstreams that count at the end of a stream.
    const promptTokens = usage?.prompt || prompt().tokens(this.#countTokens);
    const visible = await this.#visible.tokens(this.#countTokens, this.#countedVisible);
    const thoughts = (await this.#thoughts?.tokens(this.#countTokens, this.#countedThoughts)) ?? 0;
    const thought = Math.max(thoughts, hidden);
    const told = usage ?? { completion: 0, reasoning: 0 };
    const produced = this.#isWhole
      ? {
          completion: told.completion + visible + thought,
          reasoning: told.reasoning + thought,
        }
      : withTold(told, visible, thought);
    return { cached: 0, ...usage, ...produced, prompt: await promptTokens, ...units };
  }

  /**
   * Tokens that the model thought without showing them, of an answer that its upstream has counted; null where there is
   * nothing to learn from.
   */
  async silentThoughts(): Promise<number | null> {
    const { usage, thinking } = this;
    if (thinking === null || usage === null || !this.usageComplete || this.#isDeclared) return null;
    if (thinking.whole && this.#thoughts !== null && !this.#isSummarized) return null;
    if (usage.reasoning > 0) return usage.reasoning;
    if (usage.completion * CHARACTERS_PER_TOKEN <= this.#visible.characters) return 0;
    // Some upstreams count thoughts with the rest of the output: what is no visible text was thought.
    const visible = await this.#visible.tokens(this.#countTokens);
    const silent = usage.completion - visible;
    return silent > visible * TOKENIZER_MARGIN.share + TOKENIZER_MARGIN.tokens ? silent : 0;
  }
}

/** A count of a part is the least that it can be. */
function withTold(told: Pick<Usage, "completion" | "reasoning">, visible: number, thought: number) {
  const reasoning = Math.max(told.reasoning, thought);
  return { completion: Math.max(told.completion, reasoning + visible), reasoning };
}

function hasFinishReason(choices: unknown): boolean {
  if (!Array.isArray(choices)) return false;
  for (const choice of choices) if (isJson(choice) && typeof choice["finish_reason"] === "string") return true;
  return false;
}

interface Thought {
  readonly text: string;
  readonly isSummary: boolean;
}

/** Fields of a delta that hold a thought, in the canonical form and in vendors' own. */
const THOUGHTS = ["reasoning_content", "reasoning", "reasoning_text", "thinking"];

/** The thoughts among the deltas; null without any. */
function thoughtOf(choices: unknown): Thought | null {
  if (!Array.isArray(choices)) return null;
  let text = "";
  let isSummary = false;
  for (const choice of choices) {
    const delta: unknown = isJson(choice) ? choice["delta"] : null;
    if (!isJson(delta)) continue;
    for (const name of THOUGHTS) {
      const thought = delta[name];
      if (typeof thought !== "string" || thought === "") continue;
      text += thought;
      isSummary ||= hasSummary(delta);
      break;
    }
  }
  return text === "" ? null : { text, isSummary };
}

function hasSummary({ reasoning_details: details }: Json): boolean {
  if (!Array.isArray(details)) return false;
  return details.some((detail: unknown) => isJson(detail) && detail["type"] !== "reasoning.text");
}
