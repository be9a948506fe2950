import type { Command, Redis } from "ioredis";

type ReplyValue = Buffer | number | null | readonly ReplyValue[];

const NO_ARGUMENTS: readonly string[] = [];

/**
 * A command on its way to one server, with all that ioredis asks of one in its queue. Its own encode each argument by
 * itself and make three promises: more than half of what an admission costs this process.
 */
export abstract class SentCommand {
  /** As the server reads it: `encodeCommand`. */
  readonly text: string;
  readonly name = "evalsha";
  readonly args = NO_ARGUMENTS;
  /** Not shown to tracing. */
  readonly isTraced = true;
  state: "waits" | "withdrawn" | "sent" = "waits";
  /** Of the last one of a write. */
  onEnd: (() => void) | null = null;

  constructor(text: string) {
    this.text = text;
  }

  /** @param reply strings, numbers, null and lists of them. */
  abstract onReply(reply: unknown): void;
  abstract onError(error: unknown): void;

  resolve(reply: ReplyValue): void {
    this.onReply(textsOf(reply));
    this.onEnd?.();
  }

  reject(error: unknown): void {
    this.onError(error);
    this.onEnd?.();
  }

  toWritable(): string {
    return this.text;
  }

  setReplyContext(): void {}
}

/**
 * Sends what is asked of one server, in its order: what waits in one turn of the event loop is one write, and the next one
 * follows when that has been answered, so that a silent server is not sent all that many ask.
 */
export class Pipeline {
  readonly #client: Redis;
  #next: SentCommand[] = [];
  #isUnderWay = false;
  #isScheduled = false;

  constructor(client: Redis) {
    this.#client = client;
  }

  send(command: SentCommand): void {
    this.#next.push(command);
    this.#schedule();
  }

  /** @returns whether it was not sent yet: then it never will be. */
  withdraw(command: SentCommand): boolean {
    if (command.state !== "waits") return false;
    command.state = "withdrawn";
    return true;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isUnderWay || this.#next.length === 0) return;
    this.#isScheduled = true;
    setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    const commands = this.#next.filter(({ state }) => state === "waits");
    this.#next = [];
    const last = commands.at(-1);
    if (!last) return;
    this.#isUnderWay = true;
    last.onEnd = this.#onEnd;
    let text = "";
    const destination = { redis: { stream: this.#client.stream } };
    const collector = {
      isPipeline: true,
      destination,
      write: (command: string | Buffer) => (text += String(command)),
    } as const;
    for (const command of commands) {
      command.state = "sent";
      // What cannot be sent now the client rejects, and does not write.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a class with private members; what is called of it is here
      this.#client.sendCommand(command as unknown as Command, collector);
    }
    if (text !== "") this.#client.stream.write(text);
  };

  readonly #onEnd = (): void => {
    this.#isUnderWay = false;
    this.#schedule();
  };
}

function textsOf(reply: ReplyValue): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString();
  return Array.isArray(reply) ? reply.map(textsOf) : reply;
}

export type Argument = string | number | EncodedWords;

/** Words of a command that are sent often, encoded once. */
export class EncodedWords {
  readonly words: readonly (string | number)[];
  /** As the server reads them. */
  readonly text: string;

  constructor(words: readonly (string | number)[]) {
    this.words = words;
    this.text = encodeWords(words);
  }
}

/** A command as the server reads it; its words in two parts. */
export function encodeCommand(head: readonly Argument[], args: readonly Argument[]): string {
  return `*${countWords(head) + countWords(args)}\r\n${encodeWords(head)}${encodeWords(args)}`;
}

/** The words one by one, as ioredis takes them. */
export function plainWords(words: readonly Argument[]): (string | number)[] {
  return words.flatMap((word) => (word instanceof EncodedWords ? word.words : [word]));
}

function countWords(words: readonly Argument[]): number {
  let count = 0;
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    count += typeof word === "object" ? word.words.length : 1;
  }
  return count;
}

/** "$<length>" before a word, for the lengths that most have: a text of fewer parts takes less to be made and sent. */
const PREFIXES = Array.from({ length: 1_024 }, (_, length) => `$${length}\r\n`);

function encodeWords(words: readonly Argument[]): string {
  let text = "";
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (typeof word === "object") text += word.text;
    else {
      const argument = typeof word === "string" ? word : String(word);
      const length = Buffer.byteLength(argument);
      text += `${PREFIXES[length] ?? `$${length}\r\n`}${argument}\r\n`;
    }
  }
  return text;
}
