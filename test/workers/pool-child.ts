import { spawn } from "node:child_process";
import cluster, { type Worker } from "node:cluster";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { WorkerPool } from "../../src/workers/pool.ts";
import type { PinnedSettings, ToSupervisor, ToWorker } from "../../src/workers/messages.ts";
import { listenOn, cut } from "../../src/server/listen.ts";

/** What a worker does when it is told to start. */
type Behaviour = "serves" | "hangs" | "blocks" | "leaves its channel open";

const START_DEADLINE_MS = 1_500;
/** The file descriptor of a worker's channel to its supervisor. */
const CHANNEL = 3;
const lines: string[] = [];
const note = (_fields: object, message: string): void => void lines.push(message);
const log = { debug: () => {}, info: () => {}, warn: note, error: note };

/** A pool of two on a free port, whose workers behave in the order of `behaviours`, then serve. */
async function poolOf(behaviours: readonly Behaviour[]) {
  const probe = await listenOn([{ host: "127.0.0.1", port: 0 }], () => {});
  await cut(probe);
  const next = [...behaviours];
  const forked: Worker[] = [];
  const pool = new WorkerPool({
    size: 2,
    pinned: { listen: probe.addresses } as unknown as PinnedSettings,
    fork: () => {
      const worker = cluster.fork({ BEHAVIOUR: next.shift() ?? "serves" });
      forked.push(worker);
      return worker;
    },
    log,
    startDeadlineMs: START_DEADLINE_MS,
  });
  return { pool, forked, port: probe.addresses[0]!.port };
}

const SCENARIOS: Readonly<Record<string, () => Promise<object>>> = {
  async "first start"() {
    const { pool, forked } = await poolOf(["hangs"]);
    const failure = await pool.start().then(String, (error: Error) => `${error.name}: ${error.message}`);
    return { failure, workers: forked.length };
  },
  async "blocked start"() {
    const { pool } = await poolOf(["blocks"]);
    return { failure: await pool.start().then(String, (error: Error) => `${error.name}: ${error.message}`) };
  },
  async replacement() {
    const { pool, forked } = await poolOf(["serves", "serves", "hangs"]);
    await pool.start();
    forked[0]!.process.kill("SIGKILL");
    while (pool.workers.filter(({ serving }) => serving).length < 2 || forked.length < 4) await sleep(10);
    await pool.end();
    return { workers: forked.length };
  },
  async "all at once"() {
    const { pool, forked, port } = await poolOf([]);
    await pool.start();
    const outcomes: Record<string, number> = {};
    const over = new AbortController();
    const clients = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) {
        const outcome = await request(port);
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        await sleep(5);
      }
    });
    for (let round = 1; round <= 3; round++) {
      await sleep(200);
      for (const { pid } of pool.workers) process.kill(pid, "SIGKILL");
      while (forked.length < 2 + 2 * round || pool.workers.filter(({ serving }) => serving).length < 2) await sleep(5);
    }
    await sleep(200);
    over.abort();
    await Promise.all(clients);
    await pool.end();
    return { outcomes, after: await request(port) };
  },
  /** The ends of a process and of its channel are two events; here the second comes late. */
  async "a channel that closes late"() {
    const { pool, port } = await poolOf(["leaves its channel open", "leaves its channel open"]);
    await pool.start();
    await pool.end();
    return { after: await request(port) };
  },
  async "stop while one waits to be replaced"() {
    const { pool, forked } = await poolOf(["serves", "serves"]);
    await pool.start();
    forked[0]!.process.kill("SIGKILL");
    while (!lines.some((line) => line.includes("replacing it in"))) await sleep(1);
    await pool.end();
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

function send(message: ToSupervisor): void {
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
      send({ type: "serving", instance: String(process.pid), hash: "" });
      setInterval(() => send({ type: "heartbeat" }), 100);
    });
  });
  send({ type: "started" });
}

if (cluster.isWorker) work();
else {
  const result = await SCENARIOS[process.argv[2] ?? ""]!();
  process.stdout.write(JSON.stringify({ ...result, lines }));
  process.exit(0);
}
