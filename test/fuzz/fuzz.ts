import { fork } from "node:child_process";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expectConforming } from "../e2e/support/conforming.ts";
import { type Answer, Exchange } from "../e2e/support/http.ts";
import { type Caller, type Input, inputOf } from "./inputs.ts";
import { Asking } from "./asking.ts";
import { BLOCKING, type Measured, type Started } from "./protocol.ts";

export interface FuzzOptions {
  readonly seed: number;
  /** Inputs to send; the run also ends after `minutes`. */
  readonly inputs: number;
  readonly minutes: number;
  /** The number of the first input. */
  readonly from?: number;
  readonly lanes?: number;
  /** Makes the inputs; `inputOf` unless given. */
  readonly make?: (seed: number, index: number, caller: Caller) => Input;
  /** A plugin is in the pipeline that holds the event loop at the sight of `MAGIC`. */
  readonly blocking?: boolean;
  /** Told once a minute, and at the end. */
  readonly onSample?: (sample: Sample) => void;
}

/** What the target holds at one time of the run. */
export interface Sample extends Measured {
  readonly minute: number;
  readonly inputs: number;
}

export interface FuzzResult {
  readonly inputs: number;
  /** Answers by status; 0 where the connection ended without one. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Milliseconds: of its slowest request, and of the longest turn of the gateway's event loop in CPU time. */
  readonly bystander: { readonly requests: number; readonly slowest: number; readonly held: number };
  readonly growth: { readonly heap: number; readonly sockets: number };
  /** One line each, an input's with its number and its bytes; empty when all went well. */
  readonly failures: readonly string[];
}

/** For the answer to a whole request, and for bytes that may deserve none. */
const ANSWER_TIMEOUT_MS = 20_000;
const LOOK_MS = 150;
/** CPU time that one turn of the gateway's event loop may take: everybody waits for it. Several inputs may meet in one. */
const TURN_MS = 500;
const MINUTE_MS = 60_000;
/** Caches fill up in the first part of a run: growth is counted after it. */
const WARM_UP = 1_000;
const HEAP_GROWTH_BYTES = 24 * 1024 * 1024;
/** Kept-alive connections to upstreams come and go. */
const SOCKET_GROWTH = 40;
const MOST_FAILURES = 20;
/** What the gateway's HTTP layer may answer to bytes that are no request of an operation. */
const PROTOCOL_STATUSES = new Set([400, 404, 405, 408, 411, 413, 414, 417, 426, 431, 501, 505]);
const SHOWN_BYTES = 400;

