import { isDeepStrictEqual } from "node:util";
import { isJson, type Json } from "../../kit/index.ts";
import { type Addition, type Path, PLACEHOLDER } from "./formats.ts";

/** A setting that stays as it is, though another value was wanted. */
export interface Kept {
  readonly path: Path;
  readonly present: unknown;
  readonly wanted: unknown;
}

export interface Merge {
  readonly additions: readonly Addition[];
  readonly kept: readonly Kept[];
}

/**
 * What has to be added to settings so that they are the wanted ones, without changing any of them. Items of a list of maps
 * are told apart by their `name`. A placeholder counts as not being there.
 */
export function mergeSettings(present: Json, wanted: Json): Merge {
  const additions: Addition[] = [];
  const kept: Kept[] = [];
  const visit = (path: Path, have: unknown, want: unknown): void => {
    if (have === undefined || have === PLACEHOLDER || (have === null && typeof want === "object")) {
      additions.push({ path, value: want });
    } else if (isJson(have) && isJson(want)) {
      for (const [name, value] of Object.entries(want)) {
        visit([...path, name], Object.hasOwn(have, name) ? have[name] : undefined, value);
      }
    } else if (Array.isArray(have) && Array.isArray(want) && want.every(isNamed)) {
      let length = have.length;
      for (const item of want) {
        const index = have.findIndex((one) => isNamed(one) && one["name"] === item["name"]);
        visit([...path, index === -1 ? length++ : index], have[index], item);
      }
    } else if (!isDeepStrictEqual(have, want)) {
      kept.push({ path, present: have, wanted: want });
    }
  };
  visit([], present, wanted);
  return { additions, kept };
}

function isNamed(value: unknown): value is Json {
  return isJson(value) && typeof value["name"] === "string";
}

/** The merge without what holds the key. */
export function withoutKey({ additions, kept }: Merge, key: string): Merge {
  return { additions: additions.flatMap(({ path, value }) => prune(path, value, key)), kept };
}

function prune(path: Path, value: unknown, key: string): readonly Addition[] {
  if (value === key) return [];
  if (!isJson(value)) return [{ path, value }];
  return [{ path, value: pruned(value, key) }];
}

function pruned(value: Json, key: string): Json {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== key)
      .map(([name, inner]) => [name, isJson(inner) ? pruned(inner, key) : inner]),
  );
}

/** True if a value is in it, at whatever depth. */
export function contains(settings: unknown, value: string): boolean {
  if (typeof settings === "string") return settings.includes(value);
  if (typeof settings !== "object" || settings === null) return false;
  return Object.values(settings).some((inner) => contains(inner, value));
}
