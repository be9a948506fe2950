import { isJson, type Json, type Steps } from "../../kit/index.ts";

/** Bytes that are written in one step, about: some milliseconds of work. */
const SLICE_BYTES = 256 * 1024;
/** What a value counts beside the characters of its text and its names. */
const VALUE_BYTES = 16;
/** What is no longer is looked over at once. */
const SHORT_BYTES = 512;

/** Whether writing a value is too long for one turn of the event loop; looks at no more of it than it takes to know. */
export function isLong(value: unknown, maxBytes = SLICE_BYTES): boolean {
  return leftOf(value, maxBytes) < 0;
}

/** What is left of so many bytes behind a value, about; stops as soon as it is negative. */
function leftOf(value: unknown, maxBytes: number): number {
  let left = maxBytes - VALUE_BYTES;
  if (typeof value === "string") return left - value.length;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++) left = leftOf(value[index], left);
  } else if (isJson(value)) {
    for (const name in value) {
      left = leftOf(value[name], left - name.length);
      if (left < 0) break;
    }
  }
  return left;
}

/**
 * The text of a JSON value, the same as `JSON.stringify` writes, in UTF-8 and in steps: runs of values that are short
 * together are written natively, what is longer is gone into.
 * @param value nested no deeper than a body may be; has no `toJSON` in what is long.
 */
export function* writeSteps(value: unknown, sliceBytes = SLICE_BYTES): Steps<readonly Buffer[]> {
  const search = new Search(sliceBytes);
  yield* search.bytesOf(value);
  yield;
  const writer = new Writer(sliceBytes, search.long);
  yield* writer.write(value);
  return writer.end();
}

/** Finds the lists and objects that are long; looks at each value once or twice. */
class Search {
  readonly long = new Set<object>();
  readonly #sliceBytes: number;
  readonly #shortBytes: number;
  #sinceStep = 0;

  constructor(sliceBytes: number) {
    this.#sliceBytes = sliceBytes;
    this.#shortBytes = Math.min(SHORT_BYTES, sliceBytes);
  }

  /** @returns bytes, about. */
  *bytesOf(value: unknown): Steps<number> {
    const left = leftOf(value, this.#shortBytes);
    if (left >= 0 || typeof value === "string") return this.#shortBytes - left;
    let bytes = VALUE_BYTES;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) bytes += yield* this.#inner(value[index]);
    } else if (isJson(value)) {
      for (const name in value) bytes += name.length + (yield* this.#inner(value[name]));
    }
    if (bytes > this.#sliceBytes) this.long.add(value as object);
    return bytes;
  }

  *#inner(value: unknown): Steps<number> {
    const left = leftOf(value, this.#shortBytes);
    const bytes = left >= 0 ? this.#shortBytes - left : yield* this.bytesOf(value);
    this.#sinceStep += VALUE_BYTES + (left >= 0 ? bytes : this.#shortBytes);
    if (this.#sinceStep > this.#sliceBytes) {
      this.#sinceStep = 0;
      yield;
    }
    return bytes;
  }
}

class Writer {
  readonly #sliceBytes: number;
  readonly #long: ReadonlySet<object>;
  readonly #chunks: Buffer[] = [];
  #text = "";

  constructor(sliceBytes: number, long: ReadonlySet<object>) {
    this.#sliceBytes = sliceBytes;
    this.#long = long;
  }

  *write(value: unknown): Steps<void> {
    if (!this.#isLong(value)) yield* this.#add(JSON.stringify(value));
    else if (typeof value === "string") yield* this.#longText(value);
    else if (Array.isArray(value)) yield* this.#list(value);
    else if (isJson(value)) yield* this.#object(value);
  }

  end(): readonly Buffer[] {
    this.#flush();
    return this.#chunks;
  }

  *#list(list: readonly unknown[]): Steps<void> {
    this.#text += "[";
    let run: unknown[] = [];
    let left = this.#sliceBytes;
    for (let index = 0; index < list.length; index++) {
      const item = list[index];
      if (index > 0 && run.length === 0) this.#text += ",";
      if (this.#isLong(item)) {
        if (run.length > 0) yield* this.#run(run);
        if (run.length > 0) this.#text += ",";
        run = [];
        left = this.#sliceBytes;
        yield* this.write(item);
        continue;
      }
      const after = leftOf(item, left);
      if (after >= 0) {
        run.push(item);
        left = after;
        continue;
      }
      if (run.length > 0) {
        yield* this.#run(run);
        this.#text += ",";
      }
      run = [item];
      left = leftOf(item, this.#sliceBytes);
    }
    if (run.length > 0) yield* this.#run(run);
    this.#text += "]";
  }

  #isLong(value: unknown): boolean {
    if (typeof value === "string") return value.length > this.#sliceBytes;
    return typeof value === "object" && value !== null && this.#long.has(value);
  }

  *#run(items: readonly unknown[]): Steps<void> {
    yield* this.#add(JSON.stringify(items).slice(1, -1));
  }

  *#object(object: Json): Steps<void> {
    let before = "{";
    for (const name of Object.keys(object)) {
      const value = object[name];
      if (value === undefined) continue;
      this.#text += `${before}${JSON.stringify(name)}:`;
      yield* this.write(value);
      before = ",";
    }
    this.#text += before === "{" ? "{}" : "}";
  }

  *#longText(text: string): Steps<void> {
    this.#text += '"';
    for (let at = 0; at < text.length;) {
      let to = Math.min(at + this.#sliceBytes, text.length);
      // Half a pair would be written as an escape.
      if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to += 1;
      yield* this.#add(JSON.stringify(text.slice(at, to)).slice(1, -1));
      at = to;
    }
    this.#text += '"';
  }

  *#add(text: string): Steps<void> {
    this.#text += text;
    if (this.#text.length < this.#sliceBytes) return;
    this.#flush();
    yield;
  }

  #flush(): void {
    if (this.#text !== "") this.#chunks.push(Buffer.from(this.#text));
    this.#text = "";
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}
