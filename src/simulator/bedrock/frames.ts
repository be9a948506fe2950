import { EventStreamCodec } from "@smithy/eventstream-codec";
import type { SimError } from "../error.ts";
import { bedrockType } from "../failure.ts";
import { MALFORMED } from "../reply.ts";

export const EVENT_STREAM = "application/vnd.amazon.eventstream";

const CHECKSUM = 4;

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
);

/** An event of a stream as bytes: its payload is the inner object, its name a header. */
export function eventFrame(name: string, payload: object): Uint8Array {
  return frame({ ":event-type": name, ":message-type": "event" }, JSON.stringify(payload));
}

/** An exception in a stream; without one, an event whose checksum is wrong. */
export function faultFrame(error: SimError | null): Uint8Array {
  if (error !== null) {
    const type = bedrockType(error.status);
    const name = type.charAt(0).toLowerCase() + type.slice(1);
    return frame({ ":exception-type": name, ":message-type": "exception" }, JSON.stringify({ message: error.message }));
  }
  const bytes = frame({ ":event-type": "contentBlockDelta", ":message-type": "event" }, MALFORMED);
  const at = bytes.length - CHECKSUM;
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  return bytes;
}

function frame(headers: Readonly<Record<string, string>>, payload: string): Uint8Array {
  const all = { ...headers, ":content-type": "application/json" };
  return codec.encode({
    headers: Object.fromEntries(Object.entries(all).map(([name, value]) => [name, { type: "string", value }])),
    body: Buffer.from(payload),
  });
}
