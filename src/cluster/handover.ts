import type { Worker } from "node:cluster";

/** What Node's cluster says to a worker with a connection, and what the worker answers when it has taken it. */
interface InternalMessage {
  readonly cmd?: string;
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

interface Closable {
  close(): void;
}

/**
 * Closes the connections that a worker was being given when it died. Node keeps its own copy of each until the worker
 * has said that it took it; of a dead one nobody ever says so, and the client would wait for ever on a connection that
 * nobody has. There is no public way to them: the messages of `node:cluster` are listened to.
 */
export function closeUntaken({ process: child }: Pick<Worker, "process">): void {
  const untaken = new Map<number, Closable>();
  const send = child.send.bind(child) as (message: InternalMessage, handle?: Closable, ...more: unknown[]) => boolean;
  const watched: typeof send = (message, handle, ...more) => {
    if (message.cmd === "NODE_CLUSTER" && message.act === "newconn" && message.seq !== undefined && handle)
      untaken.set(message.seq, handle);
    return send(message, handle, ...more);
  };
  Object.assign(child, { send: watched });
  child.on("internalMessage", ({ cmd, ack }: InternalMessage) => {
    if (cmd === "NODE_CLUSTER" && ack !== undefined) untaken.delete(ack);
  });
  child.once("exit", () => {
    for (const connection of untaken.values()) connection.close();
  });
}
