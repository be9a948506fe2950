import type { FigureEvent, FigureSeries } from "#schema";
import { effect, signal } from "@preact/signals";
import { admin, session } from "./client.ts";
import { keepNewest, type Second, secondOf } from "./figures.ts";

/** State of the live connection: `waiting` after it was lost, until the next attempt succeeds. */
export type LiveStatus = "connecting" | "live" | "waiting";

export const liveStatus = signal<LiveStatus>("connecting");
/** The seconds of the last quarter of an hour, the oldest first. */
export const seconds = signal<readonly Second[]>([]);
/** The last event: how everything was then. */
export const latest = signal<FigureEvent | null>(null);
/** Unix milliseconds; of the last event that came. */
export const lastEventAt = signal<number | null>(null);

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;
/** One comes each second: a connection on which none does is dead, whatever it says. */
const SILENCE_MS = 6_000;

/** Follows the figures for as long as somebody is signed in; to be called once, when the page starts. */
export function followFigures(): void {
  effect(() => {
    if (!session.value) return undefined;
    return follow();
  });
}

/** Loads the seconds before the page was opened, or while the connection was lost. */
function catchUp(signal: AbortSignal): void {
  admin
    .get<FigureSeries>("/admin/figures", { signal })
    .then(({ data }) => add(data.map(secondOf)))
    // Without it the charts begin now.
    .catch(() => undefined);
}

function add(more: readonly Second[]): void {
  if (more.length > 0) seconds.value = keepNewest([...seconds.peek(), ...more]);
}

function follow(): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let asked = new AbortController();
  const open = (): void => {
    source?.close();
    source = new EventSource("/admin/events");
    asked = new AbortController();
    catchUp(asked.signal);
    source.addEventListener("figures", ({ data }: MessageEvent<string>) => {
      failures = 0;
      liveStatus.value = "live";
      lastEventAt.value = Date.now();
      const event = JSON.parse(data) as FigureEvent;
      latest.value = event;
      add([secondOf(event)]);
      watch();
    });
    source.addEventListener("error", again);
    watch();
  };
  const watch = (): void => {
    clearTimeout(timer);
    timer = setTimeout(again, SILENCE_MS);
  };
  const again = (): void => {
    source?.close();
    asked.abort();
    failures += 1;
    liveStatus.value = "waiting";
    clearTimeout(timer);
    timer = setTimeout(open, Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS));
    // An event stream does not say why it was refused: a session that has ended is found so.
    admin.get("/admin/session").catch(() => undefined);
  };
  liveStatus.value = "connecting";
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
    asked.abort();
    seconds.value = [];
    latest.value = null;
    lastEventAt.value = null;
  };
}
