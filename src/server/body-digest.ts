import { createHash, type Hash } from "node:crypto";
import { atOnce, type Endpoint, isJson, type Json, type Steps, type Upload } from "../kit/index.ts";

/** Characters that are hashed together. */
const PART_CHARACTERS = 64 * 1024;
/** The work of one step: a few milliseconds. */
const PARTS_PER_STEP = 16;
const VALUES_PER_STEP = 20_000;

/**
 * Digest of an endpoint and a JSON value. It does not depend on how the value is written: numbers are doubles, and names are
 * sorted by UTF-16 code units, as in RFC 8785.
 */
export function* digestSteps(endpoint: Endpoint, body: Json): Steps<Buffer> {
  const digest = new ValueDigest(endpoint);
  yield* digest.add(body);
  return digest.end();
}

/** Digest of an endpoint and a form: its fields and the bytes of its file. The file's name does not count. */
export async function digestForm(endpoint: Endpoint, fields: Json, upload: Upload): Promise<Buffer> {
  const digest = new ValueDigest(endpoint);
  atOnce(digest.add(fields));
  const file = createHash("sha256");
  for await (const chunk of upload.read()) file.update(chunk);
  digest.write(`\n${file.digest("hex")}`);
  return digest.end();
}

/** A list or an object whose values are being written. */
interface Frame {
  /** null: a list. */
  readonly names: readonly string[] | null;
  readonly values: Json | readonly unknown[];
  readonly size: number;
  at: number;
}

class ValueDigest {
  readonly #hash: Hash = createHash("sha256");
  #text = "";
  #parts = 0;
  #values = 0;

  constructor(endpoint: Endpoint) {
    this.write(`${endpoint}\n`);
  }

  write(text: string): void {
    this.#text += text;
    if (this.#text.length >= PART_CHARACTERS) this.#flush();
  }

  end(): Buffer {
    this.#flush();
    return this.#hash.digest();
  }

  *add(body: Json): Steps<void> {
    const frames: Frame[] = [];
    yield* this.#begin(body, frames);
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const { names, values, size, at } = frame;
      if (at === size) {
        this.write(names === null ? "]" : "}");
        frames.pop();
        continue;
      }
      frame.at += 1;
      if (at > 0) this.write(",");
      if (names === null) {
        yield* this.#begin((values as readonly unknown[])[at], frames);
        continue;
      }
      const name = names[at]!;
      yield* this.#string(name);
      this.write(":");
      yield* this.#begin((values as Json)[name], frames);
    }
  }

  *#begin(value: unknown, frames: Frame[]): Steps<void> {
    this.#values += 1;
    if (this.#values >= VALUES_PER_STEP) yield* this.#step();
    if (typeof value === "string") return yield* this.#string(value);
    if (Array.isArray(value)) {
      this.write("[");
      frames.push({ names: null, values: value, size: value.length, at: 0 });
    } else if (isJson(value)) {
      const names = Object.keys(value).toSorted();
      this.write("{");
      frames.push({ names, values: value, size: names.length, at: 0 });
    } else this.write(String(value));
  }

  /** Writes a text in parts: it may be as long as the whole body. */
  *#string(text: string): Steps<void> {
    for (let at = 0; at === 0 || at < text.length; at += PART_CHARACTERS) {
      this.write(JSON.stringify(text.slice(at, at + PART_CHARACTERS)));
      if (this.#parts >= PARTS_PER_STEP) yield* this.#step();
    }
  }

  *#step(): Steps<void> {
    this.#parts = 0;
    this.#values = 0;
    yield;
  }

  #flush(): void {
    this.#hash.update(this.#text);
    this.#text = "";
    this.#parts += 1;
  }
}
