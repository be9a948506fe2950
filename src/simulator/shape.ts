/** Whose way of writing answers and errors. */
export const SHAPES = ["openai", "cohere", "jina", "voyage", "together"] as const;
export type Shape = (typeof SHAPES)[number];

/** Ways in which upstreams that call themselves OpenAI-compatible are not. */
export const DEFECTS = [
  "no-role",
  "no-finish",
  "no-done",
  "no-object",
  "tool-index-1",
  "tool-no-index",
  "tool-no-type",
  "empty-ids",
  "repeated-ids",
  "null-deltas",
  "azure-first-chunk",
  "usage-every-chunk",
  "usage-with-choices",
  "xai-reasoning",
  "groq-usage",
  "mistral-tools",
] as const;
export type Defect = (typeof DEFECTS)[number];
