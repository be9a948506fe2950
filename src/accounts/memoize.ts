import type { Awaitable } from "../kit/index.ts";

/**
 * What `make` makes of the settings in force, made again once a reload has replaced them. Shared by all who ask
 * meanwhile; a failure is kept from nobody who asks later.
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
