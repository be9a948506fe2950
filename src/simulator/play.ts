import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { LedgerEntry } from "./ledger.ts";
import { note, type Part, type Reply } from "./reply.ts";
import type { Script } from "./script.ts";

/** A RST overtakes what the kernel still holds: the events before it need this long to arrive. */
const RESET_DELAY_MS = 10;
const MISSING_BYTES = 16;

/** A part as bytes; `part` is absent where the bytes complete none. */
interface Chunk {
  readonly bytes: Uint8Array;
  readonly part?: Part;
}

/** Sends a reply through the script's faults of transport. Resolves when it is over, also because the client left. */
export async function play(response: ServerResponse, reply: Reply, script: Script, entry: LedgerEntry): Promise<void> {
  if (response.destroyed) return;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    await new Player(response, script, entry, gone.signal).send(reply);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

class Player {
  readonly #response: ServerResponse;
  readonly #script: Script;
  readonly #entry: LedgerEntry;
  readonly #gone: AbortSignal;

  constructor(response: ServerResponse, script: Script, entry: LedgerEntry, gone: AbortSignal) {
    this.#response = response;
    this.#script = script;
    this.#entry = entry;
    this.#gone = gone;
  }

  async send(reply: Reply): Promise<void> {
    const script = this.#script;
    await this.#wait(script.first_byte);
    if (script.reset_after === 0) return this.#reset();
    if (script.close_after === 0) return this.#fin();
    const chunks = this.#chunks(reply);
    this.#head(reply, chunks);
    await this.#wait(script.first_event);
    let at = 0;
    for (const chunk of chunks) {
      if (await this.#cut(at, reply.type !== "answer")) return;
      if (at > 0) await this.#wait(script.chunk_delay);
      await this.#write(chunk);
      at++;
    }
    if (script.wrong_length) return this.#fin();
    this.#entry.ending = "end";
    this.#response.end();
  }

  /** A stream's chunks come as they are needed; a body with a length is known whole. */
  #chunks(reply: Reply): Iterable<Chunk> {
    const encode = (part: Part): Chunk => {
      const bytes = typeof part.data === "string" ? Buffer.from(part.data) : part.data;
      return { bytes: this.#script.gzip ? gzipSync(bytes) : bytes, part };
    };
    if (reply.type !== "answer")
      return this.#script.wrong_length ? Array.from(reply.parts, encode) : Iterator.from(reply.parts).map(encode);
    const { stall_after: stall, reset_after: reset, close_after: close } = this.#script;
    const whole = Array.from(reply.parts, encode);
    return stall || reset || close ? whole.flatMap(halves) : whole;
  }

  #head(reply: Reply, chunks: Iterable<Chunk>): void {
    const headers: Record<string, string | number> = { ...reply.headers };
    if (this.#script.gzip) headers["content-encoding"] = "gzip";
    if (Array.isArray(chunks)) headers["content-length"] = this.#length(chunks);
    this.#entry.status = reply.status;
    this.#response.writeHead(reply.status, headers);
    this.#response.flushHeaders();
  }

  #length(chunks: readonly Chunk[]): number {
    const real = chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0);
    return this.#script.wrong_length ? real + MISSING_BYTES : real;
  }

  /** Whether a fault ended the reply at this position. In a whole body any later position is its half. */
  async #cut(at: number, stream: boolean): Promise<boolean> {
    const here = (position: number | undefined) => position === at || (!stream && at === 1 && (position ?? 0) > 1);
    if (here(this.#script.stall_after)) await once(this.#response, "close");
    else if (here(this.#script.reset_after)) await this.#reset();
    else if (here(this.#script.close_after)) await this.#fin();
    else return false;
    return true;
  }

  async #write({ bytes, part }: Chunk): Promise<void> {
    const { bytes: size, every } = this.#script.drip ?? { bytes: bytes.length, every: 0 };
    for (let at = 0; at < bytes.length; at += size) {
      if (at > 0) await this.#wait(every);
      const slice = bytes.subarray(at, at + size);
      const room = this.#response.write(slice);
      this.#entry.bytes += slice.length;
      if (!room) await once(this.#response, "drain", { signal: this.#gone });
    }
    if (part) note(this.#entry, part);
  }

  async #wait(milliseconds: number | undefined): Promise<void> {
    if (milliseconds) await sleep(milliseconds, undefined, { signal: this.#gone });
  }

  async #reset(): Promise<void> {
    if (this.#response.headersSent) await this.#wait(RESET_DELAY_MS);
    this.#entry.ending = "reset";
    this.#response.socket?.resetAndDestroy();
  }

  async #fin(): Promise<void> {
    // Node gathers the writes of one turn: a FIN in the same turn would overtake them.
    if (this.#response.headersSent) await nextTurn();
    this.#entry.ending = "fin";
    this.#response.socket?.end();
  }
}

function halves({ bytes, part }: Chunk): readonly Chunk[] {
  const middle = Math.ceil(bytes.length / 2);
  return [{ bytes: bytes.subarray(0, middle) }, { bytes: bytes.subarray(middle), part }];
}
