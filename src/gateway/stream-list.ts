import { randomUUID } from "node:crypto";
import { inBackground, isJson, type Log, type Store } from "../kit/index.ts";
import type { RunningStream } from "../server/inference.ts";
import type { InstanceInfo } from "./instances.ts";

/** A request with a streamed answer, as `GET /admin/streams` shows it. */
export interface StreamInfo {
  readonly id: string;
  readonly request_id: string;
  readonly instance: string;
  readonly user: string;
  readonly model: string;
  readonly upstream: string | null;
  readonly age_ms: number;
  readonly events: number;
  readonly bytes: number;
  /** `waiting` until the client has been sent the head. */
  readonly state: "waiting" | "streaming";
}

export interface StreamList {
  readonly streams: readonly StreamInfo[];
  /** Whether every instance has told all of its own. */
  readonly complete: boolean;
}

/** What came of the wish to end a stream. */
export interface EndedStream {
  readonly ended: boolean;
  /** Whether every instance has been asked, for one that was not found. */
  readonly complete: boolean;
}

export interface StreamDirectoryOptions {
  readonly store: Pick<Store, "broadcast" | "onBroadcast" | "running">;
  /** The name of this instance. */
  readonly instance: string;
  readonly running: () => readonly RunningStream[];
  readonly end: (id: string) => boolean;
  /** The others that share the store; null while it does not answer. */
  readonly others: () => Promise<readonly Pick<InstanceInfo, "instance">[] | null>;
  readonly log: Log;
  /** Milliseconds for the others to answer. */
  readonly timeoutMs?: number;
}

/** Of one instance; the oldest are told. */
const MAX_TOLD_STREAMS = 1_000;
const TIMEOUT_MS = 1_500;
/** What is broadcast may be lost: it is asked once more when half of the time has passed. */
const ASKS_COUNT = 2;

/** Those of one user have types of their own: a former version of the gateway would overlook whose they are. */
type Question =
  | { readonly type: "list" }
  | { readonly type: "end"; readonly id: string }
  | { readonly type: "list-of"; readonly user: string }
  | { readonly type: "end-of"; readonly user: string; readonly id: string };

interface Answer {
  readonly type: "answer";
  readonly ask: string;
  readonly instance: string;
  readonly streams?: readonly StreamInfo[];
  readonly complete?: boolean;
  readonly ended?: boolean;
}

/** The running streams of all instances of a store: each is asked for its own when somebody wants to know. */
export class StreamDirectory {
  readonly #options: StreamDirectoryOptions;
  readonly #asked = new Map<string, (answer: Answer) => void>();
  readonly #unsubscribe: () => void;

  constructor(options: StreamDirectoryOptions) {
    this.#options = options;
    this.#unsubscribe = options.store.onBroadcast((text) => this.#receive(text));
  }

  /** Of this process. */
  own(): StreamList {
    const { instance, running } = this.#options;
    const all = running();
    const streams = all.slice(0, MAX_TOLD_STREAMS).map((stream) => infoOf(stream, instance));
    return { streams, complete: all.length <= MAX_TOLD_STREAMS };
  }

  endOwn(id: string): boolean {
    return this.#options.end(id);
  }

  async list(): Promise<StreamList> {
    const own = this.own();
    const { answers, complete } = await this.#ask({ type: "list" }, () => false);
    return {
      streams: [own, ...answers].flatMap(({ streams = [] }) => streams),
      complete: complete && own.complete && answers.every((answer) => answer.complete !== false),
    };
  }

  /** Ends a stream as its user could, wherever it runs. */
  async end(id: string): Promise<EndedStream> {
    if (this.endOwn(id)) return { ended: true, complete: true };
    const { answers, complete } = await this.#ask({ type: "end", id }, ({ ended }) => ended === true);
    return { ended: answers.some(({ ended }) => ended === true), complete };
  }

  /** Of one user, wherever they run. */
  async listOf(userId: string): Promise<StreamList> {
    const own = this.#ownOf(userId);
    const { streams: taken } = await this.#options.store.running(userId);
    // Whoever has no others causes nobody to be asked.
    if (taken <= own.streams.length) return own;
    const { answers, complete } = await this.#ask({ type: "list-of", user: userId }, () => false);
    return {
      streams: [own, ...answers].flatMap(({ streams = [] }) => streams),
      complete: complete && answers.every((answer) => answer.complete !== false),
    };
  }

