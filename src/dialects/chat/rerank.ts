import { rerankCodec } from "../canonical/rerank.ts";

/** OpenAI has no such endpoint; this is what vLLM, Together, LiteLLM and others serve beside theirs. */
export const rerank = rerankCodec({ path: "/rerank" });
