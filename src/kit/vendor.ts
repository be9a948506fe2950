/** Who stands behind an upstream of the dialect `openai`. */
export const VENDORS = [
  "openai",
  "mistral",
  "deepseek",
  "groq",
  "openrouter",
  "xai",
  "moonshot",
  "together",
  "fireworks",
  "cerebras",
  "perplexity",
  "alibaba",
  "zai",
  "nvidia",
  "ollama",
  "vllm",
  "lmstudio",
  "llamacpp",
  "generic",
] as const;

export type Vendor = (typeof VENDORS)[number];

/** Servers that operators run themselves: an upstream of theirs needs no key, and its models cost nothing. */
export const LOCAL_VENDORS: ReadonlySet<Vendor> = new Set(["ollama", "vllm", "lmstudio", "llamacpp"]);

/** Which of its two chat endpoints an upstream is sent requests at. */
export type ApiChoice = "auto" | "chat" | "responses";

/** From least to most; `none` turns reasoning off. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type EffortLevel = (typeof EFFORTS)[number];

/** What an upstream takes where that is not what the table of vendors says. */
export interface Accepts {
  /** The field that limits the output. */
  readonly outputLimit?: "max_tokens" | "max_completion_tokens";
  /** Levels of `reasoning_effort`; none: the field is not taken. */
  readonly efforts?: readonly EffortLevel[];
  /** How reasoning of earlier turns is sent back. */
  readonly reasoningEcho?: "never" | "reasoning_content" | "reasoning_details" | "reasoning";
  /** Fields of the body and of messages that nobody here knows travel. */
  readonly unknownFields?: boolean;
  /** Top-level fields, tools and betas that travel though the table of vendors, or a rule against reaching other models, would keep them back. */
  readonly fields?: readonly string[];
  /** Patterns of what clients may name beside content of their own and public addresses: `s3://my-bucket/*`, `file-*`. */
  readonly references?: readonly string[];
  /** Most stop sequences; 0: none are taken. */
  readonly stop?: number;
  /** Characters of the longest name of a tool. */
  readonly toolName?: number;
  /** Characters of the longest `user`; 0: the field is not taken. */
  readonly user?: number;
  readonly streamOptions?: boolean;
  readonly developerRole?: boolean;
  readonly strictTools?: boolean;
  /** `mistral`: exactly nine letters and digits. */
  readonly toolCallIds?: "any" | "mistral";
  /** Whether `temperature`, `top_p` and the penalties are taken. */
  readonly sampling?: boolean;
  /** What messages of the user may hold beside text. */
  readonly parts?: readonly ("image" | "file" | "audio" | "video")[];
  /** Images may be named by their address. */
  readonly imageUrls?: boolean;
  /** Where system messages may stand; `user`: nowhere. */
  readonly systemRole?: "anywhere" | "front" | "first" | "user";
  /** Messages of one role in a row become one. */
  readonly alternate?: boolean;
  /** How a conversation that ends with the assistant is gone on from. */
  readonly prefill?: "as_is" | "prefix" | "partial" | "closed";
  /** `breakpoints`: in OpenAI's form, the others in Anthropic's. */
  readonly cacheMarks?: "none" | "marks" | "marks_with_ttl" | "breakpoints";
  readonly verbosity?: boolean;
  /** Most tools. */
  readonly maxTools?: number;
  /** Most output tokens that may be asked for. */
  readonly maxOutput?: number;
  /** JSON Schema keywords beyond the common ones that schemas of structured output may have. */
  readonly schemaKeywords?: readonly string[];
}

/** What is done to the body in the upstream's own dialect, last of all; keys are JSON pointers. */
export interface Parameters {
  readonly set: Readonly<Record<string, unknown>>;
  readonly remove: readonly string[];
  /** The new name of what a pointer points at, in the same object. */
  readonly rename: Readonly<Record<string, string>>;
}
