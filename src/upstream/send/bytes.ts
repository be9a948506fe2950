import type { AttemptError, Call, Log } from "../../kit/index.ts";
import { protocol } from "./classify.ts";
import { type Answer, joined, type Reader, type ReaderOwner } from "./reader.ts";
import { Relay } from "./relay.ts";

/** A body relayed as it is; holds no more than one read for a slow sink. */
export class ByteStream implements Reader {
  readonly #relay: Relay<Uint8Array>;

  /** @param contentType for the client. */
  constructor(owner: ReaderOwner<Answer>, contentType: string, { units }: Call, log: Log) {
    const usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0, ...units };
    this.#relay = new Relay<Uint8Array>({
      owner,
      log,
      maximumHeld: 0,
      join: joined,
      answer: (source) => ({ type: "bytes", contentType, source, usage }),
    });
  }

  data(chunk: Buffer): void {
    this.#relay.push(chunk, chunk.length);
  }

  end(): void {
    if (this.#relay.begun) this.#relay.complete();
    else this.fail(protocol("upstream sent an empty body"));
  }

  fail(error: AttemptError): void {
    this.#relay.fail(error);
  }
}