/** Sends inputs over the public port, and watches what becomes of the gateway and of somebody else's requests. */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { seed, inputs, minutes, from = 0, lanes = 8, make = inputOf, blocking = false } = options;
  const argv = blocking ? [BLOCKING] : [];
  const target = fork(new URL("target.ts", import.meta.url), argv, { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  const asking = new Asking(target);
  let stderr = "";
  target.stderr?.on("data", (chunk) => (stderr = (stderr + String(chunk)).slice(-4_000)));
  const failures: string[] = [];
  const statuses: Record<number, number> = {};
  const bystander = { requests: 0, slowest: 0, held: 0 };
  try {
    const {
      url,
      caller,
      bystander: other,
    } = await asking.started<Started>().catch((error: unknown) => {
      throw new Error(`${String(error)}: ${stderr}`);
    });
    const began = performance.now();
    const until = began + minutes * MINUTE_MS;
    let next = from;
    const over = new AbortController();
    const enough = (): boolean => failures.length >= MOST_FAILURES || target.exitCode !== null;

    const lane = async (last: number): Promise<void> => {
      while (next < last && performance.now() < until && !enough()) {
        const index = next++;
        const input = make(seed, index, caller);
        const { texts, fault } = await exchange(url, input);
        for (const status of texts.length === 0 ? [0] : texts.map(statusOf))
          statuses[status] = (statuses[status] ?? 0) + 1;
        const found = fault ?? faultOf(input, texts);
        if (found !== null) failures.push(`input ${index} (${input.name}): ${found}\n${shown(input.bytes)}`);
      }
    };
    const run = (last: number) => Promise.all(Array.from({ length: lanes }, () => lane(last)));
    const watch = async (): Promise<void> => {
      const headers = { authorization: `Bearer ${other.key}`, "content-type": "application/json" };
      const body = { model: "route/one", messages: [{ role: "user", content: "Hello there" }] };
      while (!over.signal.aborted && !enough()) {
        const before = performance.now();
        const answer = await new Exchange(`${url}/v1/chat/completions`, { headers, body }).whole().catch(String);
        const took = performance.now() - before;
        const held = await asking.ask<number>("held");
        bystander.requests += 1;
        bystander.slowest = Math.max(bystander.slowest, took);
        bystander.held = Math.max(bystander.held, held);
        const status = typeof answer === "string" ? answer : answer.status;
        if (status !== 200) failures.push(`the bystander was answered ${status}`);
        if (held > TURN_MS) {
          const turn = `a turn of the event loop took ${Math.round(held)} ms`;
          failures.push(`the bystander waited ${Math.round(took)} ms: ${turn}, near input ${next}`);
        }
        await sleep(20);
      }
    };
    const sampled = async (): Promise<Measured> => {
      // After a moment for connections that are closing.
      await sleep(500);
      const measured = await asking.ask<Measured>("measure");
      const minute = Math.round((performance.now() - began) / 6_000) / 10;
      options.onSample?.({ minute, inputs: next - from, ...measured });
      return measured;
    };
    const minutely = async (): Promise<void> => {
      for (let minute = 1; !over.signal.aborted; minute += 1) {
        await sleep(began + minute * MINUTE_MS - performance.now(), null, { signal: over.signal }).catch(() => {});
        if (!over.signal.aborted && !enough()) await sampled();
      }
    };

    // A target that ends is said below.
    const watching = Promise.all([watch(), minutely()]).catch((error: unknown) => {
      if (target.exitCode === null && target.signalCode === null) throw error;
    });
    await run(from + Math.min(WARM_UP, Math.ceil(inputs / 3)));
    const before = enough() ? null : await sampled();
    await run(from + inputs);
    over.abort();
    await watching;
    if (target.exitCode !== null || target.signalCode !== null) {
      failures.push(`the gateway ended, near input ${next}: ${stderr}`);
      return { inputs: next - from, statuses, bystander, growth: { heap: 0, sockets: 0 }, failures };
    }
    const after = await sampled();
    const growth = {
      heap: after.heap - (before?.heap ?? after.heap),
      sockets: after.sockets - (before?.sockets ?? after.sockets),
    };
    if (growth.heap > HEAP_GROWTH_BYTES) failures.push(`the heap has grown by ${growth.heap} bytes`);
    if (growth.sockets > SOCKET_GROWTH) failures.push(`${growth.sockets} connections are left`);
    // Slots, holds, streams and the books of everybody.
    const audit = await asking.ask<string | null>("finish");
    if (audit !== null) failures.push(`the books: ${audit}`);
    return { inputs: next - from, statuses, bystander, growth, failures };
  } finally {
    if (target.exitCode === null) target.kill("SIGKILL");
  }
}

/** Sends the bytes on a connection of its own. @returns the answers, each as it came. */
async function exchange(url: string, { bytes, whole }: Input): Promise<{ texts: Buffer[]; fault: string | null }> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const chunks: Buffer[] = [];
  const socket = connect(Number(port), hostname);
  const timer = setTimeout(() => resolve(whole ? "no answer came" : null), whole ? ANSWER_TIMEOUT_MS : LOOK_MS);
  socket
    .on("data", (chunk: Buffer) => chunks.push(chunk))
    .on("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED" ? "nobody listens" : null))
    .on("close", () => resolve(null))
    .write(bytes);
  const fault = await promise;
  clearTimeout(timer);
  socket.destroy();
  const read = Buffer.concat(chunks);
  return { texts: answersIn(read), fault };
}

/** Split where a status line begins: good enough for answers of text. */
function answersIn(read: Buffer): Buffer[] {
  const starts = [...read.toString("latin1").matchAll(/HTTP\/1\.1 \d{3} /g)].map(({ index }) => index);
  return starts.map((start, index) => read.subarray(start, starts[index + 1]));
}

function statusOf(answer: Buffer): number {
  return Number(answer.subarray(9, 12).toString("latin1"));
}

function faultOf({ request, whole }: Input, answers: readonly Buffer[]): string | null {
  const final = answers.filter((answer) => statusOf(answer) >= 200);
  const [first] = final;
  if (whole && first === undefined) return "the connection ended without an answer";
  const own = final.find((answer) => statusOf(answer) === 500);
  if (own !== undefined) return `answered ${own.toString("latin1").slice(0, SHOWN_BYTES)}`;
  if (request === null || first === undefined || PROTOCOL_STATUSES.has(statusOf(first))) return null;
  try {
    expectConforming(request.method, request.path, parsed(first));
    return null;
  } catch (error) {
    return `not as documented: ${(error as Error).message.slice(0, SHOWN_BYTES)}`;
  }
}

function parsed(answer: Buffer): Answer {
  const end = answer.indexOf("\r\n\r\n");
  const headers: Record<string, string> = {};
  for (const line of answer.subarray(0, end).toString("latin1").split("\r\n").slice(1)) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const raw = answer.subarray(end + 4);
  const bytes = headers["transfer-encoding"] === "chunked" ? unchunked(raw) : raw;
  return { status: statusOf(answer), headers, text: bytes.toString("utf8"), bytes, whole: true };
}

function unchunked(raw: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < raw.length;) {
    const end = raw.indexOf("\r\n", at);
    const length = Number.parseInt(raw.subarray(at, end).toString("latin1"), 16);
    if (end < 0 || !(length > 0)) break;
    pieces.push(raw.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return Buffer.concat(pieces);
}

/** The bytes as a literal that makes them again, or their beginning. */
function shown(bytes: Buffer): string {
  const begun = bytes.length > SHOWN_BYTES ? ` … ${bytes.length} bytes` : "";
  return JSON.stringify(bytes.subarray(0, SHOWN_BYTES).toString("latin1")) + begun;
}
