import type { Dialect } from "./dialect.ts";
import { CREATED } from "./openai-answer.ts";

const KINDS = ["chat", "reasoner", "embedding", "rerank", "speech", "transcription", "image"];
const IDS = KINDS.map((kind) => `simulated-${kind}`);
const DATE = "2026-01-01T00:00:00Z";

/** What providers let their clients read without being billed: lists of models, and what else shows that a key is good. */
export function isList(path: string): boolean {
  return /\/(?:models|foundation-models|async-invoke|projects|voices|user)$/.test(path);
}

/** The body of a list: answers to any name of a model are served, these among them. */
export function modelList(dialect: Dialect, path: string): string {
  if (path.endsWith("/projects")) return JSON.stringify({ projects: [{ project_id: "simulated", name: "simulated" }] });
  if (path.endsWith("/voices")) return JSON.stringify({ voices: [{ voice_id: "simulated", name: "simulated" }] });
  if (path.endsWith("/user")) return JSON.stringify({ user_id: "simulated" });
  if (path.endsWith("/async-invoke")) return JSON.stringify({ asyncInvokeSummaries: [] });
  if (path.endsWith("/foundation-models")) {
    return JSON.stringify({ modelSummaries: IDS.map((modelId) => ({ modelId, providerName: "simulator" })) });
  }
  return JSON.stringify(listOf(dialect));
}

function listOf(dialect: Dialect): object {
  switch (dialect) {
    case "anthropic":
      return {
        data: IDS.map((id) => ({ type: "model", id, display_name: id, created_at: DATE })),
        has_more: false,
        first_id: IDS[0],
        last_id: IDS.at(-1),
      };
    case "gemini":
      return {
        models: IDS.map((id) => ({
          name: `models/${id}`,
          displayName: id,
          supportedGenerationMethods: ["generateContent", "countTokens", "embedContent"],
        })),
      };
    case "cohere":
      return { models: IDS.map((name) => ({ name, endpoints: [] })) };
    case "elevenlabs":
      return IDS.map((id) => ({ model_id: id, name: id, can_do_text_to_speech: id.includes("speech") }));
    case "deepgram":
      return {
        stt: [{ name: "simulated", canonical_name: "simulated-transcription" }],
        tts: [{ name: "simulated", canonical_name: "simulated-speech" }],
      };
    default:
      return {
        object: "list",
        data: IDS.map((id) => ({ id, object: "model", created: CREATED, owned_by: "simulator" })),
      };
  }
}
