import * as fc from "fast-check";
import { chat } from "../../src/dialects/chat/index.ts";
import type { StreamReader } from "../../src/dialects/dialect.ts";
import type { StreamEvent } from "../../src/kit/index.ts";

export interface Decoding {
  readonly events: readonly StreamEvent[];
  readonly fault: { readonly failure: string; readonly message: string } | null;
  readonly done: boolean;
  readonly complete: boolean;
}

/** What a decoder makes of a body that arrives in these pieces and then ends. */
export function decodeWith(decoder: StreamReader, pieces: readonly Uint8Array[]): Decoding {
  const events = pieces.flatMap((piece) => decoder.feed(piece));
  events.push(...decoder.finish());
  const { fault, done, complete } = decoder;
  // Copies: how an event was read is no part of what it says.
  return {
    events: events.map((event) => ({ ...event })),
    fault: fault && { failure: fault.failure, message: fault.message },
    done,
    complete,
  };
}

/** What OpenAI's makes of it. */
export const decode = (pieces: readonly Uint8Array[]): Decoding => decodeWith(chat.decoder(), pieces);

/** Random places at which to cut `bytes`: inside UTF-8 sequences, line ends and field names alike. */
export function cuts(bytes: Uint8Array): fc.Arbitrary<readonly number[]> {
  return fc
    .array(fc.nat(bytes.length), { minLength: 1, maxLength: 40 })
    .map((places) => places.toSorted((a, b) => a - b));
}

export function cutAt(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const ends = [...cuts, bytes.length];
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}
