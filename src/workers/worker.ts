import cluster from "node:cluster";
import { answerCall } from "../gateway/admin-services.ts";
import { loadFirst, type LoadSettings } from "../gateway/configuration.ts";
import { handleSignals } from "../gateway/shutdown.ts";
import { type Gateway, startGateway } from "../gateway/start.ts";
import { inBackground } from "../kit/index.ts";
import type { GatewayLog } from "../telemetry/log.ts";
import {
  type AdminAccessNow,
  type Answers,
  HEARTBEAT_INTERVAL_MS,
  type Question,
  type ToSupervisor,
  type ToWorker,
  withPinned,
} from "./messages.ts";

/** Whether this process is a worker of a supervisor. */
export function isWorker(): boolean {
  return cluster.isWorker;
}

/**
 * Serves as a worker until its supervisor, or the loss of it, ends this process.
 * @throws what `startGateway` throws.
 */
export async function serveAsWorker(settings: LoadSettings & { readonly log: GatewayLog }): Promise<void> {
  const { log } = settings;
  let gateway: Gateway | null = null;
  let draining: Promise<void> | null = null;
  let tellAdminAccess = doNothing;
  const drain = (maxMs?: number): Promise<void> => (draining ??= Promise.resolve(gateway?.drain(maxMs)));
  const drainAndExit = (maxMs?: number): void => {
    drain(maxMs).then(
      () => process.exit(0),
      () => process.exit(3),
    );
  };
  /** Aborts running requests; the supervisor waits a moment for them to be settled. */
  const end = (): void => {
    Promise.resolve(gateway?.close()).then(
      () => process.exit(3),
      () => process.exit(3),
    );
  };
  const order = Promise.withResolvers<ToWorker & { readonly type: "start" }>();
  process.on("message", (message: ToWorker) => {
    if (message.type === "start") order.resolve(message);
    else if (message.type === "drain") drainAndExit(message.maxMs);
    else if (message.type === "end") end();
    else if (gateway) inBackground(log, "an answer to the supervisor", answer(gateway, message, tellAdminAccess));
  });
  cluster.worker!.once("disconnect", () => {
    // Otherwise Node ends this process when this listener returns, with every request in flight.
    cluster.worker!.exitedAfterDisconnect = true;
    if (draining === null) log.warn({}, "supervisor exited; draining");
    drainAndExit();
  });
  // A signal to the process group arrives here and through the supervisor: it counts once. Reloads are the supervisor's.
  handleSignals({ drain, reload: () => undefined, force: () => undefined, exit: (code) => process.exit(code), log });

  send({ type: "started" });
  const { pinned, keepsLastGood } = await order.promise;
  // The supervisor has logged every warning about the file.
  const mutedLog = { ...log, warn: () => {}, error: () => {} };
  try {
    const start = withPinned(await loadFirst({ ...settings, log: mutedLog }), pinned);
    gateway = await startGateway({ ...settings, start, worker: { keepsLastGood } });
  } catch (error) {
    process.channel?.unref();
    throw error;
  }
  const { instance, generation } = gateway;
  send({ type: "serving", instance, hash: generation.snapshot.hash });
  tellAdminAccess = adminAccessTeller(gateway);
  tellAdminAccess();
  setInterval(() => {
    send({ type: "heartbeat" });
    tellAdminAccess();
  }, HEARTBEAT_INTERVAL_MS);
}

/** Tells the supervisor who may use its listener, when that has changed. */
function adminAccessTeller(gateway: Gateway): () => void {
  let told = "";
  return () => {
    const tokens = gateway.adminTokens.map(({ name, role, token }) => ({ name, role, token: token.reveal() }));
    const now: AdminAccessNow = { tokens, trustedProxies: gateway.generation.snapshot.server.trustedProxies };
    const text = JSON.stringify(now);
    if (text !== told) send({ type: "adminAccess", ...now });
    told = text;
  };
}

function doNothing(): void {}

/** @param before called before an answer is sent, so that what has changed is told first. */
async function answer(
  gateway: Gateway,
  { id, question, about }: ToWorker & { readonly type: "ask" },
  before: () => void,
): Promise<void> {
  try {
    const value = await valueOf(gateway, question, about);
    if (question === "reload") before();
    send({ type: "answer", id, value });
  } catch (error) {
    send({ type: "failed", id, message: error instanceof Error ? error.message : String(error) });
  }
}

async function valueOf(gateway: Gateway, question: Question, about: string): Promise<Answers[Question]> {
  const { adminView, store } = gateway;
  switch (question) {
    case "ready":
      return adminView.notReady();
    case "metrics":
      return adminView.collect();
    case "report":
      return adminView.report();
    case "histories":
      return adminView.histories();
    case "plan":
      return adminView.plan();
    case "figures":
      return adminView.figures(Number(about));
    case "ownStreams":
      return adminView.ownStreams();
    case "source":
      return adminView.source();
    case "streams":
      return adminView.streams();
    case "endOwnStream":
      return adminView.endOwnStream(about);
    case "endStream":
      return adminView.endStream(about);
    case "settlements":
      return adminView.settlements();
    case "reload":
      return adminView.reload();
    case "rollback":
      return adminView.rollback(JSON.parse(about) as string | number);
    case "explain":
      return adminView.explain(JSON.parse(about) as Parameters<typeof adminView.explain>[0]);
    case "call":
      return answerCall(gateway.adminServices, about);
    case "markInstanceDead":
      await store.markInstanceDead(about);
      await store.publishInstance(about, "null", 1);
      return null;
  }
}

function send(message: ToSupervisor): void {
  // A supervisor that is gone shows as "disconnect".
  if (process.connected) process.send!(message, undefined, undefined, () => {});
}
