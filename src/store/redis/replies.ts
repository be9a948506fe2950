import type { Refusal } from "../../kit/index.ts";
import type { Counts } from "../windows.ts";

/** A refusal or `ok`; `late`: executed when nobody waited any more; `unknown`: no such user. */
export type Verdict = Refusal | "ok" | "late" | "unknown";

export interface AdmitReply {
  readonly verdict: Verdict;
  /** The server's milliseconds. */
  readonly now: number;
  readonly counts: Counts;
  /** The reservation; "" unless it is admitted. */
  readonly packed: string;
  readonly stopToken: number;
}

/** Whether it changed something; `late` as of an admission. */
export type SettleReply = 0 | 1 | readonly [verdict: "late", now: number];

/** Fields of a reservation before the user's stop token (admit.lua). */
const FIELDS_BEFORE_STOP_TOKEN = 7;

const ZERO = "0".charCodeAt(0);

/** "<verdict> <now> <the six counts> <reservation>", as one text: a list of them takes the client longer to read. */
export function readAdmitReply(text: string): AdmitReply {
  const fields = new Fields(text);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by admit.lua
  const verdict = fields.word() as Verdict;
  const now = fields.number();
  const counts = {
    day: { window: fields.number(), used: fields.number() },
    hour: { window: fields.number(), used: fields.number() },
    minute: { window: fields.number(), used: fields.number() },
  };
  const packed = fields.rest();
  for (let index = 0; index < FIELDS_BEFORE_STOP_TOKEN; index++) fields.number();
  return { verdict, now, counts, packed, stopToken: fields.number() };
}

export function isLate(reply: SettleReply): reply is readonly ["late", number] {
  return typeof reply === "object";
}

/** What windows.lua answers: window and use of day, hour and minute. */
export function countsOf(numbers: readonly number[]): Counts {
  const [day = 0, d = 0, hour = 0, h = 0, minute = 0, m = 0] = numbers;
  return { day: { window: day, used: d }, hour: { window: hour, used: h }, minute: { window: minute, used: m } };
}

/** @param dead processes whose reservations are none any more, a blank before and after each. */
export function sumReservations(packed: readonly string[], dead: string) {
  let [requests, streams, held] = [0, 0, 0n];
  for (const reservation of packed) {
    const [, stream, hold = "0", , , , , , instance] = reservation.split(" ");
    if (dead.includes(` ${instance} `)) continue;
    requests++;
    streams += Number(stream);
    held += BigInt(hold);
  }
  return { requests, streams, held };
}

/** Fields with a blank after each, read one after the other: every admission is answered with them. */
class Fields {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  word(): string {
    const end = this.#text.indexOf(" ", this.#at);
    const word = this.#text.slice(this.#at, end < 0 ? undefined : end);
    this.#at += word.length + 1;
    return word;
  }

  /** A whole one, not negative; 0 behind the end. */
  number(): number {
    let value = 0;
    for (; this.#at < this.#text.length; this.#at++) {
      const digit = this.#text.charCodeAt(this.#at) - ZERO;
      if (digit < 0) break;
      value = 10 * value + digit;
    }
    this.#at++;
    return value;
  }

  rest(): string {
    return this.#text.slice(this.#at);
  }
}
