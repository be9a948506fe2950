import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import {
  type AnswerFormat,
  type Exchange,
  firstTarget,
  isJson,
  mediaTokensAt,
  type Snapshot,
  type StreamEvent,
  type Target,
  type Units,
  type Usage,
} from "../kit/index.ts";

type CountTokens = (text: string) => Promise<number>;

/** Of the produced text that is kept for the tokenizer, which is asked only when the upstream has not counted. */
const MAX_KEPT_CHARACTERS = 256 * 1024;
/** Of text that are kept singly. */
const MAX_PIECES = 16;
/** Shorter texts are kept as they are: compressed they would save less than their connections take. */
const MIN_PACKED_CHARACTERS = 16 * 1024;
const ZSTD = { chunkSize: 128 * 1024 };
const CHARACTERS_PER_TOKEN = 4;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Counts what one exchange uses: the upstream's own counts, and the produced text for what they leave out. */
export class UsageMeter {
  /** The upstream's last count. */
  usage: Usage | null = null;
  /** Whether `usage` counts all that was produced so far. */
  usageComplete = false;
  /** A finish reason was seen. */
  finished = false;
  /** The upstream has counted with the finish reason or after it. */
  #countedAtEnd = false;
  /** The beginning of the produced text, and behind it what came last. */
  #text = "";
  #last: string[] = [];
  #keptCharacters = 0;
  /** Characters that were produced beyond `#text`. */
  #unkeptCharacters = 0;
  #isDeclared = false;
  readonly #countTokens: CountTokens;

  constructor(countTokens: CountTokens) {
    this.#countTokens = countTokens;
  }

  /** The answer is whole and the upstream's count is still to come. */
  get owesCount(): boolean {
    return this.finished && !this.#countedAtEnd && !this.#isDeclared;
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
      this.addText(text);
    }
    this.finished ||= hasFinishReason(data["choices"]);
    if (usage === undefined) return;
    this.usage = usage;
    this.usageComplete = partial !== true;
    this.#countedAtEnd = this.finished && this.usageComplete;
  }

  /** The count that came with a whole answer, or with the head of a body of bytes. */
  setUsage(usage: Usage | null): void {
    this.usage = usage;
    this.usageComplete = usage !== null;
  }

  addText(text: string): void {
    if (this.#keptCharacters >= MAX_KEPT_CHARACTERS) {
      this.#unkeptCharacters += text.length;
      return;
    }
    this.#keptCharacters += text.length;
    this.#last.push(text);
    if (this.#last.length === MAX_PIECES) this.#join();
  }

  /** Put together one by one, each piece would be kept, and a string for every two: ten times what the text takes. */
  #join(): void {
    this.#text += this.#last.join("");
    this.#last = [];
  }

  /** As `Ending.estimate`. @param prompt called only if the upstream has not counted the prompt. */
  async estimate(prompt: () => PackedText, units: Units | undefined): Promise<Usage> {
    const { usage } = this;
    if (usage !== null && this.usageComplete) return { ...usage, ...units };
    // No prompt is empty: a count of 0 is a placeholder of upstreams that count at the end of a stream.
    const promptTokens = usage?.prompt || prompt().tokens(this.#countTokens);
    const completion = Math.max(usage?.completion ?? 0, await this.#producedTokens());
    return { cached: 0, reasoning: 0, ...usage, prompt: await promptTokens, completion, ...units };
  }

  /** Text that was not kept is taken to have as many tokens a character as the text that was. */
  async #producedTokens(): Promise<number> {
    const kept = this.#keptCharacters;
    if (kept === 0) return 0;
    this.#join();
    const tokens = await new PackedText(this.#text).tokens(this.#countTokens);
    return Math.ceil(tokens * (1 + this.#unkeptCharacters / kept));
  }
}

function hasFinishReason(choices: unknown): boolean {
  if (!Array.isArray(choices)) return false;
  for (const choice of choices) if (isJson(choice) && typeof choice["finish_reason"] === "string") return true;
  return false;
}

interface Prompted {
  readonly format: Pick<AnswerFormat, "promptText">;
  readonly exchange: Pick<Exchange, "call" | "model">;
  readonly target: Target | null;
}

/**
 * A text that may have to be counted, such as a prompt while its answer streams. Most upstreams count themselves, so its
 * tokens are counted only when one has not: counting costs some forty times what compressing does.
 */
export class PackedText {
  readonly #characters: number;
  /** Tokens of what goes with it and is no text. */
  readonly #more: number;
  #content: string | { readonly compressed: Buffer };

  constructor(text: string, more = 0) {
    this.#characters = text.length;
    this.#more = more;
    this.#content = text;
  }

  /** A request's prompt, with what its media count at the target that serves, or that would have been tried first. */
  static ofPrompt({ format, exchange, target }: Prompted, { upstreams }: Pick<Snapshot, "upstreams">): PackedText {
    const { call, model } = exchange;
    return new PackedText(format.promptText(), mediaTokensAt(call.media, target ?? firstTarget(model), upstreams));
  }

  /** Bytes of memory; exact once it is compressed. */
  get bytes(): number {
    return typeof this.#content === "string" ? this.#characters : this.#content.compressed.length;
  }

  /** Compresses a long text, off the event loop. @throws Error without memory for it; the text stays as it is then. */
  async pack(): Promise<void> {
    if (typeof this.#content !== "string" || this.#characters <= MIN_PACKED_CHARACTERS) return;
    this.#content = { compressed: await compress(this.#content, ZSTD) };
  }

  /** Never rejects: a tokenizer that fails must not make an answer free. The length then gives an estimate. */
  async tokens(countTokens: CountTokens): Promise<number> {
    try {
      const content = this.#content;
      const text = typeof content === "string" ? content : (await decompress(content.compressed, ZSTD)).toString();
      return this.#more + (await countTokens(text));
    } catch {
      return this.#more + Math.ceil(this.#characters / CHARACTERS_PER_TOKEN);
    }
  }
}
