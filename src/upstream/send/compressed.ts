import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { AttemptError } from "../../kit/index.ts";
import { contentCoding, type Head, protocolError, readFailure } from "./classify.ts";
import type { Reader, ReaderOwner } from "./relay.ts";

const CHUNK_BYTES = 16 * 1024;
/** The readers' limits are checked after each chunk: a few bytes that expand to gigabytes are stopped early. */
const ZLIB_OPTIONS = { chunkSize: CHUNK_BYTES };

/** Decompressors by content coding; the body's first bytes are given for those that need to tell variants apart. */
const CODINGS: Readonly<Record<string, (first: Buffer) => Transform>> = {
  gzip: () => createGunzip(ZLIB_OPTIONS),
  "x-gzip": () => createGunzip(ZLIB_OPTIONS),
  br: () => createBrotliDecompress(ZLIB_OPTIONS),
  // Should have zlib's header; many servers leave it out.
  deflate: ([first = 0]) => ((first & 0x0f) === 8 ? createInflate(ZLIB_OPTIONS) : createInflateRaw(ZLIB_OPTIONS)),
};

/** Whether `inPlainText` can read a body with these headers. */
export function canDecompress(headers: Head["headers"]): boolean {
  const coding = contentCoding(headers);
  return coding === "identity" || Object.hasOwn(CODINGS, coding);
}

/**
 * The reader that `choose` returns, behind a decompressor where the upstream has compressed the body without being
 * asked. The limits and the back pressure of that reader apply to the decompressed bytes.
 * @param choose returns null when the body is not wanted and the request is rejected already.
 */
export function decompressed<Result>(
  headers: Head["headers"],
  owner: ReaderOwner<Result>,
  choose: (owner: ReaderOwner<Result>) => Reader | null,
): Reader | null {
  const coding = contentCoding(headers);
  if (coding === "identity") return choose(owner);
  if (Object.hasOwn(CODINGS, coding)) return DecompressingReader.of(owner, CODINGS[coding]!, choose);
  owner.fail(protocolError("upstream compressed its answer in a way that nobody asked for"));
  return null;
}

/** Between a request and the reader of its answer. Decompression is asynchronous and goes on after the body's end. */
class DecompressingReader<Result> implements Reader {
  readonly #owner: ReaderOwner<Result>;
  readonly #open: (first: Buffer) => Transform;
  #reader: Reader | null = null;
  #decompressor: Transform | null = null;
  /** The decompressor's buffer is full. */
  #full = false;
  /** The reader asked to stop. */
  #held = false;
  /** The body has ended: failures from here on go to the reader directly, the request passes none on. */
  #ended = false;
  #over = false;

  private constructor(owner: ReaderOwner<Result>, open: (first: Buffer) => Transform) {
    this.#owner = owner;
    this.#open = open;
  }

  static of<Result>(
    owner: ReaderOwner<Result>,
    open: (first: Buffer) => Transform,
    choose: (owner: ReaderOwner<Result>) => Reader | null,
  ): Reader | null {
    const reader = new DecompressingReader(owner, open);
    reader.#reader = choose(reader.#inner());
    return reader.#reader && reader;
  }

  data(chunk: Buffer): void {
    if (this.#over) return;
    this.#decompressor ??= this.#start(chunk);
    this.#full = !this.#decompressor.write(chunk);
    if (this.#full) this.#owner.hold();
  }

  end(): void {
    if (this.#over) return;
    this.#ended = true;
    if (this.#decompressor) this.#decompressor.end();
    else this.#finish();
  }

  fail(error: AttemptError): void {
    if (this.#over) return;
    this.#stop();
    this.#reader?.fail(error);
  }

  #start(first: Buffer): Transform {
    const decompressor = this.#open(first);
    decompressor.on("data", (chunk: Buffer) => this.#decoded(chunk));
    decompressor.on("drain", () => {
      this.#full = false;
      if (!this.#held) this.#owner.flow();
    });
    decompressor.on("end", () => this.#finish());
    decompressor.on("error", (error) =>
      this.#fail(protocolError("upstream sent a compressed answer that is broken", error)),
    );
    return decompressor;
  }

  #decoded(chunk: Buffer): void {
    if (this.#over) return;
    try {
      this.#reader?.data(chunk);
    } catch (error) {
      this.#fail(readFailure(error));
    }
  }

  #finish(): void {
    if (this.#over) return;
    this.#stop();
    try {
      this.#reader?.end();
    } catch (error) {
      this.#reader?.fail(readFailure(error));
    }
  }

  /** A request that has seen the body's end passes no failure on. */
  #fail(error: AttemptError): void {
    if (this.#over) return;
    if (this.#ended) this.fail(error);
    else this.#owner.fail(error);
  }

  #stop(): void {
    this.#over = true;
    this.#decompressor?.destroy();
  }

  /** The owner as the reader sees it. */
  #inner(): ReaderOwner<Result> {
    const owner = this.#owner;
    return {
      resolve: (result) => owner.resolve(result),
      reject: (error) => owner.reject(error),
      begin: () => owner.begin(),
      cut: (error) => owner.cut(error),
      fail: (error) => this.#fail(error),
      drain: () => {
        this.#stop();
        owner.drain();
      },
      cancel: () => {
        this.#stop();
        owner.cancel();
      },
      hold: () => {
        this.#held = true;
        this.#decompressor?.pause();
        owner.hold();
      },
      flow: () => {
        this.#held = false;
        this.#decompressor?.resume();
        if (!this.#full) owner.flow();
      },
    };
  }
}
