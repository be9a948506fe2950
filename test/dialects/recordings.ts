import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnswerCodec } from "../../src/dialects/dialect.ts";
import type { Json } from "../../src/kit/index.ts";
import { sharedFixtures } from "../support/shared.ts";
import { stream as frames } from "./bedrock/support.ts";
import { codecOf } from "./wire-cases.ts";

/** The dialects of chat that streams were recorded of. */
export type Recorded = "openai" | "anthropic" | "gemini" | "bedrock" | "cohere";

/** The folders of recorded chats. */
const FOLDERS: Readonly<Record<string, Recorded>> = {
  "openai/chat": "openai",
  alibaba: "openai",
  azure: "openai",
  "deepseek/chat": "openai",
  groq: "openai",
  moonshotai: "openai",
  "openai-compatible/chat": "openai",
  perplexity: "openai",
  xai: "openai",
  anthropic: "anthropic",
  google: "gemini",
  "amazon-bedrock": "bedrock",
  cohere: "cohere",
};
/** What is a complete answer of chat, by one of its fields. */
const ANSWER = /^\s*\{[^]*"(?:choices|stop_reason|candidates|stopReason|finish_reason)"/;

const vercel = sharedFixtures("vercel-ai");
const anthropic = sharedFixtures("anthropic-sdk-ts");
const bedrock = sharedFixtures("bedrock-eventstream");

/** A recorded stream or complete answer of chat. */
export interface Recording {
  /** Its path, without the ending of its file's name. */
  readonly name: string;
  readonly dialect: Recorded;
  /** As it comes over the wire. */
  readonly bytes: () => Uint8Array;
}

/** Whether there are recordings. */
export const recorded = vercel !== null && anthropic !== null && bedrock !== null;

const listed = (folder: string | null, pattern: string): readonly string[] =>
  folder === null ? [] : globSync(pattern, { cwd: folder }).toSorted();

/** Every file of `vercel-ai` that is a recording. */
export const FILES = listed(vercel, "**/*.{json,chunks.txt}");

/** A file of `vercel-ai`; nothing where there are no recordings. */
export function recordedBytes(file: string): Uint8Array {
  return vercel === null ? new Uint8Array() : readFileSync(join(vercel, file));
}

/** The payloads of a stream of `vercel-ai`, as they were written. */
export function linesOf(name: string): readonly string[] {
  return new TextDecoder()
    .decode(recordedBytes(`${name}.chunks.txt`))
    .split("\n")
    .filter((line) => line.trim() !== "");
}

export const payloadsOf = (name: string): readonly Json[] => linesOf(name).map((line) => JSON.parse(line) as Json);

/** A complete answer of `vercel-ai`. */
export const answerOf = (name: string): Json =>
  vercel === null ? {} : (JSON.parse(new TextDecoder().decode(recordedBytes(`${name}.json`))) as Json);

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const named = (lines: readonly string[]): Uint8Array =>
  utf8(lines.map((line) => `event: ${String((JSON.parse(line) as Json)["type"])}\ndata: ${line}\n\n`).join(""));
const FRAMED: Readonly<Record<Recorded, (lines: readonly string[]) => Uint8Array>> = {
  openai: (lines) => utf8(`${lines.map((line) => `data: ${line}\n\n`).join("")}data: [DONE]\n\n`),
  gemini: (lines) => utf8(lines.map((line) => `data: ${line}\n\n`).join("")),
  anthropic: named,
  cohere: named,
  bedrock: (lines) => frames(...lines.map((line) => JSON.parse(line) as Json)),
};

/** Payloads as a dialect's streams have them. */
export const framed = (dialect: Recorded, lines: readonly string[]): Uint8Array => FRAMED[dialect](lines);

/** Streams recorded as payloads. */
export const PAYLOADS: readonly Recording[] = chats(".chunks.txt", (name, dialect) => framed(dialect, linesOf(name)));
/** Streams recorded as bytes. */
export const WIRES: readonly Recording[] = [
  ...listed(anthropic, "*.txt").map((file) => wire("anthropic", anthropic, file)),
  ...listed(bedrock, "*.bin").map((file) => wire("bedrock", bedrock, file)),
];
/** Complete answers. */
export const ANSWERS: readonly Recording[] = chats(".json", (name) => recordedBytes(`${name}.json`)).filter(
  ({ bytes }) => ANSWER.test(new TextDecoder().decode(bytes())),
);

/** The recordings of these dialects, of all when none is named, with their names. */
export const of = (recordings: readonly Recording[], ...dialects: readonly Recorded[]) =>
  recordings
    .filter(({ dialect }) => dialects.length === 0 || dialects.includes(dialect))
    .map((one) => [one.name, one] as const);

function chats(ending: string, bytes: (name: string, dialect: Recorded) => Uint8Array): readonly Recording[] {
  return FILES.filter((file) => file.endsWith(ending)).flatMap((file) => {
    const dialect = FOLDERS[file.slice(0, file.lastIndexOf("/"))];
    const name = file.slice(0, -ending.length);
    return dialect === undefined ? [] : [{ name, dialect, bytes: () => bytes(name, dialect) }];
  });
}

function wire(dialect: Recorded, folder: string | null, file: string): Recording {
  return { name: file, dialect, bytes: () => readFileSync(join(folder ?? "", file)) };
}

/** The half of the dialect that reads them. */
export const codecFor = ({ dialect }: Recording): AnswerCodec => codecOf(dialect, "chat");
