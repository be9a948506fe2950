import { connect } from "node:net";
import type { Socket } from "node:net";
import { AnswerCheck } from "../load/answer.ts";
import { AnswerReader } from "../load/reader.ts";

/** What all lines together have had. */
export interface Counts {
  answers: number;
  chunks: number;
  /** Milliseconds that the answered requests ran, summed. */
  ran: number;
  bad: number;
  sample: string;
}

export interface LineEvents {
  /** Its answer has come: it takes the next request. */
  free(line: Line): void;
  /** Closed, by either side. */
  gone(line: Line): void;
}

/** One keep-alive connection: a request at a time. */
export class Line {
  readonly #socket: Socket;
  readonly #check = new AnswerCheck();
  readonly #counts: Counts;
  readonly #events: LineEvents;
  #begun = 0;
  #busy = false;

  constructor(port: number, counts: Counts, events: LineEvents) {
    this.#counts = counts;
    this.#events = events;
    const reader = new AnswerReader({
      body: (bytes) => void (counts.chunks += this.#check.body(bytes)),
      end: (status) => this.#end(status),
    });
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.on("data", (bytes: Buffer) => {
      try {
        reader.feed(bytes);
      } catch (error) {
        this.#socket.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    this.#socket.on("error", (error) => this.#break(String(error)));
    this.#socket.on("close", () => {
      this.#break("the connection was closed");
      events.gone(this);
    });
  }

  ask(message: string, chunks: number | null, nonce: string): void {
    this.#busy = true;
    this.#begun = performance.now();
    this.#check.begin(chunks, nonce);
    this.#socket.write(message, "latin1");
  }

  close(): void {
    this.#socket.destroy();
  }

  #end(status: number): void {
    const fault = this.#check.end(status);
    if (fault !== null) this.#fault(fault);
    this.#busy = false;
    this.#counts.answers++;
    this.#counts.ran += performance.now() - this.#begun;
    this.#events.free(this);
  }

  /** There will be no answer. */
  #break(reason: string): void {
    if (this.#busy) this.#fault(reason);
    this.#busy = false;
  }

  #fault(sample: string): void {
    this.#counts.bad++;
    this.#counts.sample ||= sample;
  }
}
