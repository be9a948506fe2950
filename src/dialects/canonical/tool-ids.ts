import { createHash } from "node:crypto";

/*
 * Gemini wants the signature of a function call back, and most clients drop fields that they do not know. Ids travel
 * verbatim in every client format, so the signature rides in the id:
 *
 *   <id>__ts1_<check>_<signature in base64url, without padding>
 *
 * `ts1` is the version of the form; `check` is the beginning of the signature's SHA-256, so that an id which a client cut
 * short loses its signature instead of bringing back a wrong one. Only letters, digits, `_` and `-` occur: ids of other
 * providers allow nothing else.
 */
const MARK = "__ts1_";
const CHECK = 8;

export interface CallId {
  /** As the upstream knows it. */
  readonly id: string;
  /** null when the id carries none. */
  readonly signature: string | null;
}

/** @param signature standard base64, as Google's JSON has it; any other is left out. */
export function withSignature(id: string, signature: string | null): string {
  if (signature === null || signature === "" || id.includes(MARK)) return id;
  const bytes = Buffer.from(signature, "base64");
  if (bytes.toString("base64") !== signature) return id;
  const text = bytes.toString("base64url");
  return `${id}${MARK}${check(text)}_${text}`;
}

/** For any upstream that is to see the id: the others refuse long ones. */
export function readCallId(carried: string): CallId {
  const at = carried.indexOf(MARK);
  if (at < 0) return { id: carried, signature: null };
  const id = carried.slice(0, at);
  const sum = carried.slice(at + MARK.length, at + MARK.length + CHECK);
  const text = carried.slice(at + MARK.length + CHECK + 1);
  const good = text !== "" && carried[at + MARK.length + CHECK] === "_" && check(text) === sum;
  return { id, signature: good ? Buffer.from(text, "base64url").toString("base64") : null };
}

/** What of an upstream's rules ids of tool calls have to keep. */
export interface ToolIdRules {
  /** `mistral`: exactly nine letters and digits. */
  readonly toolCallIds: "any" | "mistral";
  /** Characters of the longest. */
  readonly toolCallId: number;
}

/** Mistral takes no other (https://docs.mistral.ai/capabilities/function_calling). */
const MISTRAL = /^[A-Za-z0-9]{9}$/;

/** A tool call's id without the signature that the gateway put into it: no upstream but Gemini is to see that. */
export function stripSignature(id: string): string {
  return readCallId(id).id;
}

/** The same as an upstream takes it: equal ids stay equal, different ones different. */
export function fittedToolId(id: string, { toolCallIds, toolCallId }: ToolIdRules): string {
  const own = stripSignature(id);
  if (toolCallIds === "mistral") return MISTRAL.test(own) ? own : alphanumeric(own).slice(0, 9);
  return own.length <= toolCallId ? own : `call_${sha256(own).slice(0, 32)}`.slice(0, toolCallId);
}

/** More than 50 bits in its first nine characters. */
function alphanumeric(text: string): string {
  return createHash("sha256")
    .update(text)
    .digest("base64")
    .replaceAll(/[^A-Za-z0-9]/g, "");
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function check(text: string): string {
  return sha256(text).slice(0, CHECK);
}

/** An id for a tool call that came without one, or with that of another. Equal seeds give equal ids. */
export function madeId(seed: string): string {
  return `call_${sha256(seed).slice(0, 24)}`;
}
