import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { AttemptError } from "../../kit/index.ts";
import { contentCoding, type Head, protocolError, readFailure } from "./classify.ts";
import type { Reader, ReaderOwner } from "./reader.ts";

/** Bytes that are decompressed at a time: what a few bytes unpack to is counted, and stopped, in steps of this size. */
const PIECE = { chunkSize: 16 * 1024 };

/** What reads a content coding, chosen by the first bytes of the body. */
const CODINGS: Readonly<Record<string, (first: Buffer) => Transform>> = {
  gzip: () => createGunzip(PIECE),
  "x-gzip": () => createGunzip(PIECE),
  br: () => createBrotliDecompress(PIECE),
  // Meant to have zlib's header; many servers leave it out (RFC 9110, 8.4.1.2).
  deflate: ([first = 0]) => ((first & 0x0f) === 8 ? createInflate(PIECE) : createInflateRaw(PIECE)),
};

/** Whether `inPlainText` can read a body with these headers. */
export function canDecompress(headers: Head["headers"]): boolean {
  const coding = contentCoding(headers);
  return coding === "identity" || Object.hasOwn(CODINGS, coding);
}

/**
 * What reads a body as `choose` says, unpacked first where the upstream has compressed it without being asked. The
 * limits of the reader chosen hold for what is unpacked, and so does its pace.
 * @param choose null when nothing of the body is wanted; the owner that it was given has been told.
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

/** Stands between a try and the reader of its answer: unpacking takes turns of its own, also behind the body's end. */
class DecompressingReader<Result> implements Reader {
  readonly #owner: ReaderOwner<Result>;
  readonly #open: (first: Buffer) => Transform;
  #reader: Reader | null = null;
  #unpacker: Transform | null = null;
  /** The unpacker has as much as it takes. */
  #full = false;
  /** The reader has as much as it takes. */
  #held = false;
  /** The body has ended: the try hears nothing more, and the reader's owner is this. */
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
    const unpacking = new DecompressingReader(owner, open);
    unpacking.#reader = choose(unpacking.#inner());
    return unpacking.#reader && unpacking;
  }

  data(chunk: Buffer): void {
    if (this.#over) return;
    this.#unpacker ??= this.#start(chunk);
    this.#full = !this.#unpacker.write(chunk);
    if (this.#full) this.#owner.hold();
  }

  end(): void {
    if (this.#over) return;
    this.#ended = true;
    if (this.#unpacker) this.#unpacker.end();
    else this.#finish();
  }

  fail(error: AttemptError): void {
    if (this.#over) return;
    this.#stop();
    this.#reader?.fail(error);
  }

  #start(first: Buffer): Transform {
    const unpacker = this.#open(first);
    unpacker.on("data", (piece: Buffer) => this.#piece(piece));
    unpacker.on("drain", () => {
      this.#full = false;
      if (!this.#held) this.#owner.flow();
    });
    unpacker.on("end", () => this.#finish());
    unpacker.on("error", (error) =>
      this.#fail(protocolError("upstream sent a compressed answer that is broken", error)),
    );
    return unpacker;
  }

  #piece(piece: Buffer): void {
    if (this.#over) return;
    try {
      this.#reader?.data(piece);
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

  /** A try that has seen the body's end passes no failure on. */
  #fail(error: AttemptError): void {
    if (this.#over) return;
    if (this.#ended) this.fail(error);
    else this.#owner.fail(error);
  }

  #stop(): void {
    this.#over = true;
    this.#unpacker?.destroy();
  }

  /** What the reader has for its owner. */
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
        this.#unpacker?.pause();
        owner.hold();
      },
      flow: () => {
        this.#held = false;
        this.#unpacker?.resume();
        if (!this.#full) owner.flow();
      },
    };
  }
}
