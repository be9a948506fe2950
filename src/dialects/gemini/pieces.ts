import { isJson, type Json } from "../../kit/index.ts";
import { malformed } from "../errors.ts";
import { PartialCall } from "./partial-call.ts";
import type { Bearer } from "./signatures.ts";

/** What an answer is made of, in its order. */
export type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  /** Signs the piece before it, but for an empty text's. */
  | { readonly type: "signature"; readonly bearer: Bearer; readonly signature: string }
  | Call
  /** A `data:` URL, or one of the provider's. */
  | { readonly type: "image"; readonly url: string };

interface Call {
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
  read(content: unknown): readonly Piece[] {
    if (content === undefined || content === null) return [];
    const parts = isJson(content) ? (content["parts"] ?? []) : null;
    if (!Array.isArray(parts)) throw malformed("content without parts");
    return parts.flatMap((part: unknown) => this.#part(part));
  }

  #part(part: unknown): readonly Piece[] {
    if (!isJson(part)) throw malformed("a part that is no object");
    const signature = signatureOf(part);
    if (part["functionCall"] !== undefined && part["functionCall"] !== null) {
      return this.#call(part["functionCall"], signature);
    }
    const { text, inlineData, fileData } = part;
    if (text !== undefined && typeof text !== "string") throw malformed("a text that is none");
    const thought = part["thought"] === true;
    const url = thought ? null : imageUrl(inlineData, fileData);
    const pieces: Piece[] = [];
    if (text) pieces.push({ type: thought ? "thought" : "text", text });
    if (url !== null) pieces.push({ type: "image", url });
    if (signature !== null) {
      pieces.push({ type: "signature", bearer: thought ? "thought" : text ? "text" : "empty", signature });
    }
    return pieces;
  }

  #call(call: unknown, signature: string | null): readonly Piece[] {
    if (!isJson(call)) throw malformed("a function call that is no object");
    const pieced = call["willContinue"] === true || Array.isArray(call["partialArgs"]);
    if (!pieced && this.#partial === null) return [callPiece(call["id"], call["name"], call["args"], signature)];
    this.#partial ??= new PartialCall(call, signature);
    this.#partial.add(call);
    if (call["willContinue"] === true) return [];
    const { id, name, args, signature: signed } = this.#partial;
    this.#partial = null;
    return [callPiece(id, name, args, signature ?? signed)];
  }
}

function callPiece(id: unknown, name: unknown, args: unknown, signature: string | null): Call {
  if (typeof name !== "string" || name === "") throw malformed("a function call without a name");
  if (args !== undefined && args !== null && !isJson(args)) throw malformed("arguments that are no object");
  return { type: "call", id, name, args: written(args ?? {}), signature };
}

/** `JSON.parse` accepts deeper nesting than `JSON.stringify` can write. */
function written(args: Json): string {
  try {
    return JSON.stringify(args);
  } catch {
    throw malformed("arguments that are nested too deeply");
  }
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
