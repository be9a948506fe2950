import { diagnose, type Diagnostic, didYouMean, type Place } from "../config/diagnostics.ts";
import type { LoadResult } from "../config/load.ts";
import { type AccountStore, inBackground, isStoreUnavailable, type Log, type Snapshot } from "../kit/index.ts";

type Loaded = Pick<LoadResult, "hash" | "diagnostics" | "sources"> & { readonly snapshot: Snapshot };

/** Lines of one load; the rest is counted, and `GET /admin/config` has all. */
const MAX_LOGGED_LINES = 20;

/** Says what is wrong with a configuration that serves all the same. Notes are suggestions: `gateway check` has them. */
export function logWarnings(log: Pick<Log, "warn">, found: readonly Diagnostic[]): void {
  const diagnostics = found.filter(({ severity }) => severity !== "note");
  for (const { file, line, column, message, severity, rule, hint } of diagnostics.slice(0, MAX_LOGGED_LINES)) {
    log.warn({ severity, rule }, `${file}:${line}:${column}: ${message}${hint === null ? "" : ` (${hint})`}`);
  }
  const rest = diagnostics.length - MAX_LOGGED_LINES;
  if (rest > 0) log.warn({}, `and ${rest} more warnings of the configuration: run gateway check`);
}

interface WarningsParts {
  readonly store: Pick<AccountStore, "findUsers">;
  readonly log: Pick<Log, "warn" | "error">;
}

/** The warnings of the configuration that serves: those of its load, and what only the store can tell. */
export class Warnings {
  readonly #parts: WarningsParts;
  #loaded: Loaded | null = null;
  #ofStore: readonly Diagnostic[] = [];

  constructor(parts: WarningsParts) {
    this.#parts = parts;
  }

  get list(): readonly Diagnostic[] {
    return [...(this.#loaded?.diagnostics ?? []), ...this.#ofStore];
  }

  /** Called with what serves from now on, and when the same was read again: users may have moved meanwhile. */
  take(loaded: Loaded): void {
    const before = this.#loaded;
    this.#loaded = loaded;
    if (before?.hash !== loaded.hash) this.#ofStore = [];
    else logWarnings(this.#parts.log, newIn(loaded.diagnostics, before.diagnostics));
    inBackground(this.#parts.log, "counting users without a plan", this.#look(loaded));
  }

  async #look(loaded: Loaded): Promise<void> {
    const found = await this.#count(loaded);
    if (found === null || this.#loaded !== loaded) return;
    const isNews = JSON.stringify(found) !== JSON.stringify(this.#ofStore);
    this.#ofStore = found;
    if (isNews) logWarnings(this.#parts.log, found);
  }

  /** null while the store is away, which is told elsewhere: the next reload counts again. */
  async #count(loaded: Loaded): Promise<readonly Diagnostic[] | null> {
    try {
      return await usersWithoutPlan(this.#parts.store, loaded);
    } catch (error) {
      if (isStoreUnavailable(error)) return null;
      throw error;
    }
  }
}

/** What a broken line of `.env` adds to a configuration that is otherwise the same. */
function newIn(found: readonly Diagnostic[], before: readonly Diagnostic[]): readonly Diagnostic[] {
  const known = new Set(before.map((one) => JSON.stringify(one)));
  return found.filter((one) => !known.has(JSON.stringify(one)));
}

const USERS_PER_PAGE = 500;

/** One finding for each plan that users are on and the configuration does not define. Users who are disabled do not count. */
export async function usersWithoutPlan(
  store: Pick<AccountStore, "findUsers">,
  { snapshot: { tiers, file }, sources }: Pick<Loaded, "snapshot" | "sources">,
): Promise<readonly Diagnostic[]> {
  const counts = new Map<string, number>();
  let after: string | undefined;
  do {
    const page = await store.findUsers({ disabled: false, limit: USERS_PER_PAGE, after });
    for (const { tier } of page.users) {
      if (!Object.hasOwn(tiers, tier)) counts.set(tier, (counts.get(tier) ?? 0) + 1);
    }
    after = page.next ?? undefined;
  } while (after !== undefined);
  const place = placeOfTiers(sources) ?? { file, line: 1, column: 1 };
  return [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([tier, count]) => {
      const many = count === 1 ? "1 user is" : `${count} users are`;
      const message = `${many} on the plan '${tier}', which is not defined: all their requests are refused`;
      const move = `move them: gateway users set USER --tier PLAN`;
      const near = didYouMean(tier, Object.keys(tiers));
      const hint = near === null ? `define the plan again, or ${move}` : `${near} define the plan again, or ${move}`;
      return diagnose(place, "/tiers", { rule: "users-without-plan", severity: "warning", message, hint });
    });
}

/** Where the plans are defined first. */
function placeOfTiers(sources: Loaded["sources"]): Place | null {
  for (const { path, kind, text } of sources) {
    const line = kind === "config" ? text.split("\n").findIndex((one) => /^["']?tiers["']?\s*:/.test(one)) : -1;
    if (line >= 0) return { file: path, line: line + 1, column: 1 };
  }
  return null;
}
