import { createHash } from "node:crypto";
import { readCallId } from "./gemini/call-ids.ts";

/** The longest id of a tool call that OpenAI takes, in characters. */
const MAX_ID = 64;

/** A tool call's id without the signature that the gateway put into it: no upstream but Gemini is to see that. */
export function stripSignature(id: string): string {
  return readCallId(id).id;
}

/** The same without what is too long for OpenAI: equal ids stay equal, different ones different. */
export function shortToolId(id: string): string {
  const own = stripSignature(id);
  if (own.length <= MAX_ID) return own;
  return `call_${createHash("sha256").update(own).digest("hex").slice(0, 32)}`;
}
