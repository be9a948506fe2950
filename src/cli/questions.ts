import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { EXIT, ExitError } from "./options.ts";

/** Where questions are shown and answered. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  /** Questions and what is typed; results go elsewhere. */
  readonly output: NodeJS.WritableStream;
}

export interface AskOptions {
  /** Taken for an empty answer. */
  readonly fallback?: string;
  /** What is typed is not shown. */
  readonly hidden?: boolean;
}

/** Asks a person, one question after the other. */
export class Questions {
  readonly #reader: Interface;
  readonly #output: NodeJS.WritableStream;
  readonly #answers: string[] = [];
  #waiting: { readonly resolve: (answer: string) => void; readonly reject: (error: Error) => void } | null = null;
  readonly #givenUp = new AbortController();
  #hidden = false;

  constructor({ input, output }: Terminal) {
    this.#output = output;
    const screen = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!this.#hidden) output.write(chunk);
        done();
      },
    });
    this.#reader = createInterface({ input, output: screen, terminal: true });
    // Lines are kept: a paste may answer several questions at once.
    this.#reader.on("line", (line) => {
      const waiting = this.#waiting;
      this.#waiting = null;
      if (waiting === null) this.#answers.push(line);
      else waiting.resolve(line);
    });
    // Ctrl-C, Ctrl-D, or a terminal that is gone.
    this.#reader.on("close", () => {
      this.#givenUp.abort();
      this.#waiting?.reject(cancelled());
    });
  }

  /** Aborts when the person gives up. */
  get signal(): AbortSignal {
    return this.#givenUp.signal;
  }

  /** Shows something that is no question. */
  say(text: string): void {
    this.#output.write(`${text}\n`);
  }

  /** @throws ExitError when the person gives up. */
  async ask(question: string, { fallback, hidden = false }: AskOptions = {}): Promise<string> {
    this.#reader.setPrompt(fallback === undefined ? `${question} ` : `${question} [${fallback}] `);
    if (!this.signal.aborted) this.#reader.prompt();
    this.#hidden = hidden;
    try {
      const answer = (await this.#line()).trim();
      return answer === "" ? (fallback ?? "") : answer;
    } finally {
      this.#hidden = false;
      // The line end that was typed was not shown either.
      if (hidden) this.#output.write("\n");
    }
  }

  close(): void {
    this.#reader.close();
  }

  async #line(): Promise<string> {
    const kept = this.#answers.shift();
    if (kept !== undefined) return kept;
    if (this.signal.aborted) throw cancelled();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#waiting = { resolve, reject };
    return await promise;
  }
}

function cancelled(): ExitError {
  return new ExitError(EXIT.failed, "cancelled: nothing was written");
}
