import cluster from "node:cluster";
import { type Gateway, type GatewayOptions, startGateway } from "../app.ts";
import { inBackground } from "../kit/index.ts";
import { loadFirst } from "../loading.ts";
import type { GatewayLog } from "../telemetry/log.ts";
import { watchLifetime } from "./lifetime.ts";
import { type Answers, BEAT, pin, type Question, type ToSupervisor, type ToWorker } from "./protocol.ts";

/** Whether this process is a worker of a supervisor. */
export function isWorker(): boolean {
  return cluster.isWorker;
}

/**
 * Serves as a worker until its supervisor, or the loss of it, ends this process.
 * @throws what `startGateway` throws.
 */
export async function serveAsWorker(options: GatewayOptions & { readonly log: GatewayLog }): Promise<void> {
  const { log } = options;
  let gateway: Gateway | null = null;
  let draining: Promise<void> | null = null;
  const drain = (most?: number): Promise<void> => (draining ??= Promise.resolve(gateway?.drain(most)));
  const leave = (most?: number): void => {
    drain(most).then(
      () => process.exit(0),
      () => process.exit(3),
    );
  };
  /** What is in flight is cut; for what it came to to be settled the supervisor waits a moment. */
  const end = (): void => {
    Promise.resolve(gateway?.close()).then(
      () => process.exit(3),
      () => process.exit(3),
    );
  };
  const order = Promise.withResolvers<ToWorker & { readonly type: "start" }>();
  process.on("message", (message: ToWorker) => {
    if (message.type === "start") order.resolve(message);
    else if (message.type === "drain") leave(message.most);
    else if (message.type === "end") end();
    else if (gateway) inBackground(log, "an answer to the supervisor", answer(gateway, message));
  });
  cluster.worker!.once("disconnect", () => {
    // Otherwise Node ends this process when this listener returns, with all that is in flight.
    cluster.worker!.exitedAfterDisconnect = true;
    if (draining === null) log.warn({}, "the supervisor is gone: draining");
    leave();
  });
  // A signal to the whole process group comes here and by the supervisor: it is one. Reloads are the supervisor's.
  watchLifetime({ drain, reload: () => undefined, force: () => undefined, exit: (code) => process.exit(code), log });

  tell({ type: "hello" });
  const { pinned, keepsLastGood } = await order.promise;
  // What is to be said of the file, the supervisor has said.
  const quiet = { ...log, warn: () => {}, error: () => {} };
  try {
    const start = pin(await loadFirst({ ...options, log: quiet }), pinned);
    gateway = await startGateway({ ...options, start, worker: { keepsLastGood } });
  } catch (error) {
    process.channel?.unref();
    throw error;
  }
  const { instance, generation } = gateway;
  tell({ type: "serving", instance, hash: generation.snapshot.hash });
  setInterval(() => tell({ type: "beat" }), BEAT);
}

async function answer(gateway: Gateway, { id, question, about }: ToWorker & { readonly type: "ask" }): Promise<void> {
  try {
    tell({ type: "answer", id, value: await valueOf(gateway, question, about) });
  } catch (error) {
    tell({ type: "failed", id, message: error instanceof Error ? error.message : String(error) });
  }
}

async function valueOf(gateway: Gateway, question: Question, about: string): Promise<Answers[Question]> {
  const { surface, store } = gateway;
  switch (question) {
    case "ready":
      return surface.notReady();
    case "metrics":
      return surface.collect();
    case "view":
      return surface.view();
    case "streams":
      return (await surface.streams()).active;
    case "settlements":
      return surface.settlements();
    case "reload":
      return surface.reload();
    case "bury":
      await store.markInstanceDead(about);
      await store.announce(about, "null", 1);
      return null;
  }
}

function tell(message: ToSupervisor): void {
  // A supervisor that is gone shows as "disconnect".
  if (process.connected) process.send!(message, undefined, undefined, () => {});
}
