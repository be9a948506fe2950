import type { ListedModel } from "../../kit/index.ts";

/**
 * What a model does, by its name: most providers list names alone. The first pattern that matches decides, anything else
 * is chat. Sources: https://platform.openai.com/docs/models, https://console.groq.com/docs/models,
 * https://docs.mistral.ai/getting-started/models/, https://ollama.com/search?c=embedding,
 * https://docs.voyageai.com/docs/embeddings, https://docs.fireworks.ai/models, https://docs.x.ai/docs/models.
 */
const KINDS: readonly (readonly [kind: ListedModel["kind"], pattern: RegExp])[] = [
  ["rerank", /rerank/],
  ["embedding", /embed|(?:^|[/_-])(?:bge|gte|e5|all-minilm|minilm|mpnet|paraphrase-multilingual|voyage)(?=[-_\d]|$)/],
  ["other", /moderation|realtime|(?:^|[-_/])live(?=[-_\d]|$)|native-audio/],
  // Video and music, documents to text, and models of the endpoint for bare completions.
  ["other", /(?:^|[-_/])(?:sora|veo|lyria|ocr|text-to-video|video)(?=[-_\d]|$)|^(?:davinci|babbage)-|turbo-instruct/],
  ["transcription", /whisper|transcri|speech-to-text|(?:^|[-_/])(?:asr|stt|scribe|parakeet|nova-\d+)(?=[-_\d]|$)/],
  ["speech", /(?:^|[-_/])(?:tts|kokoro|orpheus|aura|speech)(?=[-_\d]|$)|eleven_/],
  [
    "image",
    /dall-?e|stable-?(?:diffusion|image)|(?:^|[-_/])(?:image|images|imagen|imagine|sdxl|sd3|flux|ideogram|recraft)(?=[-_.\d]|$)/,
  ],
];

export function kindByName(id: string): ListedModel["kind"] {
  const name = id.toLowerCase();
  return KINDS.find(([, pattern]) => pattern.test(name))?.[0] ?? "chat";
}
