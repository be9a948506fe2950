/** What a request has really used: tokens of its prompt, code points spoken, milliseconds heard, images made. */
export interface Units {
  readonly prompt: number;
  readonly characters: number;
  readonly milliseconds: number;
  readonly images: number;
}

/** Counts as they went out, sense or not; those of tokens in OpenAI's sense, whatever the dialect makes of them. */
export interface Claims {
  readonly prompt?: unknown;
  readonly completion?: unknown;
  readonly cached?: unknown;
  readonly cacheWrite?: unknown;
  readonly seconds?: unknown;
}

/** One piece of a body that is written, delayed or cut as a whole: an event, some audio, or a whole body. */
export interface Part<Data extends string | Uint8Array = string | Uint8Array> {
  readonly data: Data;
  /** Answer tokens in it; left out: none. */
  readonly tokens?: number;
  /** A stream's ending is no event. */
  readonly uncounted?: true;
  /** Counts that it states. */
  readonly claims?: Claims;
  /** What is used up once it is written; the first part of an answer has it. */
  readonly units?: Partial<Units>;
}
