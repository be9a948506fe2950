import { spawn } from "node:child_process";
import cluster, { type Worker } from "node:cluster";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Crew } from "../../src/workers/pool.ts";
import type { Pinned, ToSupervisor, ToWorker } from "../../src/workers/messages.ts";
import { listenOn, cut } from "../../src/server/listen.ts";

/** What a worker does when it is told to start. */
type Behaviour = "serves" | "hangs" | "blocks" | "leaves its channel open";

const DEADLINE = 1_500;
/** The file descriptor of a worker's channel to its supervisor. */
const CHANNEL = 3;
const lines: string[] = [];
const note = (_fields: object, message: string): void => void lines.push(message);
const log = { debug: () => {}, info: () => {}, warn: note, error: note };

/** A crew of two on a free port, whose workers behave in the order of `behaviours`, then serve. */
async function crewOf(behaviours: readonly Behaviour[]) {
  const probe = await listenOn([{ host: "127.0.0.1", port: 0 }], () => {});
  await cut(probe);
  const next = [...behaviours];
  const forked: Worker[] = [];
  const crew = new Crew({
    size: 2,
    pinned: { listen: probe.addresses } as unknown as Pinned,
    fork: () => {
      const worker = cluster.fork({ BEHAVIOUR: next.shift() ?? "serves" });
      forked.push(worker);
      return worker;
    },
    onEnded: () => {},
    log,
    startDeadline: DEADLINE,
  });
  return { crew, forked, port: probe.addresses[0]!.port };
}

const SCENARIOS: Readonly<Record<string, () => Promise<object>>> = {
  async "first start"() {
    const { crew, forked } = await crewOf(["hangs"]);
    const failure = await crew.start().then(String, (error: Error) => `${error.name}: ${error.message}`);
    return { failure, workers: forked.length };
  },
  async "blocked start"() {
    const { crew } = await crewOf(["blocks"]);
    return { failure: await crew.start().then(String, (error: Error) => `${error.name}: ${error.message}`) };
  },
  async replacement() {
    const { crew, forked } = await crewOf(["serves", "serves", "hangs"]);
    await crew.start();
    forked[0]!.process.kill("SIGKILL");
    while (crew.hands.filter(({ serving }) => serving).length < 2 || forked.length < 4) await sleep(10);
    await crew.end();
    return { workers: forked.length };
  },
  async "all at once"() {
    const { crew, forked, port } = await crewOf([]);
    await crew.start();
    const outcomes: Record<string, number> = {};
    const over = new AbortController();
    const lanes = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) {
        const outcome = await request(port);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        await sleep(5);
      }
    });
    for (let round = 1; round <= 3; round++) {
      await sleep(200);
      for (const { pid } of crew.hands) process.kill(pid, "SIGKILL");
      while (forked.length < 2 + 2 * round || crew.hands.filter(({ serving }) => serving).length < 2) await sleep(5);
    }
    await sleep(200);
    over.abort();
    await Promise.all(lanes);
    await crew.end();
    return { outcomes, after: await request(port) };
  },
  /** The ends of a process and of its channel are two events; here the second comes late. */
  async "a channel that closes late"() {
    const { crew, port } = await crewOf(["leaves its channel open", "leaves its channel open"]);
    await crew.start();
    await crew.end();
    return { after: await request(port) };
  },
  async "stop while one waits to be replaced"() {
    const { crew, forked } = await crewOf(["serves", "serves"]);
    await crew.start();
    forked[0]!.process.kill("SIGKILL");
    while (!lines.some((line) => line.includes("replaced in"))) await sleep(1);
    await crew.end();
    await sleep(500);
    return { workers: forked.length };
  },
};

function request(port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = connect(port, "127.0.0.1")
    .on("data", (chunk) => (text += String(chunk)))
    .on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    .on("close", () => resolve(text === "" ? "closed" : text.slice(0, 12)));
  socket.setTimeout(15_000, () => resolve("waiting")).write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  return promise;
}

function tell(message: ToSupervisor): void {
  process.send!(message);
}

function work(): void {
  process.on("disconnect", () => process.exit(0));
  process.on("message", (message: ToWorker) => {
    if (message.type === "end") process.exit(3);
    if (message.type !== "start" || process.env["BEHAVIOUR"] === "hangs") return;
    while (process.env["BEHAVIOUR"] === "blocks");
    if (process.env["BEHAVIOUR"] === "leaves its channel open") {
      spawn("sleep", ["1"], { stdio: ["ignore", "ignore", "ignore", CHANNEL] });
    }
    const [{ port, host }] = message.pinned.listen as [AddressInfo & { host: string }];
    createServer((_req, res) => res.end("ok")).listen(port, host, () => {
      tell({ type: "serving", instance: String(process.pid), hash: "" });
      setInterval(() => tell({ type: "beat" }), 100);
    });
  });
  tell({ type: "hello" });
}

if (cluster.isWorker) work();
else {
  const result = await SCENARIOS[process.argv[2] ?? ""]!();
  process.stdout.write(JSON.stringify({ ...result, lines }));
  process.exit(0);
}
