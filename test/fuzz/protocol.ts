/** What the target sends its runner, by IPC: first where it listens and who calls, then answers to questions. */
export interface Started {
  readonly url: string;
  readonly caller: { readonly key: string; readonly token: string };
  readonly bystander: { readonly key: string };
}

export interface Measured {
  /** Bytes after a collection. */
  readonly heap: number;
  readonly rss: number;
  readonly sockets: number;
}

/** `held`: the most milliseconds that one turn of the event loop has worked since the question was asked last. */
export interface Question {
  readonly id: number;
  readonly about: "measure" | "held" | "finish";
}

export interface Reply {
  readonly id: number;
  readonly value: unknown;
}

/** Read by a plugin that holds the event loop at the sight of it: the proof that the runner notices. */
export const BLOCKING = "--blocking";
export const MAGIC = "hold the event loop";
