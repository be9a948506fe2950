/** Whose way of writing answers and errors. */
export const SHAPES = ["openai", "cohere", "jina", "voyage", "together"] as const;
export type Shape = (typeof SHAPES)[number];
