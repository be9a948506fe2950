/**
 * The load of the shedding bench: first as many connections as are given, each with a request at a time, for the capacity
 * of the process; then a multiple of it by one plan, at a rate that waits for no answer, while other plans send little.
 * Every answer is read to its end and checked.
 * `node drive.ts '{"port":…,"keys":{"Free":…,"Max":…},"crowd":"Free",…}'` prints a Result as JSON.
 */
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { requestBody, STREAM_ENDS } from "../load/wire.ts";

export interface ShedLoad {
  readonly port: number;
  /** By plan. */
  readonly keys: Readonly<Record<string, string>>;
  /** The plan that sends too much. */
  readonly crowd: string;
  /** How much: so many times the capacity. */
  readonly factor: number;
  /** What each of the others sends, as a share of the capacity. */
  readonly share: number;
  readonly connections: number;
  readonly warmup: number;
  /** For which the capacity is measured. */
  readonly calibration: number;
  readonly seconds: number;
  /** Events of content in each answer. */
  readonly events: number;
}

export interface PlanResult {
  readonly offeredPerSecond: number;
  readonly sent: number;
  readonly served: number;
  /** 503 `OVERLOADED` with `Retry-After`. */
  readonly refused: number;
  /** Anything else: other statuses, broken answers, silence. */
  readonly failed: number;
  /** What the first failed one met. */
  readonly sample: string;
  /** Milliseconds to the head of a served answer. */
  readonly median: number;
  readonly p99: number;
}

export interface ShedResult {
  /** Answers a second. */
  readonly capacity: number;
  readonly plans: Readonly<Record<string, PlanResult>>;
}

const PATH = "/v1/chat/completions";
/** Open ones of the crowd; what finds none free waits for one, as clients' own pools have it. */
const MAX_CONNECTIONS = 2_000;
const TIMEOUT_MS = 20_000;

type Ending = "served" | "refused" | { readonly failed: string };

class Plan {
  served = 0;
  refused = 0;
  failed = 0;
  sent = 0;
  sample = "";
  readonly delays: number[] = [];
  readonly #agent: Agent;
  readonly #load: ShedLoad;
  readonly #key: string;
  readonly #body: string;

  constructor(load: ShedLoad, key: string, maxSockets: number) {
    this.#load = load;
    this.#key = key;
    this.#agent = new Agent({ keepAlive: true, maxSockets });
    this.#body = requestBody(load.events);
  }

  async send(): Promise<void> {
    this.sent += 1;
    const began = performance.now();
    const ending = await this.#ask(() => this.delays.push(performance.now() - began));
    if (ending === "served") this.served += 1;
    else if (ending === "refused") this.refused += 1;
    else {
      this.failed += 1;
      this.sample ||= ending.failed;
    }
  }

  #ask(onHead: () => void): Promise<Ending> {
    const { port } = this.#load;
    const headers = {
      authorization: `Bearer ${this.#key}`,
      "content-type": "application/json",
      "content-length": this.#body.length,
    };
    return new Promise((resolve) => {
      const fail = (failed: string): void => resolve({ failed });
      const sent = request({ host: "127.0.0.1", port, method: "POST", path: PATH, agent: this.#agent, headers });
      const timer = setTimeout(() => sent.destroy(new Error("no answer in time")), TIMEOUT_MS);
      sent.on("error", (error) => fail(String(error)));
      sent.on("close", () => clearTimeout(timer));
      sent.on("response", (response) => {
        const { statusCode: status = 0, headers: told } = response;
        if (status === 200) onHead();
        let end = "";
        response.on(
          "data",
          (bytes: Buffer) => (end = (end + bytes.toString("latin1")).slice(-STREAM_ENDS.openai.length)),
        );
        response.on("error", (error) => fail(String(error)));
        response.on("end", () => {
          const isShed = status === 503 && told["x-error-code"] === "OVERLOADED" && Number(told["retry-after"]) >= 1;
          if (isShed) resolve("refused");
          else if (status === 200 && end === STREAM_ENDS.openai) resolve("served");
          else fail(`${status} …${end}`);
        });
      });
      sent.end(this.#body);
    });
  }

  result(offeredPerSecond: number): PlanResult {
    const { sent, served, refused, failed, sample } = this;
    const sorted = this.delays.toSorted((a, b) => a - b);
    const at = (share: number): number => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
    return { offeredPerSecond, sent, served, refused, failed, sample, median: at(0.5), p99: at(0.99) };
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Answers a second of one process that always has enough to do. The last plan is never refused for a late event loop. */
async function capacityOf(load: ShedLoad): Promise<number> {
  const plan = new Plan(load, Object.values(load.keys).at(-1)!, load.connections);
  const over = new AbortController();
  const callers = Array.from({ length: load.connections }, async () => {
    while (!over.signal.aborted) await plan.send();
  });
  await sleep(load.warmup * 1_000);
  const [before, began] = [plan.served, performance.now()];
  await sleep(load.calibration * 1_000);
  const capacity = ((plan.served - before) * 1_000) / (performance.now() - began);
  over.abort();
  await Promise.all(callers);
  plan.close();
  return capacity;
}

/** Sends at a rate, whatever becomes of it; resolves when the last answer is there. */
async function offer(plan: Plan, rate: number, seconds: number): Promise<void> {
  const pending = new Set<Promise<void>>();
  const began = performance.now();
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - began) / 1_000) {
    for (const due = Math.min(elapsed, seconds) * rate; plan.sent < due;) {
      const sent = plan.send();
      pending.add(sent);
      void sent.finally(() => pending.delete(sent));
    }
    await sleep(1);
  }
  await Promise.all(pending);
}

async function run(load: ShedLoad): Promise<ShedResult> {
  const capacity = await capacityOf(load);
  const plans = Object.entries(load.keys).map(([name, key]) => {
    const isCrowd = name === load.crowd;
    const rate = capacity * (isCrowd ? load.factor : load.share);
    return { name, rate, plan: new Plan(load, key, isCrowd ? MAX_CONNECTIONS : Infinity) };
  });
  await Promise.all(plans.map(({ plan, rate }) => offer(plan, rate, load.seconds)));
  for (const { plan } of plans) plan.close();
  return { capacity, plans: Object.fromEntries(plans.map(({ name, rate, plan }) => [name, plan.result(rate)])) };
}

if (import.meta.main) {
  const result = await run(JSON.parse(process.argv[2] ?? "") as ShedLoad);
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
