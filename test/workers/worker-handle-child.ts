import cluster from "node:cluster";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ConnectionHandover } from "../../src/workers/worker-handle.ts";

const KILLS = 3;
const CLIENTS = 30;

/** Kills a worker that stands still while connections wait for it, and prints what became of the clients. */
async function main(): Promise<void> {
  const counts = { answered: 0, reset: 0, waiting: 0 };
  const stays = cluster.fork();
  const [address] = (await once(stays, "listening")) as [AddressInfo];
  for (let kill = 0; kill < KILLS; kill++) {
    const victim = cluster.fork();
    const watched = new ConnectionHandover(victim);
    await once(victim, "listening");
    victim.process.kill("SIGSTOP");
    const clients = Array.from({ length: CLIENTS }, () => client(address.port, counts));
    // The other one has answered all that it was given.
    while (counts.answered < (kill + 1) * (CLIENTS - 1) && counts.waiting > 1) await sleep(5);
    const exit = once(victim, "exit");
    victim.process.kill("SIGKILL");
    await exit;
    if (!watched.left) throw new Error("its end was not noticed");
    if (Object.keys(cluster.workers ?? {}).length !== 1) throw new Error("Node still counts it");
    await Promise.race([Promise.all(clients), sleep(5_000)]);
  }
  process.stdout.write(JSON.stringify(counts));
  process.exit(0);
}

function client(port: number, counts: { answered: number; reset: number; waiting: number }): Promise<void> {
  counts.waiting += 1;
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = "";
  connect(port, "127.0.0.1")
    .on("data", (chunk) => (text += String(chunk)))
    .on("error", () => {})
    .on("close", () => {
      counts.waiting -= 1;
      counts[text === "" ? "reset" : "answered"] += 1;
      resolve();
    })
    .write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  return promise;
}

if (cluster.isPrimary) await main();
else createServer((_req, res) => res.end("ok")).listen(0, "127.0.0.1");
