import { connect } from "node:net";
import type { Socket } from "node:net";
import { AnswerCheck } from "./answer.ts";
import type { Load } from "./drive.ts";
import { AnswerReader } from "./reader.ts";
import { benchKey, benchModel, MODEL, nonceOf, requestBody, requestHead } from "./wire.ts";

export interface CallerParts {
  /** Events of content in each answer; null: JSON answers. */
  readonly length: number | null;
  /** Where delays go, in microseconds; null: nowhere. */
  readonly delays: number[] | null;
  /** Called when a JSON request can be sent; null: it is sent at once. */
  readonly onFree: ((caller: Caller) => void) | null;
}

/** One for all: what is read is used before anything else is read. */
const READ_BUFFER = Buffer.allocUnsafe(64 * 1024);

/** One connection. */
export class Caller {
  /** What is measured: answers, or events of content. */
  count = 0;
  /** Whole ones, right or wrong. */
  answers = 0;
  bad = 0;
  sample = "";
  readonly #parts: CallerParts;
  readonly #socket: Socket;
  readonly #message: Message;
  readonly #check: AnswerCheck;
  readonly over: Promise<void>;
  #finish: () => void = () => undefined;
  #asked = 0;

  constructor(load: Load, number: number, parts: CallerParts) {
    this.#parts = parts;
    this.#message = new Message(load, number, parts.length);
    const { delays } = parts;
    const isStream = parts.length !== null;
    this.#check = new AnswerCheck(load.format, isStream && delays ? (delay) => void delays.push(delay) : null);
    this.over = new Promise((resolve) => (this.#finish = resolve));
    const reader = new AnswerReader({
      body: (bytes) => void (this.count += this.#check.body(bytes)),
      end: (status) => this.#end(status),
    });
    const callback = (size: number, buffer: Uint8Array) => {
      reader.feed(buffer.subarray(0, size) as Buffer);
      return true;
    };
    const to = { port: load.port, host: "127.0.0.1", noDelay: true, onread: { buffer: READ_BUFFER, callback } };
    this.#socket = connect(to, () => this.#free());
    this.#socket.on("error", (error) => this.#fault(String(error)));
    this.#socket.on("close", () => this.#finish());
  }

  /** Lets the connection end. */
  stop(): void {
    this.#socket.destroy();
  }

  ask(): void {
    const { nonce, bytes } = this.#message.next();
    this.#check.begin(this.#parts.length, nonce);
    this.#asked = performance.now();
    this.#socket.write(bytes);
  }

  #free(): void {
    if (this.#parts.onFree) this.#parts.onFree(this);
    else this.ask();
  }

  #end(status: number): void {
    const fault = this.#check.end(status);
    if (fault !== null) this.#fault(fault);
    this.answers++;
    // A stream is measured by its events, and ends after the measured time.
    if (this.#parts.length !== null) return this.stop();
    this.count++;
    this.#parts.delays?.push((performance.now() - this.#asked) * 1_000);
    this.#free();
  }

  #fault(sample: string): void {
    this.bad++;
    this.sample ||= sample;
  }
}

/** The request of a connection, of which parts change from one to the next. */
class Message {
  readonly #load: Load;
  readonly #bytes: Buffer;
  readonly #nonceAt: number;
  readonly #keyAt: number;
  readonly #modelAt: number;
  readonly #number: number;
  #sent = 0;

  constructor(load: Load, number: number, length: number | null) {
    const { format, headers, turns, requestBytes } = load;
    this.#load = load;
    this.#number = number;
    const [key, model] = turns ? [benchKey(0), benchModel(0)] : [load.key, load.model ?? MODEL];
    const body = requestBody(length, { model, bytes: requestBytes });
    const authority = `127.0.0.1:${load.port}`;
    this.#bytes = Buffer.from(requestHead(authority, key, body.length, { format, headers }) + body);
    this.#nonceAt = this.#bytes.indexOf(nonceOf(0));
    this.#keyAt = this.#bytes.indexOf(key);
    this.#modelAt = this.#bytes.indexOf(model);
  }

  next(): { readonly nonce: string; readonly bytes: Buffer } {
    const { turns, connections } = this.#load;
    const nonce = nonceOf(this.#number * 1_000_000 + this.#sent);
    this.#bytes.write(nonce, this.#nonceAt, "latin1");
    if (turns) {
      const turn = this.#sent * connections + this.#number;
      this.#bytes.write(benchKey(turn % turns.keys), this.#keyAt, "latin1");
      this.#bytes.write(benchModel(turn % turns.models), this.#modelAt, "latin1");
    }
    this.#sent++;
    return { nonce, bytes: this.#bytes };
  }
}
