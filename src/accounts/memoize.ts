import type { Awaitable } from "../kit/index.ts";

/**
 * Memoizes `make` by the settings in force; it runs again after a reload has replaced them. Concurrent callers share
 * one run; a failure is not cached.
 */
export function memoizeBySettings<Settings, Made>(
  settings: () => Settings,
  make: (settings: Settings) => Promise<Made>,
): () => Awaitable<Made> {
  let made: { readonly from: Settings; readonly value: Made } | null = null;
  let making: { readonly from: Settings; readonly value: Promise<Made> } | null = null;

  async function remake(from: Settings): Promise<Made> {
    try {
      const value = await make(from);
      made = { from, value };
      return value;
    } finally {
      if (making?.from === from) making = null;
    }
  }

  return () => {
    const from = settings();
    if (made?.from === from) return made.value;
    if (making?.from !== from) making = { from, value: remake(from) };
    return making.value;
  };
}
