import { signal } from "@preact/signals";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
}

const SHOWN_MS = 6_000;
const MAX_COUNT = 4;

const toasts = signal<readonly Toast[]>([]);
const counter = signal(0);

/** Tells what was done, for a few seconds; what went wrong belongs beside what was tried. */
export function toast(text: string, { bad = false }: { readonly bad?: boolean } = {}): void {
  counter.value += 1;
  const id = counter.value;
  toasts.value = [...toasts.value, { id, text, bad }].slice(-MAX_COUNT);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** Belongs once into a page, from its start on: a live region that comes later is not read out. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, bad }) => (
        <div key={id} class={`toast ${bad ? "bad" : ""}`}>
          <span>{text}</span>
          <button type="button" class="button plain small" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}
