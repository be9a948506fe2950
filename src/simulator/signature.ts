import { hash } from "node:crypto";

/**
 * What a provider makes of something so that it knows it again when it comes back: base64, different for every request
 * (`seed`), good for the same `text` at the same provider only. `claude` signs alike wherever it is served: "signature values
 * are compatible across platforms" (https://platform.claude.com/docs/en/build-with-claude/extended-thinking).
 */
export function sign(provider: string, seed: string, text: string): string {
  return Buffer.from(`${seed}.${hash("sha256", `${provider}:${seed}:${text}`)}`).toString("base64");
}

/** Whether this provider gave `signature` for this text. */
export function isSigned(provider: string, signature: unknown, text: string): boolean {
  if (typeof signature !== "string") return false;
  const [seed = ""] = Buffer.from(signature, "base64").toString().split(".");
  return sign(provider, seed, text) === signature;
}
