import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import {
  type AbortReason,
  type ByteReply,
  type EventReply,
  type HeldKey,
  MAX_KEPT_ANSWER_BYTES,
  type Outcome,
} from "../kit/index.ts";
import { WatchedSource } from "./answers.ts";
import type { ExchangeState } from "./exchange.ts";

/** Headers that belong to one response only, or are computed again for each. */
const NOT_KEPT = /^(?:x-ratelimit-.*|server-timing|x-gateway-queued-ms|deprecation|sunset)$/i;

export type StreamReply = Pick<EventReply, "type" | "source"> | Omit<ByteReply, "target">;

/** A complete answer as the client received it. */
type KeptAnswer = {
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
} & ({ readonly text: string } | { readonly base64: string });

/** Records the answer to the first request with a key, and stores it when the request is settled. */
export class AnswerRecord {
  readonly #key: HeldKey;
  readonly #secret: Buffer;
  /** Set once a complete answer exists; `answer` is null if it is too long. */
  #made: { readonly answer: KeptAnswer | null } | null = null;
  /** The bytes of a relayed body, such as audio; null if there is none, or it is too long. */
  #bytes: { readonly chunks: Uint8Array[]; size: number } | null = null;
  #about: Pick<KeptAnswer, "contentType" | "headers"> | null = null;

  constructor(key: HeldKey, secret: Buffer) {
    this.#key = key;
    this.#secret = secret;
  }

  /** Records a complete answer. */
  note(text: string, state: ExchangeState): void {
    const isLong = Buffer.byteLength(text) > MAX_KEPT_ANSWER_BYTES;
    const about = { contentType: state.format.contentType, headers: keptHeaders(state) };
    this.#made = { answer: isLong ? null : { ...about, text } };
  }

  /** Records a body while it is relayed. Streams of events are not kept. */
  watch<Streamed extends StreamReply>(reply: Streamed, state: ExchangeState): Streamed {
    if (reply.type === "events") return reply;
    this.#about = { contentType: reply.contentType, headers: keptHeaders(state) };
    this.#bytes = { chunks: [], size: 0 };
    return { ...reply, source: new WatchedSource(reply.source, this.#add) };
  }

  /** Called once, with the settlement. Returns undefined if there is nothing to keep: then the key becomes free. */
  keep(outcome: Outcome): Promise<void> | undefined {
    const { kind, finished } = outcome;
    const isWhole = kind === "served" || this.#made !== null || (finished && ABANDONED.has(kind));
    if (!isWhole || outcome.status !== 200) return undefined;
    const answer = this.#made === null ? this.#relayed() : this.#made.answer;
    return this.#key.keep({ outcome: kind, answer: answer === null ? null : sealed(this.#secret, answer) });
  }

  #relayed(): KeptAnswer | null {
    if (this.#bytes === null || this.#about === null) return null;
    return { ...this.#about, base64: Buffer.concat(this.#bytes.chunks).toString("base64") };
  }

  readonly #add = (chunk: Uint8Array): void => {
    if (this.#bytes === null) return;
    this.#bytes.size += chunk.length;
    if (this.#bytes.size > MAX_KEPT_ANSWER_BYTES) this.#bytes = null;
    else this.#bytes.chunks.push(chunk);
  };
}

/** Outcomes where the client did not wait for the end, but a complete answer may exist. */
const ABANDONED: ReadonlySet<Outcome["kind"]> = new Set<AbortReason>(["client_gone", "killed", "shutdown"]);

function keptHeaders(state: ExchangeState): Record<string, string> {
  return Object.fromEntries(Object.entries(state.headers()).filter(([name]) => !NOT_KEPT.test(name)));
}

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

function sealed(secret: Buffer, answer: KeptAnswer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, secret, nonce);
  const packed = cipher.update(zstdCompressSync(JSON.stringify(answer)));
  return Buffer.concat([nonce, packed, cipher.final(), cipher.getAuthTag()]).toString("base64");
}

/** Decrypts a kept answer. Returns null for one that another version has written. */
export function opened(secret: Buffer, text: string): KeptAnswer | null {
  const bytes = Buffer.from(text, "base64");
  const decipher = createDecipheriv(CIPHER, secret, bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const packed = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    const json = zstdDecompressSync(Buffer.concat([packed, decipher.final()])).toString();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `sealed` has written
    return JSON.parse(json) as KeptAnswer;
  } catch {
    return null;
  }
}
