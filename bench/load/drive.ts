/**
 * The load: a fixed number of keep-alive connections, each sending its next request when its answer has come. Every
 * answer is checked. The proxy's CPU time is read in the same instant as the counters.
 * `node drive.ts '{"port":…,"pid":…,"key":…,"mode":"json"|"sse","connections":64,"warmup":1,"seconds":3}'` prints a Result as JSON.
 */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { AnswerCheck } from "./answer.ts";
import { cpuTime, residentMemory } from "./cpu.ts";
import { AnswerReader } from "./reader.ts";
import { nonceOf, RATE, requestBody, requestHead } from "./wire.ts";

export interface Load {
  readonly port: number;
  /** The proxy whose CPU time is read. */
  readonly pid: number;
  /** The server of its store, whose CPU time is read too. */
  readonly storePid?: number;
  readonly key: string;
  readonly mode: "json" | "sse";
  readonly connections: number;
  /** Seconds before measuring. */
  readonly warmup: number;
  /** JSON answers before it, or three times as many seconds: on a busy machine compiling takes longer. */
  readonly warmupAnswers?: number;
  readonly seconds: number;
}

export interface Result {
  /** Answers, or events of content, within the measured time. */
  readonly count: number;
  readonly seconds: number;
  /** Microseconds of the proxy's CPU for each. */
  readonly cpu: number;
  /** Microseconds of the store's server; null without one. */
  readonly storeCpu: number | null;
  readonly residentBytes: number;
  /** Whole answers, warm-up included. */
  readonly answers: number;
  /** Answers that were not what they had to be, warm-up included. */
  readonly bad: number;
  /** The first of them. */
  readonly sample: string;
}

/** One connection. */
class Caller {
  /** What is measured: answers, or events of content. */
  count = 0;
  /** Whole ones, right or wrong. */
  answers = 0;
  bad = 0;
  sample = "";
  /** Events of content in each answer; null: JSON answers, one after the other until `stop`. */
  readonly #length: number | null;
  readonly #socket: Socket;
  readonly #message: Buffer;
  readonly #nonceAt: number;
  readonly #number: number;
  readonly #check = new AnswerCheck();
  readonly over: Promise<void>;
  #finish: () => void = () => undefined;

  constructor(load: Load, number: number, length: number | null) {
    this.#number = number;
    this.#length = length;
    const body = requestBody(length);
    this.#message = Buffer.from(requestHead(`127.0.0.1:${load.port}`, load.key, body.length) + body);
    this.#nonceAt = this.#message.indexOf(nonceOf(0));
    this.over = new Promise((resolve) => (this.#finish = resolve));
    const reader = new AnswerReader({
      body: (bytes) => void (this.count += this.#check.body(bytes)),
      end: (status) => this.#end(status),
    });
    this.#socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true }, () => this.#ask());
    this.#socket.on("data", (bytes: Buffer) => reader.feed(bytes));
    this.#socket.on("error", (error) => this.#fault(String(error)));
    this.#socket.on("close", () => this.#finish());
  }

  /** Lets the connection end. */
  stop(): void {
    this.#socket.destroy();
  }

  #ask(): void {
    const nonce = nonceOf(this.#number * 1_000_000 + this.answers);
    this.#check.begin(this.#length, nonce);
    this.#message.write(nonce, this.#nonceAt, "latin1");
    this.#socket.write(this.#message);
  }

  #end(status: number): void {
    const fault = this.#check.end(status);
    if (fault !== null) this.#fault(fault);
    this.answers++;
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
  const sum = (of: "count" | "answers" | "bad") => callers.reduce((total, caller) => total + caller[of], 0);
  const read = () => ({
    count: sum("count"),
    cpu: cpuTime(load.pid),
    storeCpu: load.storePid === undefined ? 0 : cpuTime(load.storePid),
    at: performance.now(),
  });
  await sleep(load.warmup * 1_000);
  const enough = length === null ? (load.warmupAnswers ?? 0) : 0;
  const most = performance.now() + load.warmup * 2_000;
  while (sum("answers") < enough && performance.now() < most) await sleep(50);
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
    storeCpu: load.storePid === undefined ? null : (after.storeCpu - before.storeCpu) / 1_000 / count,
    residentBytes,
    answers: sum("answers"),
    bad: sum("bad"),
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
