/**
 * Traffic at a steady rate: requests of many users, each at its time whether or not others have been answered. A share
 * of them are streams with 100 events a second. Every answer is checked. CPU times and script calls are read at both
 * ends of the measured time.
 * `node traffic.ts FILE` with a Traffic as JSON in it prints a Passage as JSON.
 */
import { readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { cpuTime } from "../load/cpu.ts";
import { readInfo, scriptsOf } from "../load/redis.ts";
import { nonceOf, requestBody, requestHead } from "../load/wire.ts";
import { Line } from "./line.ts";
import type { Counts } from "./line.ts";

export interface Traffic {
  readonly port: number;
  readonly gatewayPid: number;
  readonly storePid: number;
  readonly storeUrl: string;
  /** Keys of the users: all in turn once, then at random. */
  readonly secrets: readonly string[];
  readonly requestsPerSecond: number;
  readonly streamShare: number;
  readonly chunksPerStream: number;
  /** Seconds before measuring, in which the rate rises evenly: a cold process cannot serve it at once. */
  readonly warmup: number;
  readonly seconds: number;
}

/** What passed within the measured time. */
export interface Passage {
  readonly seconds: number;
  readonly answers: number;
  readonly chunks: number;
  /** Mean seconds that a request ran. */
  readonly duration: number;
  /** Microseconds of CPU. */
  readonly gatewayCpu: number;
  readonly storeCpu: number;
  readonly scripts: number;
  /** Answers over the whole time, the warm-up and the end included. */
  readonly allAnswers: number;
  readonly bad: number;
  readonly sample: string;
}

/** Sends requests as they are due; `drain` sends no more and waits for the answers. */
class Sender {
  readonly counts: Counts = { answers: 0, chunks: 0, ran: 0, bad: 0, sample: "" };
  readonly #traffic: Traffic;
  readonly #free = new Set<Line>();
  readonly #lines = new Set<Line>();
  readonly #timer: NodeJS.Timeout;
  readonly #begun = performance.now();
  #sent = 0;

  constructor(traffic: Traffic) {
    this.#traffic = traffic;
    this.#timer = setInterval(() => this.#send(), 1);
  }

  async drain(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#free.size < this.#lines.size) await sleep(20);
    for (const line of this.#lines) line.close();
  }

  #send(): void {
    const { requestsPerSecond, secrets, streamShare, chunksPerStream, port, warmup } = this.#traffic;
    const due = Math.floor(requestsPerSecond * rampedSeconds((performance.now() - this.#begun) / 1_000, warmup));
    for (; this.#sent < due; this.#sent++) {
      const caller = this.#sent < secrets.length ? this.#sent : Math.floor(Math.random() * secrets.length);
      const chunks = isStream(this.#sent, streamShare) ? chunksPerStream : null;
      const nonce = nonceOf(this.#sent);
      const body = requestBody(chunks).replace(nonceOf(0), nonce);
      const head = requestHead(`127.0.0.1:${port}`, secrets[caller] ?? "", body.length);
      this.#line().ask(head + body, chunks, nonce);
    }
  }

  #line(): Line {
    const [free] = this.#free;
    if (free !== undefined) {
      this.#free.delete(free);
      return free;
    }
    const line = new Line(this.#traffic.port, this.counts, {
      free: (freed) => void this.#free.add(freed),
      gone: (lost) => {
        this.#free.delete(lost);
        this.#lines.delete(lost);
      },
    });
    this.#lines.add(line);
    return line;
  }
}

/** Seconds at the whole rate that are as much as `elapsed` seconds with the warm-up's rising rate. */
export function rampedSeconds(elapsed: number, warmup: number): number {
  return elapsed < warmup ? elapsed ** 2 / (2 * warmup) : elapsed - warmup / 2;
}

/** Spreads the share evenly over the requests. */
function isStream(index: number, share: number): boolean {
  return Math.floor((index + 1) * share) > Math.floor(index * share);
}

export async function pass(traffic: Traffic): Promise<Passage> {
  const store = new Redis(traffic.storeUrl);
  await store.ping();
  const sender = new Sender(traffic);
  const read = async () => {
    const own = { ...sender.counts, at: performance.now() };
    const cpu = { gatewayCpu: cpuTime(traffic.gatewayPid) / 1_000, storeCpu: cpuTime(traffic.storePid) / 1_000 };
    return { ...own, ...cpu, scripts: scriptsOf(readInfo(await store.info("commandstats"))).calls };
  };
  await sleep(traffic.warmup * 1_000);
  const before = await read();
  await sleep(traffic.seconds * 1_000);
  const after = await read();
  await sender.drain();
  store.disconnect();
  const { counts } = sender;
  const answers = after.answers - before.answers;
  return {
    seconds: (after.at - before.at) / 1_000,
    answers,
    chunks: after.chunks - before.chunks,
    duration: (after.ran - before.ran) / 1_000 / answers,
    gatewayCpu: after.gatewayCpu - before.gatewayCpu,
    storeCpu: after.storeCpu - before.storeCpu,
    scripts: after.scripts - before.scripts,
    allAnswers: counts.answers,
    bad: counts.bad,
    sample: counts.sample,
  };
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

if (import.meta.main) {
  const passage = await pass(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Traffic);
  process.stdout.write(`${JSON.stringify(passage)}\n`);
}