  /** Ends a stream if it is this user's, wherever it runs. */
  async endOf(userId: string, id: string): Promise<EndedStream> {
    if (this.#endOwnOf(userId, id)) return { ended: true, complete: true };
    const { streams: taken } = await this.#options.store.running(userId);
    if (taken <= this.#ownOf(userId).streams.length) return { ended: false, complete: true };
    const { answers, complete } = await this.#ask({ type: "end-of", user: userId, id }, ({ ended }) => ended === true);
    return { ended: answers.some(({ ended }) => ended === true), complete };
  }

  close(): void {
    this.#unsubscribe();
  }

  #ownOf(userId: string): StreamList {
    const { instance, running } = this.#options;
    const streams = running()
      .filter((stream) => stream.userId === userId)
      .map((stream) => infoOf(stream, instance));
    return { streams: streams.slice(0, MAX_TOLD_STREAMS), complete: streams.length <= MAX_TOLD_STREAMS };
  }

  #endOwnOf(userId: string, id: string): boolean {
    return this.#ownOf(userId).streams.some((stream) => stream.id === id) && this.endOwn(id);
  }

  /** @param isEnough an answer that makes the others needless */
  async #ask(question: Question, isEnough: (answer: Answer) => boolean) {
    const { store, instance, log, timeoutMs = TIMEOUT_MS } = this.#options;
    const others = await this.#options.others();
    const missing = new Set(others?.map((other) => other.instance));
    const answers: Answer[] = [];
    if (missing.size === 0) return { answers, complete: others !== null };
    const ask = randomUUID();
    const done = Promise.withResolvers<void>();
    this.#asked.set(ask, (answer) => {
      if (!missing.delete(answer.instance)) return;
      answers.push(answer);
      if (missing.size === 0 || isEnough(answer)) done.resolve();
    });
    const send = async (): Promise<void> => store.broadcast(JSON.stringify({ ...question, ask, from: instance }));
    const sendInBackground = (): void => inBackground({ error: log.debug.bind(log) }, "asking instances", send());
    sendInBackground();
    const again = setInterval(sendInBackground, timeoutMs / ASKS_COUNT);
    const timer = setTimeout(done.resolve, timeoutMs);
    await done.promise;
    clearInterval(again);
    clearTimeout(timer);
    this.#asked.delete(ask);
    return { answers, complete: missing.size === 0 };
  }

  #receive(text: string): void {
    const { store, instance, log } = this.#options;
    const message = parse(text);
    if (message === null) return;
    const { type, ask, from } = message;
    if (type === "answer") {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of the same store's processes, whose own this is
      this.#asked.get(ask)?.(message as unknown as Answer);
      return;
    }
    if (from === instance) return;
    const answer = this.#answerTo(message);
    if (answer === null) return;
    const sent = async (): Promise<void> =>
      store.broadcast(JSON.stringify({ type: "answer", ask, instance, ...answer } satisfies Answer));
    inBackground({ error: log.debug.bind(log) }, "answering an instance", sent());
  }

  #answerTo({ type, id, user }: Message): Partial<Answer> | null {
    if (type === "list") return this.own();
    if (type === "list-of" && typeof user === "string") return this.#ownOf(user);
    if (type === "end-of" && typeof user === "string" && typeof id === "string")
      return { ended: this.#endOwnOf(user, id) };
    // Asked twice it is still the one that ended it: the stream may take a moment to go.
    return type === "end" && typeof id === "string" ? { ended: this.endOwn(id) } : null;
  }
}

interface Message {
  readonly type: string;
  readonly ask: string;
  readonly from?: unknown;
  readonly id?: unknown;
  readonly user?: unknown;
}

/** Another version of the gateway may say something else: what is not understood is passed over. */
function parse(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJson(value)) return null;
    const { type, ask } = value;
    return typeof type === "string" && typeof ask === "string" ? { ...value, type, ask } : null;
  } catch {
    return null;
  }
}

function infoOf({ requestId, userId, age, begun, ...stream }: RunningStream, instance: string): StreamInfo {
  const { id, model, upstream, events, bytes } = stream;
  return {
    id,
    request_id: requestId,
    instance,
    user: userId,
    model,
    upstream,
    age_ms: age,
    events,
    bytes,
    state: begun ? "streaming" : "waiting",
  };
}
