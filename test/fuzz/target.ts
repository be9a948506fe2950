import { fork } from "node:child_process";
import { once } from "node:events";
import { threadCpuUsage } from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isJson, type Json } from "../../src/kit/index.ts";
import { chainConfig, merge } from "../e2e/support/gateway-config.ts";
import { KIND_CHAINS } from "../e2e/support/kinds.ts";
import { TestGateway } from "../e2e/support/in-process.ts";
import { chatModels } from "./models.ts";
import { BLOCKING, MAGIC, type Measured, type Question, type Reply, type Started } from "./protocol.ts";

const BLOCKING_PLUGIN = `
export default {
  name: "blocking",
  stage: "transform",
  schema: new URL("./blocking.schema.json", import.meta.url),
  setup: () => ({
    transform(call) {
      const worked = () => { const { user, system } = process.threadCpuUsage(); return (user + system) / 1000; };
      const until = worked() + 1_500;
      if (JSON.stringify(call.body.messages ?? "").includes(${JSON.stringify(MAGIC)})) while (worked() < until);
      return call;
    },
  }),
};`;

/** @param origin of the simulator. */
function config(origin: string): Json {
  const bounds = { server: { body_limit: "2MiB", body_memory: "16MiB" } };
  const pipeline = ["auth", "plan-check", "quota", "breaker", { use: "./blocking.mjs" }, "stream-relay", "meter"];
  const models = merge(chainConfig(origin, KIND_CHAINS), chatModels(origin));
  return { ...bounds, ...models, ...(process.argv.includes(BLOCKING) ? { pipeline } : {}) };
}

/** How long turns of the event loop are, in CPU time of the main thread: the clock runs on while a busy machine does other things. */
class Turns {
  #last = worked();
  #longest = 0;

  constructor() {
    setInterval(() => {
      const now = worked();
      this.#longest = Math.max(this.#longest, now - this.#last);
      this.#last = now;
    }, 5).unref();
  }

  /** Since it was asked last. */
  longest(): number {
    const longest = Math.max(this.#longest, worked() - this.#last);
    this.#longest = 0;
    return longest;
  }

  /** What was done since the last turn is not the gateway's. */
  forget(): void {
    this.#last = worked();
    this.#longest = 0;
  }
}

/** Milliseconds. */
function worked(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

/** A gateway in front of the simulator as a process of its own: a fault nobody catches ends it, and the run. */
async function main(): Promise<void> {
  const schema = JSON.stringify({ type: "object", additionalProperties: false, properties: {} });
  const files = { "blocking.mjs": BLOCKING_PLUGIN, "blocking.schema.json": schema };
  const simulator = fork(new URL("simulator.ts", import.meta.url));
  const [origin] = (await once(simulator, "message")) as [string];
  const gateway = await TestGateway.start({ config: config(origin), files });
  const fuzzing = await gateway.user({ credits: "100000000" });
  const bystander = await gateway.user({ credits: "100000000" });
  const token = await gateway.token(fuzzing);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;

  const turns = new Turns();
  const measure = (): Measured => {
    collect();
    const { heapUsed: heap, rss } = process.memoryUsage();
    const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
    return { heap, rss, sockets };
  };
  const answerTo = async (about: Question["about"]): Promise<unknown> => {
    if (about === "measure") {
      const measured = measure();
      turns.forget();
      return measured;
    }
    if (about === "held") return turns.longest();
    return gateway.close().then(
      () => null,
      (error: unknown) => String(error),
    );
  };
  process.on("message", (question: unknown) => {
    if (!isJson(question)) return;
    const { id, about } = question as unknown as Question;
    answerTo(about).then(
      (value) => process.send!({ id, value }, () => about === "finish" && process.exit(value === null ? 0 : 1)),
      (error: unknown) => process.send!({ id, value: String(error) }),
    );
  });
  const started: Started = { url: gateway.url, caller: { key: fuzzing.key, token }, bystander };
  process.send!({ id: 0, value: started } satisfies Reply);
}

await main();
