import { randomFillSync } from "node:crypto";

/** Asking the system for the bytes of one id costs more than all else about it. */
const POOL_BYTES = 16 * 1024;
const UUID_BYTES = 16;
const DIGITS = Buffer.from("0123456789abcdef", "latin1");

/** Random ids, for which the system is asked a thousand at a time. */
class RandomIds {
  readonly #pool = Buffer.allocUnsafeSlow(POOL_BYTES);
  readonly #text = Buffer.from("00000000-0000-0000-0000-000000000000", "latin1");
  #next = POOL_BYTES;

  hex(bytes: number): string {
    const from = this.#take(bytes);
    // Nothing but zeros is no id in a trace.
    this.#pool[from] ||= 1;
    return this.#pool.toString("hex", from, from + bytes);
  }

  uuid7(at: number): string {
    const from = this.#take(UUID_BYTES);
    const pool = this.#pool;
    pool.writeUIntBE(at, from, 6);
    pool[from + 6] = 0x70 | (pool[from + 6]! & 0x0f);
    pool[from + 8] = 0x80 | (pool[from + 8]! & 0x3f);
    const text = this.#text;
    let to = 0;
    for (let index = 0; index < UUID_BYTES; index += 1) {
      if (index === 4 || index === 6 || index === 8 || index === 10) to += 1;
      const byte = pool[from + index]!;
      text[to] = DIGITS[byte >> 4]!;
      text[to + 1] = DIGITS[byte & 0x0f]!;
      to += 2;
    }
    return text.toString("latin1");
  }

  #take(bytes: number): number {
    if (this.#next + bytes > POOL_BYTES) {
      randomFillSync(this.#pool);
      this.#next = 0;
    }
    const from = this.#next;
    this.#next += bytes;
    return from;
  }
}

const ids = new RandomIds();

/** So many random bytes as hexadecimal digits, never all 0. */
export function randomHex(bytes: number): string {
  return ids.hex(bytes);
}

/** A UUID of version 7: those of one time sort beside each other. @param at Unix milliseconds */
export function timedUuid(at: number): string {
  return ids.uuid7(at);
}
