import { CREATED } from "./openai-answer.ts";
import type { Shape } from "./shape.ts";

const KINDS = ["chat", "reasoner", "embedding", "rerank", "speech", "transcription", "image"];

/** The body of a list of models: answers to any name are served, these among them. */
export function modelList(shape: Shape = "openai"): string {
  const ids = KINDS.map((kind) => `simulated-${kind}`);
  if (shape === "cohere") return JSON.stringify({ models: ids.map((name) => ({ name, endpoints: [] })) });
  const data = ids.map((id) => ({ id, object: "model", created: CREATED, owned_by: "simulator" }));
  return JSON.stringify({ object: "list", data });
}
