import { hash, randomBytes } from "node:crypto";
import { isJson, type Json } from "../../../src/kit/index.ts";
import type { Tool } from "../../../src/simulator/answer.ts";
import { example } from "../../../src/simulator/example.ts";
import type { Deed, Scene } from "./speakers.ts";

/** What an agent is told to do, and what it says when every step of it went through. */
export interface Errand {
  readonly prompt: string;
  /** Files of the working folder that have to be read; empty for an errand without any. */
  readonly files: readonly { readonly path: string; readonly content: string }[];
  /** Made by the upstream alone, of what the prompt or the tool's result says: no echo can contain it. */
  readonly word: string;
}

const PLAIN = /Say the word for (nonce-[0-9a-f]{16})/;
const READING = /Read the file (\S+), then the file (\S+), and say the word for both/;
const NONCES = /nonce-[0-9a-f]{16}/g;

export function plainErrand(): Errand {
  const nonce = newNonce();
  return { prompt: `Say the word for ${nonce}.`, files: [], word: wordFor(nonce) };
}

/** Two files, read one after the other. @param paths absolute */
export function toolErrand(first: string, second: string): Errand {
  const nonces = [newNonce(), newNonce()];
  return {
    prompt: `Read the file ${first}, then the file ${second}, and say the word for both.`,
    files: [first, second].map((path, index) => ({ path, content: `${nonces[index]}\n` })),
    word: wordFor(nonces.join("+")),
  };
}

/** What a model that knows errands does next. Without a tool that could, it says so. */
export function nextDeed({ prompt, tools, results }: Scene): Deed {
  const [, nonce] = PLAIN.exec(prompt) ?? [];
  if (nonce !== undefined) return { say: wordFor(nonce) };
  const [, first, second] = READING.exec(prompt) ?? [];
  if (first === undefined || second === undefined) return { say: "No errand." };
  const found = noncesOf(results);
  if (found.length > 1) return { say: wordFor(found.join("+")) };
  if (results.length > found.length) return { say: `The tool did not help: ${results.at(-1)}` };
  return reading(tools, found.length === 0 ? first : second) ?? { say: "A file to read" };
}

/** What was found in files so far, each once, in the order of reading. */
export function noncesOf(results: readonly string[]): readonly string[] {
  return [...new Set(results.join("\n").match(NONCES))];
}

function newNonce(): string {
  return `nonce-${randomBytes(8).toString("hex")}`;
}

function wordFor(nonce: string): string {
  return `word-${hash("sha256", nonce).slice(0, 16)}`;
}

/** Tools by which a file can be read, the better ones first. */
const WAYS: readonly RegExp[] = [
  /^read(?:_?files?)?$/i,
  /^(?:bash|shell|shell_command|exec_command|run_commands?|execute_command)$/i,
];

function reading(tools: readonly Tool[], path: string): Deed | null {
  for (const way of WAYS) {
    const tool = tools.find(({ name }) => way.test(name));
    if (tool) return { call: tool.name, arguments: argumentsFor(tool.parameters, path) };
  }
  return null;
}

/** Arguments that fit the schema: the required ones, and of the others those that name a file or a command. */
function argumentsFor(schema: unknown, path: string): Json {
  const properties = isJson(schema) && isJson(schema["properties"]) ? schema["properties"] : {};
  const required: readonly unknown[] =
    isJson(schema) && Array.isArray(schema["required"]) ? schema["required"] : Object.keys(properties);
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name))
      .map(([name, inner]) => [name, valueFor(name, inner, path)]),
  );
}

function valueFor(name: string, schema: unknown, path: string): unknown {
  const text = /path|file/i.test(name) ? path : /^(?:cmd|commands?)$/i.test(name) ? `cat ${path}` : null;
  if (text === null || !isJson(schema)) return example(schema);
  if (schema["type"] !== "array") return schema["type"] === "object" ? argumentsFor(schema, path) : text;
  const { items } = schema;
  return [isJson(items) && isJson(items["properties"]) ? argumentsFor(items, path) : text];
}
