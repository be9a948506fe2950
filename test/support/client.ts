import type { AbortReason, Client } from "../../src/kit/index.ts";

export interface Answered {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The client's end of a connection in memory. Records what it is told; an order of calls that a real connection could
 * not obey (a second head, a write after the end) is kept in `violations`.
 */
export class TestClient implements Client {
  readonly violations: string[] = [];
  readonly writes: string[] = [];
  /** Binary chunks. */
  readonly bytes: Uint8Array[] = [];
  /** Broken off without an ending. */
  wasCut = false;
  answered: Answered | null = null;
  stream: { readonly contentType: string; readonly headers: Readonly<Record<string, string>> } | null = null;
  refused: { readonly error: unknown; readonly headers: Readonly<Record<string, string>> } | null = null;
  ended = false;
  /** Called at each write, before it is recorded. */
  onWrite: (text: string) => void = () => undefined;
  /** Called when the answer is whole, before it is recorded. */
  onEnd: () => void = () => undefined;
  readonly #abort = new AbortController();
  #blocked = false;
  #drained: (() => void) | null = null;
  #onShutdown: (() => void) | null = null;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  abort(reason: AbortReason): void {
    this.#abort.abort(reason);
    if (reason === "shutdown") this.#onShutdown?.();
  }

  onShutdown(listener: () => void): void {
    this.#onShutdown = listener;
  }

  get blocked(): boolean {
    return this.#blocked;
  }

  /** From now on every write reports a full buffer. */
  block(): void {
    this.#blocked = true;
  }

  /** The buffer has emptied: whoever waits is told. */
  drain(): void {
    this.#blocked = false;
    this.#drained?.();
  }

  /** Everything written to the stream. */
  get text(): string {
    return this.writes.join("");
  }

  /** Heads sent to the client: 1 for a request that was answered. */
  get answers(): number {
    return [this.answered, this.stream, this.refused].filter((answer) => answer !== null).length;
  }

  answer(status: number, contentType: string, body: string, headers: Readonly<Record<string, string>>): void {
    this.#head("answer");
    this.onEnd();
    this.answered = { status, contentType, body, headers };
    this.ended = true;
  }

  startStream(contentType: string, headers: Readonly<Record<string, string>>): void {
    this.#head("startStream");
    this.stream = { contentType, headers };
  }

  write(chunk: string | Uint8Array): boolean {
    const text = typeof chunk === "string" ? chunk : `${chunk.length} bytes`;
    if (this.stream === null || this.ended) this.violations.push(`write of ${JSON.stringify(text)} outside the stream`);
    this.onWrite(text);
    if (typeof chunk === "string") this.writes.push(chunk);
    else this.bytes.push(chunk);
    return !this.#blocked;
  }

  onDrain(listener: () => void): void {
    this.#drained = listener;
  }

  end(last: string): void {
    if (this.stream === null || this.ended) this.violations.push("end outside the stream");
    this.onEnd();
    if (last !== "") this.writes.push(last);
    this.ended = true;
  }

  cut(): void {
    if (this.stream === null || this.ended) this.violations.push("cut outside the stream");
    this.onEnd();
    this.wasCut = true;
    this.ended = true;
  }

  refuse(error: unknown, headers: Readonly<Record<string, string>>): void {
    this.#head("refuse");
    this.refused = { error, headers };
    this.ended = true;
  }

  #head(call: string): void {
    if (this.answers > 0) this.violations.push(`${call} after a head was sent`);
  }
}
