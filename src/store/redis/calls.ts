import { Cluster, type Redis } from "ioredis";
import { storeUnavailable } from "../../kit/index.ts";
import { type Client, type PendingAnswer, PendingAnswers, replyCode, storeError, Unanswered } from "./client.ts";
import { type Argument, encodeCommand, Pipeline, plainWords, SentCommand } from "./pipeline.ts";

export interface Question {
  /** The command and what does not change: of a script also its SHA1 and its keys, with their number. */
  readonly head: readonly Argument[];
  readonly args: readonly Argument[];
  /**
   * Arguments with which it is asked once more when there is no answer in time and the connection stands: a server that
   * is slow is not away.
   */
  readonly again?: (() => readonly Argument[]) | undefined;
  /** Of a script: for a server that does not know it by its SHA1. */
  readonly lua?: string;
  /** Left out: the one that has the keys. */
  readonly server?: Redis;
}

/** Calls that may wait for the server at once. */
const MAX_PENDING_CALLS = 10_000;

/** Milliseconds that closing gives the calls that have been taken. */
const CLOSE_TIMEOUT_MS = 250;

/** One who waits. */
interface Call {
  readonly question: Question;
  /** The number of the connection it was asked on. */
  readonly connection: number | null;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** What has had no answer was written to the server, and may be executed. */
  isSent: boolean;
  /** Nobody waits any more. */
  isOver: boolean;
}

/** What has been asked of a server or Cluster, and how long it is waited for. */
export class Calls {
  readonly #client: Client;
  readonly #pipeline: Pipeline | null;
  readonly #timeout: number;
  readonly #answers: PendingAnswers;
  /** Calls whose callers still wait. */
  #waiting = 0;
  #closing: (() => void) | null = null;
  /** Commands sent that may still be answered, though nobody may wait for them any more. */
  #pending = 0;
  /** Of connections made so far. */
  #made = 0;
  /** The number of the last one that was dropped as silent. */
  #dropped = 0;
  /** As `PendingAnswers.attended` counts: when anything was last answered, if only to say no. */
  #answeredAt = 0;
  #readyAt = 0;

  /** @param timeout milliseconds. */
  constructor(client: Client, timeout: number) {
    this.#client = client;
    this.#pipeline = client instanceof Cluster ? null : new Pipeline(client);
    this.#timeout = timeout;
    this.#answers = new PendingAnswers(timeout);
  }

  /** Commands that wait for the server. */
  get pending(): number {
    return this.#pending;
  }

  ask(question: Question): Promise<unknown> {
    return new Promise((resolve, reject) => this.#begin(question, resolve, reject));
  }

  /** A connection has been made. */
  onReady(): void {
    this.#made++;
    this.#readyAt = this.#answers.attended;
  }

  /** Takes no more; those that were taken before are answered first. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#closing = resolve;
      timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
      if (this.#waiting === 0) resolve();
    });
    clearTimeout(timer);
    this.#answers.close();
  }

  #begin(question: Question, resolve: Call["resolve"], reject: Call["reject"]): void {
    if (this.#closing) return reject(storeUnavailable(new Error("redis: the store has been closed")));
    if (this.#pending >= MAX_PENDING_CALLS)
      return reject(storeUnavailable(new Error("redis: too many calls wait for the server")));
    this.#waiting++;
    const call = { question, connection: this.#connected, resolve, reject, isSent: false, isOver: false };
    this.#send(call, question.args, false);
  }

  #send(call: Call, args: readonly Argument[], isAgain: boolean): void {
    this.#pending++;
    const { head, server } = call.question;
    const pipeline = server ? null : this.#pipeline;
    const attempt = new Attempt(pipeline ? encodeCommand(head, args) : "", call, isAgain, this.#outcome);
    this.#answers.begin(attempt);
    if (pipeline) return pipeline.send(attempt);
    const [name, ...words] = plainWords([...head, ...args]);
    (server ?? this.#client).call(String(name), words).then(
      (reply) => attempt.onReply(reply),
      (error: unknown) => attempt.onError(error),
    );
  }

  readonly #outcome: Outcome = {
    answered: (attempt, reply) => {
      this.#left(attempt, true);
      attempt.call.resolve(reply);
      this.#end(attempt.call);
    },

    failed: (attempt, error) => {
      const { call } = attempt;
      const code = replyCode(error);
      this.#left(attempt, code !== null);
      if (!call.isOver) {
        const { head, args, again, lua } = call.question;
        if (code === "NOSCRIPT" && lua !== undefined) {
          const [, ...keys] = head;
          // That was an answer: the next question has its own time, or a slow server would be away after each restart.
          this.#begin({ head: ["EVAL", lua, ...keys], args: again?.() ?? args, again }, call.resolve, call.reject);
        } else call.reject(storeError(error));
      }
      this.#end(call);
    },

    silent: (attempt) => {
      const { call, isAgain } = attempt;
      const { again } = call.question;
      if (this.#pipeline?.withdraw(attempt)) this.#pending--;
      else call.isSent = true;
      const stands = call.connection !== null && call.connection === this.#connected;
      if (again && !isAgain && stands) return this.#send(call, again(), true);
      const message = `redis: no answer within ${this.#timeout} ms`;
      call.reject(storeUnavailable(call.isSent ? new Unanswered(message, stands) : new Error(message)));
      this.#end(call);
      this.#dropSilent();
    },
  };

  #end(call: Call): void {
    if (call.isOver) return;
    call.isOver = true;
    this.#waiting--;
    if (this.#closing && this.#waiting === 0) this.#closing();
  }

  /** Nothing is to be expected any more: answered, if too late for who waited, or its connection is lost. */
  #left(attempt: Attempt, answered: boolean): void {
    this.#pending--;
    this.#answers.end(attempt);
    if (answered) this.#answeredAt = this.#answers.attended;
  }

  get #connected(): number | null {
    return this.#client.status === "ready" ? this.#made : null;
  }

  /** A connection that answered nothing for two timeouts is made afresh: its other end may be gone. */
  #dropSilent(): void {
    if (this.#client instanceof Cluster || this.#connected === null || this.#dropped === this.#made) return;
    if (this.#answers.attended - Math.max(this.#answeredAt, this.#readyAt) < 2 * this.#timeout) return;
    this.#dropped = this.#made;
    this.#client.disconnect(true);
  }
}

interface Outcome {
  answered(attempt: Attempt, reply: unknown): void;
  failed(attempt: Attempt, error: unknown): void;
  /** There was no answer in time; one may still come. */
  silent(attempt: Attempt): void;
}

/** One command for one call. */
class Attempt extends SentCommand implements PendingAnswer {
  since = 0;
  newer: PendingAnswer | null = null;
  older: PendingAnswer | null = null;
  readonly call: Call;
  readonly isAgain: boolean;
  readonly #outcome: Outcome;

  constructor(text: string, call: Call, isAgain: boolean, outcome: Outcome) {
    super(text);
    this.call = call;
    this.isAgain = isAgain;
    this.#outcome = outcome;
  }

  override onReply(reply: unknown): void {
    this.#outcome.answered(this, reply);
  }

  override onError(error: unknown): void {
    this.#outcome.failed(this, error);
  }

  giveUp(): void {
    this.#outcome.silent(this);
  }
}
