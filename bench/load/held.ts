import { Caller } from "./caller.ts";
import type { Load } from "./drive.ts";

/** Longer than anybody looks; credits are held for all of them. */
const ENDLESS_EVENTS = 1_000_000;
const OPENED_TOGETHER = 50;
const PATIENCE_SECONDS = 60;

export interface HeldStreams {
  /** Lets all go at once. */
  close(): void;
}

/** Opens streams that do not end, and waits until each has had an event of content. @throws Error when one is refused. */
export async function holdStreams(port: number, key: string, count: number): Promise<HeldStreams> {
  const load: Load = { port, pid: 0, key, mode: "sse", connections: count, warmup: 0, seconds: 0 };
  const callers: Caller[] = [];
  while (callers.length < count) {
    callers.push(new Caller(load, callers.length, { length: ENDLESS_EVENTS, delays: null, onFree: null }));
    if (callers.length % OPENED_TOGETHER === 0) await sleep(5);
  }
  const isOpen = () => callers.every((caller) => caller.count > 0);
  const close = () => callers.forEach((caller) => caller.stop());
  for (let left = PATIENCE_SECONDS * 100; !isOpen(); left--) {
    const refused = callers.find((caller) => caller.sample !== "");
    if (left > 0 && refused === undefined) {
      await sleep(10);
      continue;
    }
    close();
    const open = callers.filter((caller) => caller.count > 0).length;
    throw new Error(`${open} of ${count} streams are open: ${refused?.sample ?? "the others have no event"}`);
  }
  return { close };
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
