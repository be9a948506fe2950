import { isJson, type Json } from "../../kit/index.ts";
import { malformed } from "../canonical/errors.ts";
import { writtenInput } from "../canonical/tools.ts";
import type { Bearer } from "./models.ts";

/** What an answer is made of, in its order. */
export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  /** Signs the piece before it, but for an empty text's. */
  | { readonly type: "signature"; readonly bearer: Bearer; readonly signature: string }
  | CalledPart
  /** A `data:` URL, or one of the provider's. */
  | { readonly type: "image"; readonly url: string };

interface CalledPart {
  readonly type: "call";
  /** The upstream's own, if it is one. */
  readonly id: unknown;
  readonly name: string;
  /** JSON text. */
  readonly args: string;
  readonly signature: string | null;
}

/** Reads the parts of one candidate, chunk by chunk. */
export class PartReader {
  #partial: PartialCall | null = null;

  /** Whether a function call is still being written. */
  get open(): boolean {
    return this.#partial !== null;
  }

  /** @throws AttemptError for parts that are none. */
  read(content: unknown): readonly AnswerPart[] {
    if (content === undefined || content === null) return [];
    const parts = isJson(content) ? (content["parts"] ?? []) : null;
    if (!Array.isArray(parts)) throw malformed("content without parts");
    return parts.flatMap((part: unknown) => this.#part(part));
  }

  #part(part: unknown): readonly AnswerPart[] {
    if (!isJson(part)) throw malformed("a part that is no object");
    const signature = signatureOf(part);
    if (part["functionCall"] !== undefined && part["functionCall"] !== null) {
      return this.#call(part["functionCall"], signature);
    }
    const { text, inlineData, fileData } = part;
    if (text !== undefined && typeof text !== "string") throw malformed("a text that is none");
    const thought = part["thought"] === true;
    const url = thought ? null : imageUrl(inlineData, fileData);
    const parts: AnswerPart[] = [];
    if (text) parts.push({ type: thought ? "thought" : "text", text });
    if (url !== null) parts.push({ type: "image", url });
    if (signature !== null) {
      parts.push({ type: "signature", bearer: thought ? "thought" : text ? "text" : "empty", signature });
    }
    return parts;
  }

  #call(call: unknown, signature: string | null): readonly AnswerPart[] {
    if (!isJson(call)) throw malformed("a function call that is no object");
    const pieced = call["willContinue"] === true || Array.isArray(call["partialArgs"]);
    if (!pieced && this.#partial === null) return [calledPart(call["id"], call["name"], call["args"], signature)];
    this.#partial ??= new PartialCall(call, signature);
    this.#partial.add(call);
    if (call["willContinue"] === true) return [];
    const { id, name, args, signature: signed } = this.#partial;
    this.#partial = null;
    return [calledPart(id, name, args, signature ?? signed)];
  }
}

function calledPart(id: unknown, name: unknown, args: unknown, signature: string | null): CalledPart {
  if (typeof name !== "string" || name === "") throw malformed("a function call without a name");
  return { type: "call", id, name, args: writtenInput(args), signature };
}

function signatureOf({ thoughtSignature: signature }: Json): string | null {
  return typeof signature === "string" && signature !== "" ? signature : null;
}

function imageUrl(inline: unknown, file: unknown): string | null {
  const { mimeType, data } = isJson(inline) ? inline : {};
  if (typeof mimeType === "string" && mimeType.startsWith("image/") && typeof data === "string" && data !== "") {
    return `data:${mimeType};base64,${data}`;
  }
  const { mimeType: type, fileUri } = isJson(file) ? file : {};
  return typeof type === "string" && type.startsWith("image/") && typeof fileUri === "string" ? fileUri : null;
}

const STEP = /\.([^.[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/gy;
const MAX_STEPS = 64;
/** A place in a list may be at most this far behind its end: an index of millions must not make one as long. */
const MAX_GAP = 1;

type Value = string | number | boolean | null;
type Container = Map<string, Node> | Node[];
type Node = Value | Container;

/** A function call whose arguments arrive in pieces, each with its place as a JSON path (Vertex, `partialArgs`). */
class PartialCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly signature: string | null;
  readonly #root = new Map<string, Node>();

  constructor({ id, name, args }: Json, signature: string | null) {
    this.id = id;
    this.name = name;
    this.signature = signature;
    if (isJson(args) && Object.keys(args).length > 0) throw malformed("arguments both whole and in pieces");
  }

  get args(): Json {
    return plain(this.#root) as Json;
  }

  /** @throws AttemptError for a piece without a place or value. */
  add({ partialArgs: list }: Json): void {
    if (!Array.isArray(list)) return;
    for (const part of list as readonly unknown[]) {
      if (!isJson(part)) throw malformed("a piece of arguments that is no object");
      put(this.#root, stepsOf(part["jsonPath"]), valueOf(part));
    }
  }
}

/** undefined for none: the last piece of a string may be its end alone. */
function valueOf({ stringValue, numberValue, boolValue, nullValue }: Json): Value | undefined {
  if (typeof stringValue === "string") return stringValue;
  if (typeof numberValue === "number") return numberValue;
  if (typeof boolValue === "boolean") return boolValue;
  return nullValue === undefined ? undefined : null;
}

function stepsOf(path: unknown): readonly (string | number)[] {
  if (typeof path !== "string" || !path.startsWith("$")) throw malformed("a piece of arguments without a place");
  const matches = [...path.slice(1).matchAll(STEP)];
  const length = matches.reduce((sum, [whole]) => sum + whole.length, 0);
  if (length !== path.length - 1 || matches.length === 0 || matches.length > MAX_STEPS) {
    throw malformed("a piece of arguments without a place");
  }
  return matches.map(([, field, index, single, double]) =>
    index === undefined ? (field ?? unescaped(single ?? double ?? "")) : Number(index),
  );
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, "$1");
}

function put(root: Map<string, Node>, steps: readonly (string | number)[], value: Value | undefined): void {
  let container: Container = root;
  for (const [at, step] of steps.entries()) {
    const next = steps[at + 1];
    const before: Node | undefined = get(container, step);
    if (next === undefined) {
      const joined = typeof before === "string" && typeof value === "string" ? before + value : value;
      return set(container, step, joined ?? before ?? (value === null ? null : ""));
    }
    if (before instanceof Map || Array.isArray(before)) {
      container = before;
      continue;
    }
    const made: Container = typeof next === "number" ? [] : new Map();
    set(container, step, made);
    container = made;
  }
}

function get(container: Container, step: string | number): Node | undefined {
  return Array.isArray(container) ? container[Number(step)] : container.get(String(step));
}

function set(container: Container, step: string | number, value: Node): void {
  if (!Array.isArray(container)) container.set(String(step), value);
  else if (typeof step === "number" && step < container.length + MAX_GAP) container[step] = value;
  else throw malformed("a piece of arguments at a place that cannot be");
}

function plain(node: Node): unknown {
  if (Array.isArray(node)) return node.map(plain);
  return node instanceof Map ? Object.fromEntries([...node].map(([key, value]) => [key, plain(value)])) : node;
}
