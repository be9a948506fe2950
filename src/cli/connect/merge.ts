import { isDeepStrictEqual } from "node:util";
import { isJson, type Json } from "../../kit/index.ts";
import { type Addition, type Path, PLACEHOLDER } from "./formats.ts";

/** A setting that stays as it is, though another value was wanted. */
export interface Kept {
  readonly path: Path;
  readonly present: unknown;
  readonly wanted: unknown;
  /** The setting that is there in place of the wanted one. */
  readonly instead?: string;
}

export interface Merge {
  readonly additions: readonly Addition[];
  readonly kept: readonly Kept[];
}

/** Settings of one map that say the same in two ways: with both, a client sends two keys, or takes the one that is not meant. */
const ALTERNATIVES: readonly (readonly string[])[] = [
  ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"],
  ["experimental_bearer_token", "env_key"],
];

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
        const instead = ALTERNATIVES.find((names) => names.includes(name))?.find((one) => Object.hasOwn(have, one));
        if (instead === undefined || instead === name || Object.hasOwn(have, name))
          visit([...path, name], Object.hasOwn(have, name) ? have[name] : undefined, value);
        else kept.push({ path: [...path, name], present: have[instead], wanted: value, instead });
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

/** The merge without settings that hold the key, or name where it is. */
export function withoutKey({ additions, kept }: Merge, isKey: (value: unknown) => boolean): Merge {
  const left = additions.filter(({ value }) => isJson(value) || !isKey(value));
  return { additions: left.map(({ path, value }) => ({ path, value: pruned(value, isKey) })), kept };
}

function pruned(value: unknown, isKey: (value: unknown) => boolean): unknown {
  if (!isJson(value)) return value;
  const entries = Object.entries(value).filter(([, inner]) => isJson(inner) || !isKey(inner));
  return Object.fromEntries(entries.map(([name, inner]) => [name, pruned(inner, isKey)]));
}

/** True if a value is in it, at whatever depth. */
export function contains(settings: unknown, value: string): boolean {
  if (typeof settings === "string") return settings.includes(value);
  if (typeof settings !== "object" || settings === null) return false;
  return Object.values(settings).some((inner) => contains(inner, value));
}
