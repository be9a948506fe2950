/**
 * The load: a fixed number of keep-alive connections, each sending its next request when its answer has come. Every
 * answer is checked. The proxy's CPU time is read in the same instant as the counters.
 * `node drive.ts '{"port":…,"pid":…,"key":…,"mode":"json"|"sse","connections":64,"warmup":1,"seconds":3}'` prints a Result as JSON.
 */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { cpuTime, residentMemory } from "./cpu.ts";
import { AnswerReader } from "./reader.ts";
import { CONTENT_EVENT, nonceOf, RATE, requestBody, requestHead } from "./wire.ts";

export interface Load {
  readonly port: number;
  /** The proxy whose CPU time is read. */
  readonly pid: number;
  readonly key: string;
  readonly mode: "json" | "sse";
  readonly connections: number;
  /** Before measuring. */
  readonly warmup: number;
  readonly seconds: number;
}

export interface Result {
  /** Answers, or events of content, within the measured time. */
  readonly count: number;
  readonly seconds: number;
  /** Microseconds of the proxy's CPU for each. */
  readonly cpu: number;
  readonly residentBytes: number;
  /** Answers that were not what they had to be, warm-up included. */
  readonly bad: number;
  /** The first of them. */
  readonly sample: string;
}

/** One connection. */
class Caller {
  /** What is measured: answers, or events of content. */
  count = 0;
  bad = 0;
  sample = "";
  /** Events of content in each answer; null: JSON answers, one after the other until `stop`. */
  readonly #length: number | null;
  readonly #socket: Socket;
  readonly #message: Buffer;
  readonly #nonceAt: number;
  readonly #number: number;
  #answers = 0;
  #text = "";
  #events = 0;
  #tail = "";
  readonly over: Promise<void>;
  #finish: () => void = () => undefined;

  constructor(load: Load, number: number, length: number | null) {
    this.#number = number;
    this.#length = length;
    const body = requestBody(length);
    this.#message = Buffer.from(requestHead(`127.0.0.1:${load.port}`, load.key, body.length) + body);
    this.#nonceAt = this.#message.indexOf(nonceOf(0));
    this.over = new Promise((resolve) => (this.#finish = resolve));
    const reader = new AnswerReader({ body: (bytes) => this.#body(bytes), end: (status) => this.#end(status) });
    this.#socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true }, () => this.#ask());
    this.#socket.on("data", (bytes: Buffer) => reader.feed(bytes));
    this.#socket.on("error", (error) => this.#fault(String(error)));
    this.#socket.on("close", () => this.#finish());
  }

  /** Lets the connection end. */
  stop(): void {
    this.#socket.destroy();
  }

  get #nonce(): string {
    return nonceOf(this.#number * 1_000_000 + this.#answers);
  }

  #ask(): void {
    this.#text = this.#tail = "";
    this.#events = 0;
    this.#message.write(this.#nonce, this.#nonceAt, "latin1");
    this.#socket.write(this.#message);
  }

  #body(bytes: Buffer): void {
    const text = bytes.toString("latin1");
    if (this.#length === null || this.#text === "") this.#text += text;
    if (this.#length === null) return;
    // An event may be split between reads: the end of the last one is searched again, short of a whole mark.
    const searched = this.#tail + text;
    for (let at = searched.indexOf(CONTENT_EVENT); at >= 0; at = searched.indexOf(CONTENT_EVENT, at + 1)) {
      this.#events++;
      this.count++;
    }
    this.#tail = searched.slice(1 - CONTENT_EVENT.length);
  }

  #end(status: number): void {
    const whole = this.#length === null || (this.#events === this.#length && this.#tail.endsWith("[DONE]\n\n"));
    if (status !== 200 || !whole || !this.#text.includes(this.#nonce)) {
      this.#fault(`${status} with ${this.#events} events: ${this.#text.slice(0, 300)}`);
    }
    this.#answers++;
    // A stream is measured by its events, and ends after the measured time.
    if (this.#length !== null) return this.stop();
    this.count++;
    this.#ask();
  }

  #fault(sample: string): void {
    this.bad++;
    this.sample ||= sample;
  }
}

/** Puts the load on a proxy and measures. */
export async function drive(load: Load): Promise<Result> {
  const length = load.mode === "sse" ? Math.ceil((load.warmup + load.seconds + 1) * RATE) : null;
  const callers = Array.from({ length: load.connections }, (_, number) => new Caller(load, number, length));
  const counted = () => callers.reduce((sum, caller) => sum + caller.count, 0);
  const read = () => ({ count: counted(), cpu: cpuTime(load.pid), at: performance.now() });
  await sleep(load.warmup * 1_000);
  const before = read();
  await sleep(load.seconds * 1_000);
  const after = read();
  const residentBytes = residentMemory(load.pid);
  // Streams run to their end, so that each can be checked whole; the others have no end of their own.
  if (length === null) for (const caller of callers) caller.stop();
  await Promise.all(callers.map((caller) => caller.over));
  const count = after.count - before.count;
  return {
    count,
    seconds: (after.at - before.at) / 1_000,
    cpu: (after.cpu - before.cpu) / 1_000 / count,
    residentBytes,
    bad: callers.reduce((sum, caller) => sum + caller.bad, 0),
    sample: callers.find((caller) => caller.sample !== "")?.sample ?? "",
  };
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

if (import.meta.main) {
  const result = await drive(JSON.parse(process.argv[2] ?? "{}") as Load);
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
